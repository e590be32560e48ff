package redis

import (
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// readTimeout is longer than WAIT may block: a client that gives up first would
// take every short WAIT for a lost connection (protocol.md 1.4).
func (c *Config) readTimeout() time.Duration { return c.WaitTimeout + 400*time.Millisecond }

// dialTimeout leaves room for a second try within patience.
const dialTimeout = 700 * time.Millisecond

func (c *Config) options() *goredis.Options {
	return &goredis.Options{
		Addr: c.Addrs[0], Username: c.Username, Password: c.Password, TLSConfig: c.TLS, Dialer: c.Dialer,
		MaxRetries: -1, ContextTimeoutEnabled: true, Protocol: 2, DisableIdentity: true,
		DialTimeout: dialTimeout, DialerRetries: 1, ReadTimeout: c.readTimeout(), WriteTimeout: c.readTimeout(), PoolSize: c.PoolSize,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
}

func (c *Config) failoverOptions() *goredis.FailoverOptions {
	return &goredis.FailoverOptions{
		MasterName: c.MasterName, SentinelAddrs: c.Addrs, SentinelPassword: c.SentinelPassword,
		Username: c.Username, Password: c.Password, TLSConfig: c.TLS, Dialer: c.Dialer,
		MaxRetries: -1, ContextTimeoutEnabled: true, Protocol: 2, DisableIdentity: true,
		DialTimeout: dialTimeout, ReadTimeout: c.readTimeout(), WriteTimeout: c.readTimeout(), PoolSize: c.PoolSize,
	}
}

func (c *Config) clusterOptions() *goredis.ClusterOptions {
	return &goredis.ClusterOptions{
		Addrs: c.Addrs, Username: c.Username, Password: c.Password, TLSConfig: c.TLS, Dialer: c.Dialer,
		MaxRetries: -1, MaxRedirects: -1, ContextTimeoutEnabled: true, Protocol: 2, DisableIdentity: true,
		DialTimeout: dialTimeout, ReadTimeout: c.readTimeout(), WriteTimeout: c.readTimeout(), PoolSize: c.PoolSize,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
}
