package redis

import (
	"context"
	"crypto/sha1"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"

	goredis "github.com/redis/go-redis/v9"
)

//go:embed lua/*.lua
var sources embed.FS

// script is one Lua file; its contract is at its top.
type script struct {
	name, source, sha string
}

func load(name string) *script {
	source, err := fs.ReadFile(sources, "lua/"+name+".lua")
	if err != nil {
		panic(fmt.Sprintf("redis: script %s is not embedded: %v", name, err)) // a slip of the build, not of a run
	}
	sum := sha1.Sum(source)
	return &script{name: name, source: string(source), sha: hex.EncodeToString(sum[:])}
}

var (
	admitScript          = load("admit")
	admitManyScript      = load("admit_many")
	undoScript           = load("undo")
	undoManyScript       = load("undo_many")
	settleScript         = load("settle")
	settleManyScript     = load("settle_many")
	attachScript         = load("attach")
	attachManyScript     = load("attach_many")
	resumeScript         = load("resume")
	reseedScript         = load("reseed")
	capsScript           = load("caps")
	statusScript         = load("status")
	controlScript        = load("control")
	markScript           = load("mark")
	installBeginScript   = load("install_begin")
	installLevelScript   = load("install_level")
	installFinishScript  = load("install_finish")
	executeAcquireScript = load("execute_acquire")
	executeEndScript     = load("execute_end")
	tokenGetScript       = load("token_get")
	tokenLeaseScript     = load("token_lease")
	tokenStoreScript     = load("token_store")
)

// doer is the part of a pinned connection that scripts need.
type doer interface {
	Do(ctx context.Context, args ...any) *goredis.Cmd
}

// run executes the script by its hash, once more by its source where the server
// does not know it: the cache is empty after a restart, a failover or SCRIPT
// FLUSH (protocol.md 1.3). It is bounded: EVAL can't answer NOSCRIPT.
func (sc *script) run(ctx context.Context, c doer, keys []string, args ...any) (any, error) {
	cmd := make([]any, 0, 3+len(keys)+len(args))
	cmd = append(cmd, "evalsha", sc.sha, len(keys))
	for _, k := range keys {
		cmd = append(cmd, k)
	}
	cmd = append(cmd, args...)
	v, err := c.Do(ctx, cmd...).Result()
	if hasPrefix(err, "NOSCRIPT") {
		cmd[0], cmd[1] = "eval", sc.source
		v, err = c.Do(ctx, cmd...).Result()
	}
	if err != nil {
		return nil, fmt.Errorf("redis: %s: %w", sc.name, err)
	}
	return v, nil
}
