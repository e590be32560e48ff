package redis

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
)

// Health asks the node that serves the sale. It needs INFO only: managed
// services refuse CONFIG.
func (s *Store) Health(ctx context.Context, sale string) (admission.Health, error) {
	if !word(sale, maxName) {
		return admission.Health{}, fmt.Errorf("%w: sale %q", admission.ErrInvalid, sale)
	}
	key := saleKeys(sale).cfg()
	var info string
	err := s.retry(ctx, key, func(ctx context.Context, c *goredis.Conn) error {
		info = ""
		for _, section := range []string{"server", "replication", "memory"} {
			text, err := c.Info(ctx, section).Result()
			if err != nil {
				return err
			}
			info += text
		}
		return nil
	})
	if err != nil {
		return admission.Health{}, err
	}
	return parseInfo(info), nil
}

func parseInfo(info string) admission.Health {
	f := map[string]string{}
	for line := range strings.SplitSeq(info, "\n") {
		if name, value, found := strings.Cut(strings.TrimSpace(line), ":"); found {
			f[name] = value
		}
	}
	num := func(name string) int64 {
		n, _ := strconv.ParseInt(f[name], 10, 64) // what an older server doesn't report is 0
		return n
	}
	h := admission.Health{
		Role: f["role"], ReplicationID: f["master_replid"], PreviousReplication: f["master_replid2"],
		PreviousOffset: num("second_repl_offset"), Offset: num("master_repl_offset"), EvictionPolicy: f["maxmemory_policy"],
		UsedMemory: num("used_memory"), MaxMemory: num("maxmemory"), Version: f["redis_version"],
	}
	if v, ok := f["valkey_version"]; ok {
		h.Version = v
	}
	for i := 0; ; i++ {
		line, ok := f["slave"+strconv.Itoa(i)]
		if !ok {
			return h
		}
		if strings.Contains(line, "state=online") {
			h.ConnectedReplicas++
		}
		if _, rest, found := strings.Cut(line, "offset="); found {
			number, _, _ := strings.Cut(rest, ",")
			offset, _ := strconv.ParseInt(number, 10, 64)
			h.ReplicaLagBytes = max(h.ReplicaLagBytes, h.Offset-offset)
		}
	}
}

// UnsafeError is one reason why a Redis can't be trusted with seats.
type UnsafeError struct{ Reason string }

func (e *UnsafeError) Error() string { return "redis: unsafe: " + e.Reason }

// CheckServer refuses what would lose or resell seats, one clear line each,
// joined where there are several: an eviction policy, a server that is not a
// primary, more or fewer replicas than have to acknowledge (protocol.md 3.12).
// Of a cluster it checks the node that serves the sale.
func (s *Store) CheckServer(ctx context.Context, sale string) error {
	h, err := s.Health(ctx, sale)
	if err != nil {
		return err
	}
	return unsafe(h, s.cfg.Replicas, s.cfg.AllowUnacknowledged)
}
