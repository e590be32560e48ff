package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/jsii-runtime-go"

	"github.com/holdfast/holdfast/lifecycle"
	"github.com/holdfast/holdfast/reaper"
)

// namespace of our own metrics: what the functions write in their logs
// (embedded metric format), and what the filters below count.
const namespace = "Holdfast"

// kinds are the facts that a process says a person has to look at.
var kinds = []lifecycle.AlarmKind{
	reaper.AlarmBreaker, reaper.AlarmDataLoss, reaper.AlarmFrozen, reaper.AlarmDrift, reaper.AlarmConservation, reaper.AlarmCapRefused,
	lifecycle.AlarmConflict, lifecycle.AlarmOwnership, lifecycle.AlarmReseed, lifecycle.AlarmGateUnknown, lifecycle.AlarmMismatch,
	lifecycle.AlarmForeign, lifecycle.AlarmUnattached, lifecycle.AlarmApplied, lifecycle.AlarmReadmit, reaper.AlarmAudit,
}

// dimension of a metric; there is at most one here.
type dimension struct {
	name  string
	value *string
}

// measured is one metric and when it is too much.
type measured struct {
	name, says        string
	namespace, metric string
	by                *dimension
	statistic         string
	period, periods   int // seconds, and how many in a row
	compare           string
	threshold         int
	missing           string
}

const (
	above, atLeast, below = "GreaterThanThreshold", "GreaterThanOrEqualToThreshold", "LessThanThreshold"
	fine, bad             = "notBreaching", "breaching"
)

// addAlarms makes one alarm for every row of the runbook in docs/operations.md;
// a test of the root module holds the two together.
func (s *Stack) addAlarms() {
	topic := awssns.NewCfnTopic(s.Stack, str("Alarms"), &awssns.CfnTopicProps{DisplayName: str("Holdfast"), KmsMasterKeyId: s.key.Ref()})
	email := awssns.NewCfnSubscription(s.Stack, str("AlarmsByEmail"), &awssns.CfnSubscriptionProps{TopicArn: topic.Ref(), Protocol: str("email"), Endpoint: s.alarmEmail.ValueAsString()})
	email.CfnOptions().SetCondition(s.hasAlarmEmail)
	s.countAlarmLines()
	for _, kind := range kinds {
		period := 60
		if kind == reaper.AlarmBreaker {
			period = 600 // it is raised every five minutes: between two the alarm stays
		}
		s.alarm(topic, measured{"holdfast-" + string(kind), "A process raised " + string(kind) + ": see the runbook.", namespace, "Alarms", &dimension{"kind", str(string(kind))}, "Sum", period, 1, above, 0, fine})
	}
	for _, m := range s.measures() {
		s.alarm(topic, m)
	}
	s.alarmUnavailable(topic)
	s.alarmReplicaLag(topic)
	s.addDashboard()
}

// countAlarmLines turns the log lines of lifecycle.Alarm into a metric by kind,
// the same for tasks and functions.
func (s *Stack) countAlarmLines() {
	groups := []string{ingressLogs, workerLogs, operatorLogs}
	for _, f := range s.functions() {
		groups = append(groups, "/holdfast/"+f.name+"-function")
	}
	ids := []string{"IngressLogs", "WorkerLogs", "OperatorLogs"}
	for _, f := range s.functions() {
		ids = append(ids, f.id+"Logs")
	}
	for i, group := range groups {
		filter := awslogs.NewCfnMetricFilter(s.Stack, str(ids[i]+"Alarms"), &awslogs.CfnMetricFilterProps{
			LogGroupName: str(group), FilterPattern: str(`{ $.msg = "alarm" }`),
			MetricTransformations: &[]any{&awslogs.CfnMetricFilter_MetricTransformationProperty{
				MetricNamespace: str(namespace), MetricName: str("Alarms"), MetricValue: str("1"),
				Dimensions: &[]any{&awslogs.CfnMetricFilter_DimensionProperty{Key: str("kind"), Value: str("$.kind")}},
			}},
		})
		filter.AddResourceDependency(s.Node().FindChild(str(ids[i])).(awslogs.CfnLogGroup), nil)
	}
	s.countShortAcknowledgements()
}

// countShortAcknowledgements counts the admissions that the replica did not
// acknowledge in time, by the line that the ingress writes for each, as a task or
// as a function.
func (s *Stack) countShortAcknowledgements() {
	for _, from := range []struct{ id, group string }{{"IngressLogs", ingressLogs}, {"IngressFunctionLogs", "/holdfast/" + ingressFunction + "-function"}} {
		s.countShort(from.id, from.group)
	}
}

