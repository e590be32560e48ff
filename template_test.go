package holdfast_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ledger/dynamo"
)

// deployment is the part of infra/template.json that the code assumes.
type deployment struct {
	Resources map[string]struct {
		Type           string
		DeletionPolicy string
		Properties     map[string]any
	}
	Conditions map[string]any
	Rules      map[string]any
}

func readTemplate(t *testing.T) deployment {
	t.Helper()
	body, err := os.ReadFile("infra/template.json")
	if err != nil {
		t.Fatal(err)
	}
	var d deployment
	if err := json.Unmarshal(body, &d); err != nil {
		t.Fatal(err)
	}
	if len(d.Rules) != 0 {
		t.Errorf("the template has rules, such as that of a bootstrap version: %v", d.Rules)
	}
	return d
}

func (d deployment) props(t *testing.T, id, kind string) map[string]any {
	t.Helper()
	r, ok := d.Resources[id]
	if !ok || r.Type != kind {
		t.Fatalf("%s is a %q, not a %s", id, r.Type, kind)
	}
	return r.Properties
}

func seconds(d time.Duration) float64 { return d.Seconds() }

// TestTemplateHasTheQueuesOfTheCode: names, FIFO with high throughput, the
// visibility that the workers extend, and six times the function's timeout.
func TestTemplateHasTheQueuesOfTheCode(t *testing.T) {
	d := readTemplate(t)
	for id, name := range map[string]string{"Queue": events.QueueName, "DeadLetterQueue": events.DeadQueueName} {
		q := d.props(t, id, "AWS::SQS::Queue")
		for key, want := range map[string]any{
			"QueueName": name, "FifoQueue": true, "DeduplicationScope": "messageGroup", "FifoThroughputLimit": "perMessageGroupId",
			"MessageRetentionPeriod": seconds(events.Retention), "SqsManagedSseEnabled": true,
		} {
			if q[key] != want {
				t.Errorf("%s has %s %v, the code assumes %v", id, key, q[key], want)
			}
		}
	}
	queue := d.props(t, "Queue", "AWS::SQS::Queue")
	if got := queue["RedrivePolicy"].(map[string]any)["maxReceiveCount"]; got != float64(events.MaxReceives) {
		t.Errorf("a message goes to the dead letters after %v deliveries, not %d", got, events.MaxReceives)
	}
	// {"Fn::If": ["WorkersAreLambda", with functions, with tasks]}
	choice := queue["VisibilityTimeout"].(map[string]any)["Fn::If"].([]any)
	if choice[2] != seconds(events.Visibility) {
		t.Errorf("tasks get a visibility of %v s, the poller extends %v", choice[2], events.Visibility)
	}
	timeout := d.props(t, "WorkerFunction", "AWS::Lambda::Function")["Timeout"].(float64)
	if choice[1].(float64) < 6*timeout {
		t.Errorf("functions get a visibility of %v s, less than six times their %v s", choice[1], timeout)
	}
	trigger := d.props(t, "QueueTrigger", "AWS::Lambda::EventSourceMapping")
	if got := trigger["FunctionResponseTypes"]; !oneElement(got, "ReportBatchItemFailures") {
		t.Errorf("the trigger reports %v: a failed message would bring its whole batch back, or be lost", got)
	}
}

// TestTemplateHasTheTableOfTheCode: keys, the sparse index, recovery, and no
// way to lose it with the stack.
func TestTemplateHasTheTableOfTheCode(t *testing.T) {
	d := readTemplate(t)
	table := d.props(t, "Table", "AWS::DynamoDB::Table")
	if !keyed(table["KeySchema"], dynamo.PartitionKey, dynamo.SortKey) {
		t.Errorf("the table's keys are %v", table["KeySchema"])
	}
	index := table["GlobalSecondaryIndexes"].([]any)[0].(map[string]any)
	if index["IndexName"] != dynamo.DueIndex || !keyed(index["KeySchema"], dynamo.DuePartitionKey, dynamo.DueSortKey) || index["Projection"].(map[string]any)["ProjectionType"] != "KEYS_ONLY" {
		t.Errorf("the index is %v", index)
	}
	if table["PointInTimeRecoverySpecification"].(map[string]any)["PointInTimeRecoveryEnabled"] != true || table["DeletionProtectionEnabled"] != true || d.Resources["Table"].DeletionPolicy != "Retain" {
		t.Error("the ledger can be lost: it needs point-in-time recovery, deletion protection and Retain")
	}
	if table["BillingMode"] != "PAY_PER_REQUEST" || table["TimeToLiveSpecification"] != nil {
		t.Error("the ledger is on demand and lets nothing expire")
	}
}

