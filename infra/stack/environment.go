package stack

import (
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsecs"

	"github.com/holdfast/holdfast/events"
)

type variable struct {
	name  string
	value *string
}

// environment is the configuration that every process has, in a fixed order.
// docs/operations.md has the meaning of each.
func (s *Stack) environment() []variable {
	address := when(s.durable, *s.redis.AttrConfigurationEndPointAddress(), *s.redis.AttrPrimaryEndPointAddress())
	return []variable{
		{"HOLDFAST_REDIS_MODE", when(s.durable, "cluster", "single")},
		{"HOLDFAST_REDIS_ADDRS", awscdk.Fn_Join(str(":"), &[]*string{address, text(redisPort)})},
		{"HOLDFAST_REDIS_TLS", str("true")},
		{"HOLDFAST_REDIS_REPLICAS", when(s.durable, "0", "1")},
		{"HOLDFAST_REDIS_ALLOW_UNACKNOWLEDGED", when(s.durable, "true", "false")},
		{"HOLDFAST_TABLE", s.ledgerName()},
		{"HOLDFAST_QUEUE", str(events.QueueName)},
		{"HOLDFAST_DEAD_LETTER_QUEUE", str(events.DeadQueueName)},
		{"HOLDFAST_LISTEN", str("0.0.0.0:" + *text(publicPort))},
		{"HOLDFAST_OPERATOR_LISTEN", str("0.0.0.0:" + *text(operatorPort))},
		{"HOLDFAST_PUBLIC_URL", s.publicURL()},
		{"HOLDFAST_TRUSTED_PROXIES", str(networkRange)},
		{"HOLDFAST_GATEWAY", s.gateway.ValueAsString()},
		{"HOLDFAST_SANDBOX_URL", s.sandboxURL.ValueAsString()},
	}
}

// secret is a variable that comes from a secret, whole or one field of it.
type secret struct {
	name  string
	arn   *string
	field string
}

func (s *Stack) secrets() []secret {
	return []secret{
		{"HOLDFAST_SECRET", s.hashSecret.Ref(), ""},
		{"HOLDFAST_OPERATOR_TOKEN", s.operatorToken.Ref(), ""},
		{"HOLDFAST_REDIS_PASSWORD", s.redisToken.Ref(), ""},
		{"HOLDFAST_SANDBOX_APP_KEY", s.gatewayKs.Ref(), "app_key"},
		{"HOLDFAST_SANDBOX_APP_SECRET", s.gatewayKs.Ref(), "app_secret"},
		{"HOLDFAST_SANDBOX_WEBHOOK_SECRET", s.gatewayKs.Ref(), "webhook_secret"},
	}
}

func (s *Stack) containerEnvironment() *[]any {
	out := []any{&awsecs.CfnTaskDefinition_KeyValuePairProperty{Name: str("AWS_REGION"), Value: awscdk.Fn_Ref(str("AWS::Region"))}}
	for _, v := range s.environment() {
		out = append(out, &awsecs.CfnTaskDefinition_KeyValuePairProperty{Name: str(v.name), Value: v.value})
	}
	return &out
}

// containerSecrets are what ECS puts into a container at its start. Whoever may
// make a report (signs) has the key for it, too.
func (s *Stack) containerSecrets(signs bool) *[]any {
	list := s.secrets()
	if signs {
		list = append(list, secret{"HOLDFAST_REPORT_KEY", s.reportKey.Ref(), ""})
	}
	var out []any
	for _, v := range list {
		from := v.arn
		if v.field != "" {
			from = awscdk.Fn_Join(str(""), &[]*string{v.arn, str(":" + v.field + "::")})
		}
		out = append(out, &awsecs.CfnTaskDefinition_SecretProperty{Name: str(v.name), ValueFrom: from})
	}
	return &out
}

// functionEnvironment holds the secrets themselves, encrypted with our key:
// Lambda has no way to take them from Secrets Manager at start (docs/security.md
// says who can read them there). CloudFormation writes the map sorted by name.
func (s *Stack) functionEnvironment(function string) map[string]*string {
	out := map[string]*string{"HOLDFAST_FUNCTION": str(function)}
	for _, v := range s.environment() {
		out[v.name] = v.value
	}
	for _, v := range s.secrets() {
		out[v.name] = s.secretValue(v.arn, v.field)
	}
	return out
}

func lower(v string) string { return strings.ToLower(v) }
