package config

import (
	"strings"
	"testing"
)

func env(kv map[string]string) func(string) string {
	base := map[string]string{
		"HOLDFAST_SECRET":         strings.Repeat("ab", 32),
		"HOLDFAST_OPERATOR_TOKEN": "0123456789abcdef",
	}
	return func(k string) string {
		if v, ok := kv[k]; ok {
			return v
		}
		return base[k]
	}
}

func TestLoadDefaults(t *testing.T) {
	c, err := Load(env(nil))
	if err != nil {
		t.Fatal(err)
	}
	if c.Redis.Replicas != 1 || c.Redis.Mode != "single" || c.AWS.Queue != "holdfast-events.fifo" || len(c.Secret) != 32 {
		t.Fatalf("defaults are off: %+v", c)
	}
}

func TestLoadListsEveryFaultAtOnce(t *testing.T) {
	faulty := map[string]string{
		"HOLDFAST_SECRET":          "short",
		"HOLDFAST_OPERATOR_TOKEN":  "short",
		"HOLDFAST_REDIS_MODE":      "sentinel",
		"HOLDFAST_REDIS_ADDRS":     "nowhere",
		"HOLDFAST_REDIS_REPLICAS":  "0",
		"HOLDFAST_QUEUE":           "events",
		"HOLDFAST_LISTEN":          "8080",
		"HOLDFAST_PUBLIC_URL":      "ftp://x",
		"HOLDFAST_TRUSTED_PROXIES": "10.0.0.0/8,elsewhere",
		"HOLDFAST_LOG_LEVEL":       "loud",
		"HOLDFAST_SWEEP_EVERY":     "-1s",
		"HOLDFAST_WORKERS":         "many",
		"HOLDFAST_RATE_PER_CODE":   "-2",
		"HOLDFAST_REDIS_TLS":       "perhaps",
	}
	_, err := Load(env(faulty))
	if err == nil {
		t.Fatal("no fault found")
	}
	// Sentinel without a master name is the fault of a variable that is not set.
	for name := range faulty {
		if name == "HOLDFAST_REDIS_MODE" {
			name = "HOLDFAST_REDIS_MASTER"
		}
		if !strings.Contains(err.Error(), name+": ") {
			t.Errorf("%s is faulty and not named in:\n%v", name, err)
		}
	}
}

func TestNoReplicaMustBeAskedForByName(t *testing.T) {
	if _, err := Load(env(map[string]string{"HOLDFAST_REDIS_REPLICAS": "0"})); err == nil {
		t.Fatal("no replica and no word for it was accepted")
	}
	c, err := Load(env(map[string]string{"HOLDFAST_REDIS_REPLICAS": "0", "HOLDFAST_REDIS_ALLOW_UNACKNOWLEDGED": "true"}))
	if err != nil || c.Redis.Replicas != 0 {
		t.Fatalf("asked for by name and refused: %v", err)
	}
}

func TestSecretInHexAndBase64(t *testing.T) {
	for _, s := range []string{strings.Repeat("0f", 32), "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="} {
		if _, err := Load(env(map[string]string{"HOLDFAST_SECRET": s})); err != nil {
			t.Errorf("%q: %v", s, err)
		}
	}
}
