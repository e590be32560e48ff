package redisproc

import (
	"context"
	"fmt"
	"strings"

	goredis "github.com/redis/go-redis/v9"
)

// ask runs one command on a connection of its own.
func (s *Server) ask(ctx context.Context, args ...any) (string, error) {
	c := goredis.NewClient(&goredis.Options{Addr: s.Addr(), MaxRetries: -1, PoolSize: 1})
	defer c.Close()
	out, err := c.Do(ctx, args...).Text()
	if err != nil {
		return "", fmt.Errorf("redisproc: %v on %s: %w", args, s.Addr(), err)
	}
	return out, nil
}

func (s *Server) do(ctx context.Context, args ...any) error {
	_, err := s.ask(ctx, args...)
	return err
}

func (s *Server) awaitReply(ctx context.Context, command string, ok func(string) bool) error {
	var args []any
	for _, w := range strings.Fields(command) {
		args = append(args, w)
	}
	return await(ctx, func() error {
		out, err := s.ask(ctx, args...)
		if err != nil || !ok(out) {
			return errNotYet
		}
		return nil
	})
}
