package redis

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
)

// hasPrefix says whether err is an error reply of the server that begins with
// one of the words.
func hasPrefix(err error, words ...string) bool {
	var reply goredis.Error
	if err == nil || !errors.As(err, &reply) {
		return false
	}
	first, _, _ := strings.Cut(reply.Error(), " ")
	for _, w := range words {
		if first == w {
			return true
		}
	}
	return false
}

// notRun says that the server refused before the script's first line, the guard
// did in it, or the server was never reached. Every other error leaves the outcome unknown: a lost answer, or
// a script that failed midway (protocol.md 1.3, no rollback).
func notRun(err error) bool {
	if hasPrefix(err, "OOM", "NOREPLICAS", "READONLY", "LOADING", "MASTERDOWN", "MISCONF", "CLUSTERDOWN",
		"TRYAGAIN", "MOVED", "ASK", "BUSY", "NOAUTH", "WRONGPASS", "NOPERM") || errors.Is(err, admission.ErrLayout) {
		return true
	}
	if hasPrefix(err, "ERR") && strings.Contains(err.Error(), "Protocol error") {
		return true // how a server that wants a password answers a long command
	}
	var op *net.OpError
	return errors.Is(err, goredis.ErrPoolTimeout) || errors.As(err, &op) && op.Op == "dial"
}

// isSilence says that time ran out without an answer: the server is frozen, or the
// network is cut. One that has died refuses at once.
func isSilence(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded)
}

// worthRetry says whether the same call may go better in a moment: the
// connection was lost, or a failover is under way. A server that is out of
// memory or refuses us stays so, and a script's own error would repeat.
func worthRetry(err error) bool {
	if errors.Is(err, errMalformed) {
		return false
	}
	var reply goredis.Error
	if errors.As(err, &reply) && !errors.Is(err, goredis.Nil) {
		return hasPrefix(err, "READONLY", "LOADING", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "MOVED", "ASK", "BUSY", "UNBLOCKED")
	}
	return true
}
