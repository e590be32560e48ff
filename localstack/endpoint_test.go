package main

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"testing"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/localstack/cloud"
)

// TestRehearsalByEndpoint is the main job against a queue, a table and a Redis that
// run elsewhere, as "make localstack-test" does it: the town starts none of its
// own. What stands in for LocalStack is the embedded cloud, which keeps the whole
// contract. It runs alone, because what is given is given to the whole program.
func TestRehearsalByEndpoint(t *testing.T) {
	other, err := cloud.Start(t.Context(), cloud.Options{Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := other.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	aws, redis := givenAWS, givenRedis
	t.Cleanup(func() { givenAWS, givenRedis = aws, redis })
	givenAWS, givenRedis = other.AWSURL, other.RedisAddr()
	out := &logWriter{t: t}
	if err := rehearse(t.Context(), []string{"--roster", "200", "--rate", "50", "--hold", "6s"}, out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "audit: every invariant") {
		t.Error("the verdict has no audit")
	}
	c := goredis.NewClient(&goredis.Options{Addr: other.RedisAddr()})
	defer c.Close()
	if n, err := c.DBSize(t.Context()).Result(); err != nil || n == 0 {
		t.Errorf("the Redis that was given has %d keys, %v: the town took another one", n, err)
	}

	givenAWS = ""
	if got := elsewhere().RedisAddr; got != "" {
		t.Errorf("without a cloud beside it the Redis %s is used: it may be one that sells", got)
	}
}
