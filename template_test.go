package holdfast_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/config"
	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/ledger/dynamo"
)

// deployment is the part of infra/template.json that the code assumes.
type deployment struct {
	Resources map[string]struct {
		Type           string
		Condition      string
		DependsOn      any
		DeletionPolicy string
		Properties     map[string]any
	}
	Parameters map[string]map[string]any
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
		if got := d.props(t, id, "AWS::ElastiCache::ParameterGroup")["Properties"].(map[string]any)["repl-backlog-ttl"]; got != "0" {
			t.Errorf("%s forgets its replication id after %v seconds without a replica: its sales would be frozen", id, got)
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
	for _, k := range append(kinds, "sweep_silent", "pending_age", "sweep_left", "refunds_stuck", "gateway_unreachable", "wait_short", "dead_letters", "queue_age", "unavailable", "replica_lag", "redis_memory", "ingress_gone") {
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

// TestTemplateRolesAreNarrow: no action is a wildcard, and no resource is but
// where AWS knows no other form.
func TestTemplateRolesAreNarrow(t *testing.T) {
	roles := 0
	for id, r := range readTemplate(t).Resources {
		if r.Type != "AWS::IAM::Role" {
			continue
		}
		roles++
		for _, p := range r.Properties["Policies"].([]any) {
			for _, s := range p.(map[string]any)["PolicyDocument"].(map[string]any)["Statement"].([]any) {
				checkStatement(t, id, s.(map[string]any))
			}
		}
	}
	if roles < 10 {
		t.Fatalf("only %d roles found", roles)
	}
}

func checkStatement(t *testing.T, role string, s map[string]any) {
	t.Helper()
	free := true // every action is one that takes no resource
	for _, a := range each(s["Action"]) {
		action := a.(string)
		if strings.Contains(action, "*") {
			t.Errorf("%s may do %s", role, action)
		}
		if role == "AuditFunctionRole" && regexp.MustCompile(`^(dynamodb:(Put|Update|Delete|BatchWrite)|sqs:(Send|Receive|Delete))`).MatchString(action) {
			t.Errorf("the audit may %s; it only reads", action)
		}
		free = free && (action == "ecr:GetAuthorizationToken" || strings.HasPrefix(action, "ec2:"))
	}
	for _, r := range each(s["Resource"]) {
		if r == "*" && !free {
			t.Errorf("%s may do %v on everything", role, s["Action"])
		}
	}
}

// each is a policy's member, which is one or a list.
func each(v any) []any {
	if list, ok := v.([]any); ok {
		return list
	}
	return []any{v}
}

// TestTemplateConfiguresEveryProcess: with the variables that the stack sets,
// and only those, the configuration has no fault. Values that AWS fills in are
// stood in for.
func TestTemplateConfiguresEveryProcess(t *testing.T) {
	d := readTemplate(t)
	standIns := map[string]string{
		"HOLDFAST_SECRET": strings.Repeat("5c", 32), "HOLDFAST_OPERATOR_TOKEN": strings.Repeat("t", 48), "HOLDFAST_REDIS_PASSWORD": "secret",
		"HOLDFAST_REDIS_ADDRS": "redis.example:6379", "HOLDFAST_PUBLIC_URL": "https://sale.example", "HOLDFAST_GATEWAY": "page", "HOLDFAST_SANDBOX_URL": "", "HOLDFAST_TABLE": "holdfast",
	}
	for _, durable := range []bool{true, false} {
		for _, id := range []string{"IngressFunction", "WorkerFunction", "SweepFunction", "DiffFunction", "AuditFunction"} {
			env := map[string]string{}
			for name, v := range d.props(t, id, "AWS::Lambda::Function")["Environment"].(map[string]any)["Variables"].(map[string]any) {
				env[name] = resolve(v, durable, standIns[name])
			}
			c, err := config.Load(func(name string) string { return env[name] })
			if err != nil {
				t.Errorf("%s, durable %v: %v", id, durable, err)
			}
			if !c.Redis.TLS || c.Redis.Password == "" || len(c.TrustedProxies) != 1 || (c.Redis.Replicas == 0) != durable {
				t.Errorf("%s, durable %v: %+v, trusted %v", id, durable, c.Redis, c.TrustedProxies)
			}
		}
	}
}

// resolve is a value of the template: itself, a branch of the condition on
// durability, or what stands in for what only AWS knows.
func resolve(v any, durable bool, standIn string) string {
	if text, ok := v.(string); ok {
		return text
	}
	if branch, ok := v.(map[string]any)["Fn::If"].([]any); ok && branch[0] == "Durable" {
		chosen := branch[2]
		if durable {
			chosen = branch[1]
		}
		return resolve(chosen, durable, standIn)
	}
	return standIn
}

// TestEveryMetricOfAnAlarmIsWritten: an alarm on a figure that nobody writes is
// silent for ever. Ours come from the functions' embedded metrics and from the
// filters; a filter's message has to be one that the code logs.
func TestEveryMetricOfAnAlarmIsWritten(t *testing.T) {
	d := readTemplate(t)
	source := sources(t)
	written := map[string]bool{}
	emf, err := os.ReadFile("cmd/lambda/emf.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`line\["(\w+)"\]|"(Passes)": 1`).FindAllStringSubmatch(string(emf), -1) {
		written[m[1]+m[2]] = true
	}
	message := regexp.MustCompile(`\$\.msg = "([^"]+)"`)
	for id, r := range d.Resources {
		if r.Type != "AWS::Logs::MetricFilter" {
			continue
		}
		msg := message.FindStringSubmatch(r.Properties["FilterPattern"].(string))
		if msg == nil || !strings.Contains(source, `"`+msg[1]+`", "`) {
			t.Errorf("%s waits for a line that nobody writes: %v", id, r.Properties["FilterPattern"])
		}
		for _, m := range r.Properties["MetricTransformations"].([]any) {
			written[m.(map[string]any)["MetricName"].(string)] = true
		}
	}
	ours := 0
	for id, r := range d.Resources {
		if r.Type != "AWS::CloudWatch::Alarm" || r.Properties["Namespace"] != "Holdfast" {
			continue
		}
		ours++
		if name := r.Properties["MetricName"].(string); !written[name] {
			t.Errorf("%s looks at %s, which nobody writes; written are %v", id, name, written)
		}
	}
	if ours < 20 {
		t.Errorf("only %d alarms on figures of our own", ours)
	}
	if !strings.Contains(admission.ErrUnacknowledged.Error(), "not acknowledged") {
		t.Errorf("the filter for short acknowledgements does not know %q", admission.ErrUnacknowledged)
	}
}

// sources is the text of every file of the product that logs.
func sources(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, pattern := range []string{"wiring/*.go", "ingress/booking/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if strings.HasSuffix(f, "_test.go") {
				continue
			}
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(b)
		}
	}
	return all.String()
}
