package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
)

// parameters are what differs between deployments, and what follows from it.
type parameters struct {
	codeBucket, codeKey, image   awscdk.CfnParameter
	nodeType                     awscdk.CfnParameter
	ingressTasks, workerTasks    awscdk.CfnParameter
	gateway, sandboxURL          awscdk.CfnParameter
	rateLimit, alarmEmail        awscdk.CfnParameter
	ledgerTable, operatorNetwork awscdk.CfnParameter

	durable       awscdk.CfnCondition // Redis itself writes to two zones before it answers
	workersLambda awscdk.CfnCondition // the queue triggers a function; no worker tasks
	ingressLambda awscdk.CfnCondition // the balancer calls a function; no ingress tasks
	hasPublicURL  awscdk.CfnCondition
	hasAlarmEmail awscdk.CfnCondition
	smallTasks    awscdk.CfnCondition // half of the processors and memory
	restored      awscdk.CfnCondition // the ledger is a table that was restored, not the stack's own
	hasOperators  awscdk.CfnCondition // a network of operators reaches the console
}

type parameter struct {
	name, kind, otherwise, says string
	choices                     []string
	pattern                     string
}

func (s *Stack) addParameter(p parameter) awscdk.CfnParameter {
	props := &awscdk.CfnParameterProps{Type: str(p.kind), Description: str(p.says)}
	if p.kind == "" {
		props.Type = str("String")
	}
	if p.otherwise != required {
		props.Default = p.otherwise
	}
	if len(p.choices) > 0 {
		props.AllowedValues = strs(p.choices...)
	}
	if p.pattern != "" {
		props.AllowedPattern = str(p.pattern)
	}
	return awscdk.NewCfnParameter(s.Stack, str(p.name), props)
}

// privateNetwork is nothing, or a range of addresses that the internet has not.
const privateNetwork = `^$|^(10\.[0-9.]+|172\.(1[6-9]|2[0-9]|3[01])\.[0-9.]+|192\.168\.[0-9.]+)/[0-9]{1,2}$`

// ownTable stands for the stack's own table. It is too short for a table's name.
const ownTable = "-"

// required stands for a parameter without a default.
const required = "\x00"

func (s *Stack) addParameters() {
	add := func(name, otherwise, says string, choices ...string) awscdk.CfnParameter {
		return s.addParameter(parameter{name: name, otherwise: otherwise, says: says, choices: choices})
	}
	s.codeBucket = add("CodeBucket", required, "Bucket in this region that holds the functions' zip.")
	s.codeKey = add("CodeKey", required, "Key of the zip that make package wrote; every build has its own key, or CloudFormation sees no change.")
	s.image = add("Image", required, "Container image of holdfast for linux/arm64, by digest.")
	durability := add("RedisDurability", "replica", "replica: each admission waits for the replica (WAIT). durable: ElastiCache for Valkey 9 with synchronous durable writes, WAIT is off. Change it only between sales, then run holdfast rebuild.", "replica", "durable")
	s.nodeType = add("RedisNodeType", "cache.r7g.large", "durable needs a family that supports it (r7g, m7g, r8g, m8g); replica also runs on cache.t4g.small.")
	workers := add("Workers", "fargate", "What handles events: long-running tasks, or a function that the queue triggers.", "fargate", "lambda")
	ingress := add("Ingress", "fargate", "What takes bookings: long-running tasks, or, for small or rare sales, a function that the load balancer calls; then seats are not streamed, admissions not grouped, and operators have the command line only.", "fargate", "lambda")
	s.ingressTasks = s.addParameter(parameter{name: "IngressTasks", kind: "Number", otherwise: "2", says: "Ingress tasks if Ingress is fargate, spread over two zones."})
	s.workerTasks = s.addParameter(parameter{name: "WorkerTasks", kind: "Number", otherwise: "2", says: "Worker tasks if Workers is fargate."})
	taskSize := add("TaskSize", "large", "large: 1 CPU and 2 GB for an ingress task, half of it for a worker. small: half of each.", "large", "small")
	publicURL := add("PublicUrl", "", "The address that candidates use, without a final slash. Empty: the CloudFront distribution's own.")
	s.gateway = add("Gateway", "page", "HOLDFAST_GATEWAY: the gateway at which new bookings pay.")
	s.sandboxURL = add("SandboxUrl", "", "HOLDFAST_SANDBOX_URL: the sandbox gateway, for rehearsals only.")
	s.rateLimit = s.addParameter(parameter{name: "RateLimit", kind: "Number", otherwise: "3000", says: "Requests of one client address in a minute before WAF blocks it. A school behind one address needs room."})
	s.alarmEmail = add("AlarmEmail", "", "Who hears of alarms. Empty: nobody is subscribed to the topic.")

	s.ledgerTable = add("LedgerTable", ownTable, "The table that every process uses: the stack's own, or the name of one that was restored from a backup.")
	s.operatorNetwork = s.addParameter(parameter{name: "OperatorNetwork", pattern: privateNetwork,
		says: "A private network, such as that of a VPN, from which operators reach the console on port 8081 of the balancer. Empty: nobody does."})

	s.durable = s.condition("Durable", awscdk.Fn_ConditionEquals(durability.ValueAsString(), "durable"))
	s.workersLambda = s.condition("WorkersAreLambda", awscdk.Fn_ConditionEquals(workers.ValueAsString(), "lambda"))
	s.ingressLambda = s.condition("IngressIsLambda", awscdk.Fn_ConditionEquals(ingress.ValueAsString(), "lambda"))
	s.hasPublicURL = s.condition("HasPublicUrl", awscdk.Fn_ConditionNot(awscdk.Fn_ConditionEquals(publicURL.ValueAsString(), "")))
	s.smallTasks = s.condition("TasksAreSmall", awscdk.Fn_ConditionEquals(taskSize.ValueAsString(), "small"))
	s.restored = s.condition("LedgerIsRestored", awscdk.Fn_ConditionNot(awscdk.Fn_ConditionEquals(s.ledgerTable.ValueAsString(), ownTable)))
	s.hasOperators = s.condition("HasOperators", awscdk.Fn_ConditionAnd(
		awscdk.Fn_ConditionNot(awscdk.Fn_ConditionEquals(s.operatorNetwork.ValueAsString(), "")), awscdk.Fn_ConditionNot(s.ingressLambda)))
	s.hasAlarmEmail = s.condition("HasAlarmEmail", awscdk.Fn_ConditionNot(awscdk.Fn_ConditionEquals(s.alarmEmail.ValueAsString(), "")))
}

func (s *Stack) condition(name string, e awscdk.ICfnConditionExpression) awscdk.CfnCondition {
	return awscdk.NewCfnCondition(s.Stack, str(name), &awscdk.CfnConditionProps{Expression: e})
}

// unless is the opposite of a condition, made once.
func (s *Stack) unless(c awscdk.CfnCondition) awscdk.CfnCondition {
	name := "Not" + *c.Node().Id()
	if found := s.Node().TryFindChild(&name); found != nil {
		return found.(awscdk.CfnCondition)
	}
	return s.condition(name, awscdk.Fn_ConditionNot(c))
}

// publicURL is where candidates go.
func (s *Stack) publicURL() *string {
	own := sub("https://${Distribution.DomainName}")
	return when(s.hasPublicURL, *awscdk.Fn_Ref(str("PublicUrl")), *own)
}
