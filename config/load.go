package config

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// Load reads the configuration through getenv (os.Getenv in a main). The error
// joins one line per fault; the Config is usable only if it is nil.
func Load(getenv func(string) string) (Config, error) {
	r := &reader{getenv: getenv}
	c := Config{
		Secret:         r.secret("HOLDFAST_SECRET"),
		Redis:          r.redis(),
		AWS:            r.aws(),
		Listen:         r.listen("HOLDFAST_LISTEN", "127.0.0.1:8080"),
		OperatorListen: r.listen("HOLDFAST_OPERATOR_LISTEN", "127.0.0.1:8081"),
		OperatorToken:  r.token("HOLDFAST_OPERATOR_TOKEN"),
		ConsoleALB:     r.loadBalancer("HOLDFAST_CONSOLE_ALB"),
		ReportKey:      r.reportKey("HOLDFAST_REPORT_KEY"),
		PublicURL:      r.url("HOLDFAST_PUBLIC_URL", "http://127.0.0.1:8080"),
		TrustedProxies: r.prefixes("HOLDFAST_TRUSTED_PROXIES"),
		Gateway:        r.text("HOLDFAST_GATEWAY", "page"),
		LogLevel:       r.oneOf("HOLDFAST_LOG_LEVEL", "info", "debug", "info", "warn", "error"),
		SweepEvery:     r.duration("HOLDFAST_SWEEP_EVERY", 5*time.Second),
		DiffEvery:      r.duration("HOLDFAST_DIFF_EVERY", 5*time.Minute),
		Workers:        r.number("HOLDFAST_WORKERS", 32, 1, 1000),
		RatePerClient:  r.rate("HOLDFAST_RATE_PER_CLIENT", 20),
		RatePerCode:    r.rate("HOLDFAST_RATE_PER_CODE", 2),
		Sandbox: Sandbox{
			URL:           r.optionalURL("HOLDFAST_SANDBOX_URL"),
			AppKey:        getenv("HOLDFAST_SANDBOX_APP_KEY"),
			AppSecret:     getenv("HOLDFAST_SANDBOX_APP_SECRET"),
			WebhookSecret: getenv("HOLDFAST_SANDBOX_WEBHOOK_SECRET"),
		},
	}
	return c, errors.Join(r.faults...)
}

// reader reads variables and collects what is wrong with them.
type reader struct {
	getenv func(string) string
	faults []error
}

func (r *reader) fault(name, format string, args ...any) {
	r.faults = append(r.faults, fmt.Errorf("%s: %s", name, fmt.Sprintf(format, args...)))
}

func (r *reader) text(name, otherwise string) string {
	if v := strings.TrimSpace(r.getenv(name)); v != "" {
		return v
	}
	return otherwise
}

func (r *reader) redis() Redis {
	c := Redis{
		Mode:                r.oneOf("HOLDFAST_REDIS_MODE", "single", "single", "sentinel", "cluster"),
		Addrs:               r.addrs("HOLDFAST_REDIS_ADDRS", "127.0.0.1:6379"),
		MasterName:          r.text("HOLDFAST_REDIS_MASTER", ""),
		Username:            r.getenv("HOLDFAST_REDIS_USERNAME"),
		Password:            r.getenv("HOLDFAST_REDIS_PASSWORD"),
		TLS:                 r.flag("HOLDFAST_REDIS_TLS"),
		Replicas:            r.number("HOLDFAST_REDIS_REPLICAS", 1, 0, 5),
		AllowUnacknowledged: r.flag("HOLDFAST_REDIS_ALLOW_UNACKNOWLEDGED"),
	}
	if c.Mode == "sentinel" && c.MasterName == "" {
		r.fault("HOLDFAST_REDIS_MASTER", "is empty: sentinel mode needs the name of the master")
	}
	if c.Mode == "single" && len(c.Addrs) > 1 {
		r.fault("HOLDFAST_REDIS_ADDRS", "has %d addresses: single mode takes one; set HOLDFAST_REDIS_MODE=cluster or sentinel", len(c.Addrs))
	}
	if c.Replicas == 0 && !c.AllowUnacknowledged {
		r.fault("HOLDFAST_REDIS_REPLICAS", "is 0: an admission that no replica acknowledged can be lost; set it to the number of replicas, or HOLDFAST_REDIS_ALLOW_UNACKNOWLEDGED=true if the store itself is durable")
	}
	return c
}

func (r *reader) aws() AWS {
	return AWS{
		Table:           r.text("HOLDFAST_TABLE", "holdfast"),
		Queue:           r.fifo("HOLDFAST_QUEUE", "holdfast-events.fifo"),
		DeadLetterQueue: r.fifo("HOLDFAST_DEAD_LETTER_QUEUE", "holdfast-events-dead.fifo"),
		Create:          r.flag("HOLDFAST_CREATE_RESOURCES"),
	}
}

func (r *reader) fifo(name, otherwise string) string {
	v := r.text(name, otherwise)
	if !strings.HasSuffix(v, ".fifo") || len(v) > 80 {
		r.fault(name, "%q is not the name of a FIFO queue: at most 80 characters, ending in .fifo", v)
	}
	return v
}