// TestTemplateHasTheRedisOfTheCode: nothing evicted, one replica in another
// zone, encrypted on the way; acknowledgements are off only if Redis is durable.
func TestTemplateHasTheRedisOfTheCode(t *testing.T) {
	d := readTemplate(t)
	for _, id := range []string{"RedisParameters", "DurableRedisParameters"} {
		if got := d.props(t, id, "AWS::ElastiCache::ParameterGroup")["Properties"].(map[string]any)["maxmemory-policy"]; got != "noeviction" {
			t.Errorf("%s has the eviction policy %v", id, got)
		}
	}
	redis := d.props(t, "Redis", "AWS::ElastiCache::ReplicationGroup")
	for key, want := range map[string]any{"MultiAZEnabled": true, "AutomaticFailoverEnabled": true, "TransitEncryptionEnabled": true, "AtRestEncryptionEnabled": true, "ReplicasPerNodeGroup": 1.0, "NumNodeGroups": 1.0} {
		if key == "MultiAZEnabled" && redis[key] == nil {
			key = "MultiAzEnabled"
		}
		if redis[key] != want {
			t.Errorf("Redis has %s %v, not %v", key, redis[key], want)
		}
	}
	env := d.props(t, "SweepFunction", "AWS::Lambda::Function")["Environment"].(map[string]any)["Variables"].(map[string]any)
	for name, want := range map[string][2]string{"HOLDFAST_REDIS_REPLICAS": {"0", "1"}, "HOLDFAST_REDIS_ALLOW_UNACKNOWLEDGED": {"true", "false"}, "HOLDFAST_REDIS_MODE": {"cluster", "single"}} {
		choice := env[name].(map[string]any)["Fn::If"].([]any)
		if choice[0] != "Durable" || choice[1] != want[0] || choice[2] != want[1] {
			t.Errorf("%s is %v", name, choice)
		}
	}
}

// TestTemplateHasAnAlarmForEveryRowOfTheRunbook reads the kinds from the table
// of docs/operations.md, and looks for the figures that no log line can tell.
func TestTemplateHasAnAlarmForEveryRowOfTheRunbook(t *testing.T) {
	d := readTemplate(t)
	have := map[string]bool{}
	for _, r := range d.Resources {
		if r.Type == "AWS::CloudWatch::Alarm" {
			have[r.Properties["AlarmName"].(string)] = true
			if actions, _ := r.Properties["AlarmActions"].([]any); len(actions) == 0 {
				t.Errorf("the alarm %v tells nobody", r.Properties["AlarmName"])
			}
		}
	}
	runbook, err := os.ReadFile("docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(runbook), "## Alarms")
	table, _, _ = strings.Cut(table, "\n## ")
	kind := regexp.MustCompile("`([a-z_]+)`")
	var kinds []string
	for _, line := range strings.Split(table, "\n") {
		cells := strings.Split(line, "|")
		if len(cells) < 5 || strings.Contains(cells[1], "(") || strings.Contains(cells[1], "/") {
			continue // not a row of log kinds
		}
		for _, m := range kind.FindAllStringSubmatch(cells[1], -1) {
			if m[1] != "kind" {
				kinds = append(kinds, m[1])
			}
		}
	}
	if len(kinds) < 15 {
		t.Fatalf("only %v found: has the runbook another form?", kinds)
	}
	for _, k := range append(kinds, "sweep_silent", "pending_age", "sweep_left", "refunds_stuck", "dead_letters", "queue_age", "unavailable", "replica_lag", "redis_memory", "ingress_gone") {
		if !have["holdfast-"+k] {
			t.Errorf("no alarm for %s", k)
		}
	}
}

func keyed(schema any, hash, sort string) bool {
	keys, ok := schema.([]any)
	if !ok || len(keys) != 2 {
		return false
	}
	return keys[0].(map[string]any)["AttributeName"] == hash && keys[1].(map[string]any)["AttributeName"] == sort
}

func oneElement(list any, want string) bool {
	l, ok := list.([]any)
	return ok && len(l) == 1 && l[0] == want
}
