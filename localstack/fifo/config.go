package fifo

import (
	"fmt"
	"regexp"
	"time"
)

// MaxMessageBytes is SQS's limit for one message, attributes included, and for all messages of one batch.
const MaxMessageBytes = 1 << 20

// Config is what a queue's attributes say. It is comparable.
type Config struct {
	VisibilityTimeout time.Duration // 0 to 12 h
	Delay             time.Duration // 0 to 15 min, for every message of the queue
	Retention         time.Duration // 1 min to 14 days
	ReceiveWait       time.Duration // 0 to 20 s, for receives that don't say
	MaxMessageBytes   int           // 1024 to 1048576
	ContentDedup      bool          // the body's SHA-256 stands in for a missing deduplication id
	GroupScope        bool          // deduplication ids are unique per message group, not per queue
	GroupThroughput   bool          // high throughput; needs GroupScope. Recorded only: the engine has no rate limit
	Redrive           RedrivePolicy
}

// RedrivePolicy moves a message that was received MaxReceives times to the queue Target instead of delivering it again. The zero policy moves nothing.
type RedrivePolicy struct {
	Target      string // name of a FIFO queue
	MaxReceives int    // 1 to 1000
}

// DefaultConfig is what AWS gives a FIFO queue that is created without attributes.
func DefaultConfig() Config {
	return Config{VisibilityTimeout: 30 * time.Second, Retention: 4 * 24 * time.Hour, MaxMessageBytes: MaxMessageBytes}
}

var queueName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,75}\.fifo$`)

func checkName(name string) error {
	if !queueName.MatchString(name) {
		return fmt.Errorf("%w: the name of a FIFO queue can only include alphanumeric characters, hyphens, or underscores, must end with .fifo suffix and be 1 to 80 in length", ErrInvalid)
	}
	return nil
}

// check returns what AWS would refuse about a queue's attributes.
func (cfg Config) check() error {
	for _, r := range []struct {
		name           string
		v, least, most time.Duration
	}{
		{"VisibilityTimeout", cfg.VisibilityTimeout, 0, 12 * time.Hour},
		{"DelaySeconds", cfg.Delay, 0, 15 * time.Minute},
		{"MessageRetentionPeriod", cfg.Retention, time.Minute, 14 * 24 * time.Hour},
		{"ReceiveMessageWaitTimeSeconds", cfg.ReceiveWait, 0, 20 * time.Second},
	} {
		if r.v < r.least || r.v > r.most {
			return fmt.Errorf("%w: %s must be between %d and %d seconds", ErrInvalid, r.name, r.least/time.Second, r.most/time.Second)
		}
	}
	switch p := cfg.Redrive; {
	case cfg.MaxMessageBytes < 1024 || cfg.MaxMessageBytes > MaxMessageBytes:
		return fmt.Errorf("%w: MaximumMessageSize must be between 1024 and %d", ErrInvalid, MaxMessageBytes)
	case cfg.GroupThroughput && !cfg.GroupScope:
		return fmt.Errorf("%w: FifoThroughputLimit perMessageGroupId needs DeduplicationScope messageGroup", ErrInvalid)
	case p != RedrivePolicy{} && (p.MaxReceives < 1 || p.MaxReceives > 1000):
		return fmt.Errorf("%w: maxReceiveCount must be between 1 and 1000", ErrInvalid)
	}
	return nil
}
