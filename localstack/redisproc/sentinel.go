package redisproc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Sentinels watch one primary under the name "holdfast".
type Sentinels []*Server

// SentinelName is the name under which StartSentinels registers the primary.
const SentinelName = "holdfast"

// sentinelPatience is how long a primary may be silent before it is called down. On
// a busy machine one that lives is silent for some tenths of a second.
const sentinelPatience = time.Second

// StartSentinels starts n sentinels (quorum n/2+1) that call a primary down
// after a second, and waits until each knows the others and the replica.
func StartSentinels(ctx context.Context, pair *Pair, n int) (Sentinels, error) {
	var all Sentinels
	for range n {
		s, err := startSentinel(ctx, pair.Primary, n/2+1)
		if err != nil {
			return nil, errors.Join(err, all.Stop())
		}
		all = append(all, s)
	}
	for _, s := range all {
		err := s.awaitReply(ctx, "INFO sentinel", func(info string) bool {
			return strings.Contains(info, fmt.Sprintf("status=ok,address=%s,slaves=1,sentinels=%d", pair.Primary.Addr(), n))
		})
		if err != nil {
			return nil, errors.Join(err, all.Stop())
		}
	}
	return all, nil
}

// Addrs returns the sentinels' addresses.
func (s Sentinels) Addrs() []string {
	var a []string
	for _, x := range s {
		a = append(a, x.Addr())
	}
	return a
}

// Stop ends every sentinel.
func (s Sentinels) Stop() error {
	var errs []error
	for _, x := range s {
		errs = append(errs, x.Stop())
	}
	return errors.Join(errs...)
}

func startSentinel(ctx context.Context, primary *Server, quorum int) (*Server, error) {
	dir, err := os.MkdirTemp("", "holdfast-sentinel-")
	if err != nil {
		return nil, fmt.Errorf("redisproc: temporary directory: %w", err)
	}
	conf := filepath.Join(dir, "sentinel.conf")
	lines := fmt.Sprintf("sentinel monitor %[1]s 127.0.0.1 %[2]d %[3]d\nsentinel down-after-milliseconds %[1]s %[4]d\nsentinel failover-timeout %[1]s 2000\nsentinel parallel-syncs %[1]s 1\n",
		SentinelName, primary.Port(), quorum, sentinelPatience.Milliseconds())
	if err := os.WriteFile(conf, []byte(lines), 0o644); err != nil {
		return nil, fmt.Errorf("redisproc: sentinel configuration: %w", err)
	}
	s, err := start(ctx, Options{Dir: dir}, []string{conf, "--sentinel"})
	if err != nil {
		return nil, err
	}
	s.temp = true
	return s, nil
}
