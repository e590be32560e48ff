package stack

import (
	"encoding/json"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
)

// alarmID is the logical id of an alarm.
func alarmID(name string) string {
	var b strings.Builder
	for _, word := range strings.FieldsFunc(strings.TrimPrefix(name, "holdfast-"), func(r rune) bool { return r == '_' || r == '-' }) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String() + "Alarm"
}

// widget is one graph; its metrics are rows as CloudWatch takes them.
type widget struct {
	title   string
	stat    string
	metrics [][]any
}

// addDashboard shows a sale from the outside in: answers, admissions' Redis,
// the queue, the ledger, healing.
func (s *Stack) addDashboard() {
	balancer := "${Balancer.LoadBalancerFullName}"
	widgets := []widget{
		{"Answers a minute", "Sum", [][]any{
			{"AWS/ApplicationELB", "HTTPCode_Target_2XX_Count", "LoadBalancer", balancer}, {"AWS/ApplicationELB", "HTTPCode_Target_4XX_Count", "LoadBalancer", balancer}, {"AWS/ApplicationELB", "HTTPCode_Target_5XX_Count", "LoadBalancer", balancer},
		}},
		{"Time to answer, 99 %", "p99", [][]any{{"AWS/ApplicationELB", "TargetResponseTime", "LoadBalancer", balancer}}},
		{"Redis: busy and full (%)", "Maximum", [][]any{{"AWS/ElastiCache", "EngineCPUUtilization", "ReplicationGroupId", redisID}, {"AWS/ElastiCache", "DatabaseMemoryUsagePercentage", "ReplicationGroupId", redisID}}},
		{"Queue: age of the oldest event (s)", "Maximum", [][]any{{"AWS/SQS", "ApproximateAgeOfOldestMessage", "QueueName", "${Queue.QueueName}"}}},
		{"Queue: waiting and dead", "Maximum", [][]any{{"AWS/SQS", "ApproximateNumberOfMessagesVisible", "QueueName", "${Queue.QueueName}"}, {"AWS/SQS", "ApproximateNumberOfMessagesVisible", "QueueName", "${DeadLetterQueue.QueueName}"}}},
		{"Ledger: writes", "Sum", [][]any{{"AWS/DynamoDB", "ConsumedWriteCapacityUnits", "TableName", "${Ledger}"}, {"AWS/DynamoDB", "WriteThrottleEvents", "TableName", "${Ledger}"}}},
		{"Healing: oldest pending (s), left undone", "Maximum", [][]any{{namespace, "PendingAge"}, {namespace, "SweepLeft"}, {namespace, "RefundsFailed"}}},
		{"Passes of the reaper", "Sum", [][]any{{namespace, "Passes", "pass", "sweep"}, {namespace, "Passes", "pass", "diff"}, {namespace, "Passes", "pass", "audit"}}},
	}
	var all []map[string]any
	for i, w := range widgets {
		all = append(all, map[string]any{"type": "metric", "x": 12 * (i % 2), "y": 6 * (i / 2), "width": 12, "height": 6,
			"properties": map[string]any{"title": w.title, "stat": w.stat, "period": 60, "region": "${AWS::Region}", "metrics": w.metrics}})
	}
	body, err := json.Marshal(map[string]any{"widgets": all}) // sorts the keys: the template is the same each time
	if err != nil {
		panic(err) // text and numbers always can be written
	}
	awscloudwatch.NewCfnDashboard(s.Stack, str("Dashboard"), &awscloudwatch.CfnDashboardProps{DashboardName: str("holdfast"), DashboardBody: awscdk.Fn_Sub(str(string(body)), &map[string]*string{"Ledger": s.ledgerName()})})
}