func (r *reader) secret(name string) []byte {
	v := strings.TrimSpace(r.getenv(name))
	for _, decode := range []func(string) ([]byte, error){hex.DecodeString, base64.StdEncoding.DecodeString, base64.RawURLEncoding.DecodeString} {
		if b, err := decode(v); err == nil && len(b) >= 32 {
			return b
		}
	}
	r.fault(name, "needs at least 32 random bytes in hex or base64; make one with 'openssl rand -hex 32' and keep it: another secret makes every roster unreadable")
	return nil
}

func (r *reader) loadBalancer(name string) string {
	v := r.text(name, "")
	if p := strings.Split(v, ":"); v != "" && (len(p) != 6 || p[0] != "arn" || p[2] != "elasticloadbalancing" || p[3] == "") {
		r.fault(name, "%q is not the ARN of a load balancer, such as arn:aws:elasticloadbalancing:REGION:ACCOUNT:loadbalancer/app/NAME/ID", v)
	}
	return v
}

// reportKey is the key's text, or that of the file it names.
func (r *reader) reportKey(name string) string {
	v := strings.TrimSpace(r.getenv(name))
	if path, ok := strings.CutPrefix(v, "file:"); ok {
		content, err := os.ReadFile(path)
		if err != nil {
			r.fault(name, "%v", err)
			return ""
		}
		v = strings.TrimSpace(string(content))
	} else if v == "" {
		return ""
	}
	seed, err := base64.StdEncoding.DecodeString(v)
	if err != nil || len(seed) != 32 {
		seed, err = hex.DecodeString(v)
	}
	if err != nil || len(seed) != 32 {
		r.fault(name, "needs 32 bytes in base64 or hex, or file: and the path of a file with them; make one with 'holdfast report keygen'")
		return ""
	}
	return v
}

func (r *reader) token(name string) string {
	v := r.getenv(name)
	if len(v) < 16 {
		r.fault(name, "needs at least 16 characters; make one with 'openssl rand -hex 16'")
	}
	return v
}

func (r *reader) oneOf(name, otherwise string, allowed ...string) string {
	v := r.text(name, otherwise)
	for _, a := range allowed {
		if v == a {
			return v
		}
	}
	r.fault(name, "%q is not one of %s", v, strings.Join(allowed, ", "))
	return otherwise
}

func (r *reader) flag(name string) bool {
	v := r.text(name, "false")
	b, err := strconv.ParseBool(v)
	if err != nil {
		r.fault(name, "%q is neither true nor false", v)
	}
	return b
}

func (r *reader) number(name string, otherwise, low, high int) int {
	v := r.text(name, strconv.Itoa(otherwise))
	n, err := strconv.Atoi(v)
	if err != nil || n < low || n > high {
		r.fault(name, "%q is not a whole number from %d to %d", v, low, high)
		return otherwise
	}
	return n
}

func (r *reader) rate(name string, otherwise float64) float64 {
	v := r.text(name, strconv.FormatFloat(otherwise, 'g', -1, 64))
	f, err := strconv.ParseFloat(v, 64)
	if err != nil || f < 0 || f > 1e6 {
		r.fault(name, "%q is not a rate per second; 0 switches the limit off", v)
		return otherwise
	}
	return f
}

func (r *reader) duration(name string, otherwise time.Duration) time.Duration {
	v := r.text(name, otherwise.String())
	d, err := time.ParseDuration(v)
	if err != nil || d <= 0 {
		r.fault(name, "%q is not a positive duration such as 5s or 2m", v)
		return otherwise
	}
	return d
}

func (r *reader) listen(name, otherwise string) string {
	v := r.text(name, otherwise)
	if _, _, err := net.SplitHostPort(v); err != nil {
		r.fault(name, "%q is not host:port", v)
	}
	return v
}

func (r *reader) addrs(name, otherwise string) []string {
	var out []string
	for _, a := range strings.Split(r.text(name, otherwise), ",") {
		a = strings.TrimSpace(a)
		if _, _, err := net.SplitHostPort(a); err != nil {
			r.fault(name, "%q is not host:port", a)
			continue
		}
		out = append(out, a)
	}
	return out
}

func (r *reader) url(name, otherwise string) string {
	v := strings.TrimSuffix(r.text(name, otherwise), "/")
	u, err := url.Parse(v)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		r.fault(name, "%q is not an http or https address", v)
	}
	return v
}

func (r *reader) optionalURL(name string) string {
	if strings.TrimSpace(r.getenv(name)) == "" {
		return ""
	}
	return r.url(name, "")
}

func (r *reader) prefixes(name string) []netip.Prefix {
	var out []netip.Prefix
	for _, s := range strings.FieldsFunc(r.getenv(name), func(c rune) bool { return c == ',' || c == ' ' }) {
		if p, err := netip.ParsePrefix(s); err == nil {
			out = append(out, p)
			continue
		}
		a, err := netip.ParseAddr(s)
		if err != nil {
			r.fault(name, "%q is neither an address nor a network such as 10.0.0.0/16", s)
			continue
		}
		out = append(out, netip.PrefixFrom(a, a.BitLen()))
	}
	return out
}