func (s *Stack) countShort(id, group string) {
	filter := awslogs.NewCfnMetricFilter(s.Stack, str(id+"Short"), &awslogs.CfnMetricFilterProps{
		LogGroupName: str(group), FilterPattern: str(`{ $.msg = "admission failed" && $.err = "*not acknowledged*" }`),
		MetricTransformations: &[]any{&awslogs.CfnMetricFilter_MetricTransformationProperty{
			MetricNamespace: str(namespace), MetricName: str("ShortAcknowledgements"), MetricValue: str("1"),
		}},
	})
	filter.AddResourceDependency(s.Node().FindChild(str(id)).(awslogs.CfnLogGroup), nil)
}

func (s *Stack) measures() []measured {
	dead := &dimension{"QueueName", s.dead.AttrQueueName()}
	queue := &dimension{"QueueName", s.queue.AttrQueueName()}
	sweep := &dimension{"pass", str("sweep")}
	return []measured{
		{"holdfast-sweep_silent", "No sweep ended well for 3 minutes: seats of dead requests do not come back.", namespace, "Passes", sweep, "Sum", 60, 3, below, 1, bad},
		{"holdfast-pending_age", "An admission is unknown to the ledger for over 5 minutes (protocol.md 3.9 promises 3).", namespace, "PendingAge", nil, "Maximum", 60, 2, above, 300, fine},
		{"holdfast-sweep_left", "Sweeps leave work undone for a quarter of an hour: releases, undos or refunds are stuck.", namespace, "SweepLeft", nil, "Minimum", 300, 3, above, 0, fine},
		{"holdfast-refunds_stuck", "Refunds could not be brought on for half an hour: the gateway is away or refuses.", namespace, "RefundsFailed", nil, "Minimum", 300, 6, above, 0, fine},
		{"holdfast-gateway_unreachable", "The payment gateway has not answered for 3 minutes: bookings get 503, holds are put off.", namespace, "GatewayUnreachable", nil, "Minimum", 60, 3, above, 0, fine},
		{"holdfast-wait_short", "The replica does not acknowledge admissions in time: those candidates get 503.", namespace, "ShortAcknowledgements", nil, "Sum", 60, 2, above, 10, fine},
		{"holdfast-dead_letters", "Events that no retry could help.", "AWS/SQS", "ApproximateNumberOfMessagesVisible", dead, "Maximum", 60, 1, above, 0, fine},
		{"holdfast-queue_age", "The oldest event is 2 minutes old: workers are too few, or stuck.", "AWS/SQS", "ApproximateAgeOfOldestMessage", queue, "Maximum", 60, 2, above, 120, fine},
		{"holdfast-ingress_gone", "No ingress is ready.", "AWS/ApplicationELB", "HealthyHostCount", nil, "Minimum", 60, 2, below, 1, bad},
		{"holdfast-redis_memory", "Redis is 70 % full; at 100 % it refuses admissions.", "AWS/ElastiCache", "DatabaseMemoryUsagePercentage", &dimension{"ReplicationGroupId", str(redisID)}, "Maximum", 60, 3, above, 70, fine},
		{"holdfast-redis_cpu", "Redis's one thread is 80 % busy: see docs/capacity.md.", "AWS/ElastiCache", "EngineCPUUtilization", &dimension{"ReplicationGroupId", str(redisID)}, "Maximum", 60, 3, above, 80, fine},
		{"holdfast-ledger_throttled", "DynamoDB throttles writes: one partition is hot, or the table is new and cold.", "AWS/DynamoDB", "WriteThrottleEvents", &dimension{"TableName", s.ledgerName()}, "Sum", 60, 2, above, 0, fine},
		{"holdfast-sweep_errors", "Sweeps fail.", "AWS/Lambda", "Errors", &dimension{"FunctionName", str("holdfast-sweep")}, "Sum", 60, 3, above, 0, fine},
		{"holdfast-diff_errors", "Comparisons of Redis with the ledger fail.", "AWS/Lambda", "Errors", &dimension{"FunctionName", str("holdfast-diff")}, "Sum", 300, 2, above, 0, fine},
	}
}

