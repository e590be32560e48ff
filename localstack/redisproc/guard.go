package redisproc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// marker is the file that says: a primary has run in this directory.
const marker = "holdfast-primary"

// guardData refuses to start a primary whose data is gone. A replica may always
// start empty: it copies its primary.
func (s *Server) guardData() error {
	if s.opt.ReplicaOf != "" || s.opt.AllowEmpty || len(s.extra) > 0 {
		return nil
	}
	if _, err := os.Stat(filepath.Join(s.opt.Dir, marker)); err != nil {
		return nil
	}
	for _, f := range []string{"appendonlydir/appendonly.aof.manifest", "appendonly.aof", "dump.rdb"} {
		if info, err := os.Stat(filepath.Join(s.opt.Dir, f)); err == nil && info.Size() > 0 {
			return nil
		}
	}
	return fmt.Errorf("%w (%s)", ErrEmptied, s.opt.Dir)
}

func (s *Server) markPrimary() error {
	if s.opt.ReplicaOf != "" || len(s.extra) > 0 {
		return nil
	}
	if err := os.WriteFile(filepath.Join(s.opt.Dir, marker), nil, 0o644); err != nil {
		return fmt.Errorf("redisproc: mark the data directory: %w", err)
	}
	return nil
}

// errNotYet makes await try again; any other error ends it.
var errNotYet = errors.New("redisproc: not yet")

// await asks again until the condition holds, fails for good, or ctx ends.
func await(ctx context.Context, cond func() error) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		err := cond()
		if !errors.Is(err, errNotYet) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("redisproc: gave up waiting: %w", ctx.Err())
		case <-tick.C:
		}
	}
}
