package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ledger/dynamo"
)

// TestComposeListensOnLoopbackOnly: nothing of a developer's machine is open to
// its network, Redis evicts nothing, and the images are named exactly.
func TestComposeListensOnLoopbackOnly(t *testing.T) {
	body, err := os.ReadFile("compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var c struct {
		Services map[string]struct {
			Image   string
			Command []string
			Ports   []string
		}
	}
	if err := yaml.Unmarshal(body, &c); err != nil {
		t.Fatal(err)
	}
	for name, s := range c.Services {
		for _, p := range s.Ports {
			if !strings.HasPrefix(p, "127.0.0.1:") {
				t.Errorf("%s listens on %s", name, p)
			}
		}
		if !strings.Contains(s.Image, ":") {
			t.Errorf("%s has no version: %s", name, s.Image)
		}
	}
	for _, name := range []string{"redis", "redis-replica"} {
		if !strings.Contains(strings.Join(c.Services[name].Command, " "), "--maxmemory-policy noeviction") {
			t.Errorf("%s may evict bookings", name)
		}
	}
	if got := c.Services["localstack"].Image; got != "localstack/localstack:4.14.0" {
		t.Errorf("the open profile runs %s, which needs an account", got)
	}
}

// TestInitScriptMakesWhatTheCodeAssumes runs the script with an awslocal that
// writes its arguments down.
func TestInitScriptMakesWhatTheCodeAssumes(t *testing.T) {
	dir := t.TempDir()
	record := filepath.Join(dir, "calls")
	fake := "#!/bin/sh\nprintf '%s\\n' \"$*\" >> " + record + "\ncase \"$*\" in *describe-table*) exit 1;; esac\necho arn:aws:sqs:us-east-1:000000000000:" + events.DeadQueueName + "\n"
	if err := os.WriteFile(filepath.Join(dir, "awslocal"), []byte(fake), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "init/ready.d/holdfast.sh")
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	body, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	calls := string(body)
	whole := func(d time.Duration) string { return strconv.Itoa(int(d / time.Second)) }
	for _, want := range []string{
		"create-queue --queue-name " + events.QueueName, "create-queue --queue-name " + events.DeadQueueName,
		`"VisibilityTimeout":"` + whole(events.Visibility) + `"`, `"MessageRetentionPeriod":"` + whole(events.Retention) + `"`,
		`\"maxReceiveCount\":\"` + strconv.Itoa(events.MaxReceives) + `\"`, `"DeduplicationScope":"messageGroup"`, `"FifoThroughputLimit":"perMessageGroupId"`,
		"AttributeName=" + dynamo.PartitionKey + ",KeyType=HASH", "AttributeName=" + dynamo.SortKey + ",KeyType=RANGE",
		"IndexName=" + dynamo.DueIndex, "AttributeName=" + dynamo.DuePartitionKey + ",KeyType=HASH", "AttributeName=" + dynamo.DueSortKey + ",KeyType=RANGE",
	} {
		if !strings.Contains(calls, want) {
			t.Errorf("the script never says %s", want)
		}
	}
}