func (s *Stack) alarm(topic awssns.CfnTopic, m measured) {
	props := &awscloudwatch.CfnAlarmProps{
		AlarmName: str(m.name), AlarmDescription: str(m.says), Namespace: str(m.namespace), MetricName: str(m.metric), Statistic: str(m.statistic),
		Period: num(m.period), EvaluationPeriods: num(m.periods), Threshold: num(m.threshold), ComparisonOperator: str(m.compare), TreatMissingData: str(m.missing),
		AlarmActions: &[]any{topic.Ref()}, OkActions: &[]any{topic.Ref()},
	}
	var dims []any
	if m.by != nil {
		dims = append(dims, &awscloudwatch.CfnAlarm_DimensionProperty{Name: str(m.by.name), Value: m.by.value})
	}
	if m.metric == "HealthyHostCount" {
		dims = s.balancerDimensions(s.target.AttrTargetGroupFullName())
	}
	if dims != nil {
		props.Dimensions = &dims
	}
	alarm := awscloudwatch.NewCfnAlarm(s.Stack, str(alarmID(m.name)), props)
	if m.metric == "HealthyHostCount" {
		alarm.CfnOptions().SetCondition(s.unless(s.ingressLambda)) // a function has no host
	}
}

func (s *Stack) balancerDimensions(target *string) []any {
	return []any{
		&awscloudwatch.CfnAlarm_DimensionProperty{Name: str("LoadBalancer"), Value: s.balancer.AttrLoadBalancerFullName()},
		&awscloudwatch.CfnAlarm_DimensionProperty{Name: str("TargetGroup"), Value: target},
	}
}

// alarmUnavailable looks at the share of answers that tell a candidate to come
// back: WAIT shortfalls, a queue or a gateway that is away all end there.
func (s *Stack) alarmUnavailable(topic awssns.CfnTopic) {
	of := func(id, metric string) any {
		dims := s.balancerDimensions(when(s.ingressLambda, *s.functionTarget.AttrTargetGroupFullName(), *s.target.AttrTargetGroupFullName()))
		return &awscloudwatch.CfnAlarm_MetricDataQueryProperty{Id: str(id), ReturnData: jsii.Bool(false), MetricStat: &awscloudwatch.CfnAlarm_MetricStatProperty{
			Metric: &awscloudwatch.CfnAlarm_MetricProperty{Namespace: str("AWS/ApplicationELB"), MetricName: str(metric), Dimensions: &dims}, Period: num(60), Stat: str("Sum"),
		}}
	}
	s.alarmExpression(topic, "holdfast-unavailable", "Over 5 % of answers are 5xx: /readyz of the ingress names the check that fails.", "100*FILL(failed,0)/all", 5, 2,
		of("failed", "HTTPCode_Target_5XX_Count"), of("all", "RequestCount"))
}

// alarmReplicaLag looks at both nodes: which of them is the replica changes.
// With durable writes the replica acknowledges nothing, and its lag is only that
// of reads nobody makes.
func (s *Stack) alarmReplicaLag(topic awssns.CfnTopic) {
	of := func(id, node string) any {
		return &awscloudwatch.CfnAlarm_MetricDataQueryProperty{Id: str(id), ReturnData: jsii.Bool(false), MetricStat: &awscloudwatch.CfnAlarm_MetricStatProperty{
			Metric: &awscloudwatch.CfnAlarm_MetricProperty{Namespace: str("AWS/ElastiCache"), MetricName: str("ReplicationLag"), Dimensions: &[]any{&awscloudwatch.CfnAlarm_DimensionProperty{Name: str("CacheClusterId"), Value: when(s.durable, redisID+"-0001-"+node, redisID+"-"+node)}}}, Period: num(60), Stat: str("Maximum"),
		}}
	}
	s.alarmExpression(topic, "holdfast-replica_lag", "The replica is 2 seconds behind: admissions wait for it and answer 503.", "MAX([FILL(first,0),FILL(second,0)])", 2, 2,
		of("first", "001"), of("second", "002"))
}

func (s *Stack) alarmExpression(topic awssns.CfnTopic, name, says, expression string, threshold, periods int, of ...any) {
	metrics := append([]any{&awscloudwatch.CfnAlarm_MetricDataQueryProperty{Id: str("judged"), Expression: str(expression), ReturnData: jsii.Bool(true)}}, of...)
	awscloudwatch.NewCfnAlarm(s.Stack, str(alarmID(name)), &awscloudwatch.CfnAlarmProps{
		AlarmName: str(name), AlarmDescription: str(says), Metrics: &metrics, EvaluationPeriods: num(periods), Threshold: num(threshold),
		ComparisonOperator: str(above), TreatMissingData: str(fine), AlarmActions: &[]any{topic.Ref()}, OkActions: &[]any{topic.Ref()},
	})
}
