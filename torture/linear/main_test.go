package linear

import (
	"context"
	"testing"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/localstack/leak"
)

func TestMain(m *testing.M) {
	goredis.SetLogger(mute{}) // it reports every connection that a dead server refuses
	leak.Main(m)
}

type mute struct{}

func (mute) Printf(context.Context, string, ...any) {}
