package redis

import (
	"context"
	"crypto/sha1"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"strings"

	goredis "github.com/redis/go-redis/v9"
)

//go:embed lua/*.lua
var sources embed.FS

// script is one Lua file; its contract is at its top.
type script struct {
	name, source, sha string
}

// load is for scripts that touch nothing whose form a layout changes, that make it
// so (install), or that admit (laidOut).
func load(name string) *script { return newScript(name, read(name)) }

// guarded is load for all others: they refuse a sale of another layout before
// anything else. cfg is the place of the sale's cfg among KEYS, from 1.
func guarded(name string, cfg int) *script {
	flags, body, _ := strings.Cut(read(name), "\n")
	return newScript(name, flags+"\n"+guard(cfg)+"\n"+body)
}

func read(name string) string {
	source, err := fs.ReadFile(sources, "lua/"+name+".lua")
	if err != nil {
		panic(fmt.Sprintf("redis: script %s is not embedded: %v", name, err)) // a slip of the build, not of a run
	}
	return string(source)
}

func newScript(name, source string) *script {
	sum := sha1.Sum([]byte(source))
	return &script{name: name, source: source, sha: hex.EncodeToString(sum[:])}
}

var (
	admitScript          = load("admit")
	admitManyScript      = load("admit_many")
	undoScript           = guarded("undo", 1)
	undoManyScript       = guarded("undo_many", 1)
	settleScript         = guarded("settle", 3)
	settleManyScript     = guarded("settle_many", 3)
	attachScript         = guarded("attach", 3)
	attachManyScript     = guarded("attach_many", 3)
	resumeScript         = guarded("resume", 3)
	reseedScript         = guarded("reseed", 1)
	capsScript           = guarded("caps", 1)
	statusScript         = guarded("status", 1)
	controlScript        = guarded("control", 1)
	markScript           = guarded("mark", 1)
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
		return nil, fault(sc.name, err)
	}
	return v, nil
}
