package stack

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awselasticloadbalancingv2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsscheduler"
)

// A function of the zip; HOLDFAST_FUNCTION picks which.
type function struct {
	id, name string
	memory   int
	timeout  time.Duration
	every    string // its schedule; "" if something else calls it
	grants   []grant
}

const (
	workerFunction  = "worker"
	ingressFunction = "ingress"
)

func (s *Stack) functions() []function {
	return []function{
		{"WorkerFunction", workerFunction, 512, workerFunctionTimeout, "", s.workerGrants()},
		{"IngressFunction", ingressFunction, 1024, 30 * time.Second, "", s.ingressGrants()},
		{"SweepFunction", "sweep", 512, 2 * time.Minute, "rate(1 minute)", s.healGrants()},
		{"DiffFunction", "diff", 1024, 5 * time.Minute, "rate(5 minutes)", s.healGrants()},
		{"AuditFunction", "audit", 1024, 15 * time.Minute, "rate(1 day)", []grant{s.onTable(tableRead + " " + tableScan), s.onQueue(queueFind), s.onDead(queueFind)}},
	}
}

func (s *Stack) addFunctions() {
	var worker, ingress awslambda.CfnFunction
	for _, f := range s.functions() {
		switch made := s.function(f); f.name {
		case workerFunction:
			s.triggerByQueue(made)
			worker = made
		case ingressFunction:
			s.triggerByBalancer(made)
			ingress = made
		default:
			s.schedule(f, made)
		}
	}
	s.upgradeWorkersFirst(worker, ingress)
}

// triggerByQueue lets the queue call the worker. Groups stop at their first
// failure, and only what failed comes again.
func (s *Stack) triggerByQueue(worker awslambda.CfnFunction) {
	mapping := awslambda.NewCfnEventSourceMapping(s.Stack, str("QueueTrigger"), &awslambda.CfnEventSourceMappingProps{
		FunctionName: worker.Ref(), EventSourceArn: s.queue.AttrArn(), BatchSize: num(10), FunctionResponseTypes: strs("ReportBatchItemFailures"),
		ScalingConfig: &awslambda.CfnEventSourceMapping_ScalingConfigProperty{MaximumConcurrency: num(50)},
	})
	mapping.CfnOptions().SetCondition(s.workersLambda)
}

// triggerByBalancer lets the balancer's own target group call the ingress, and
// nobody else. The permission comes first: a group that may not call its target
// can't be made.
func (s *Stack) triggerByBalancer(ingress awslambda.CfnFunction) {
	may := awslambda.NewCfnPermission(s.Stack, str("IngressFunctionFromBalancer"), &awslambda.CfnPermissionProps{
		FunctionName: ingress.AttrArn(), Action: str("lambda:InvokeFunction"), Principal: str("elasticloadbalancing.amazonaws.com"),
		SourceAccount: awscdk.Fn_Ref(str("AWS::AccountId")),
		SourceArn:     sub("arn:${AWS::Partition}:elasticloadbalancing:${AWS::Region}:${AWS::AccountId}:targetgroup/" + functionTargets + "/*"),
	})
	may.CfnOptions().SetCondition(s.ingressLambda)
	s.functionTarget.SetTargets(&[]any{&awselasticloadbalancingv2.CfnTargetGroup_TargetDescriptionProperty{Id: ingress.AttrArn()}})
	s.functionTarget.AddResourceDependency(may, nil)
}

func (s *Stack) function(f function) awslambda.CfnFunction {
	logs := s.logs(f.id+"Logs", "/holdfast/"+f.name+"-function")
	role := s.role(f.id+"Role", "lambda.amazonaws.com", append(f.grants,
		grant{"logs:CreateLogStream logs:PutLogEvents", []*string{logs.AttrArn()}},
		grant{"kms:Decrypt", []*string{s.key.AttrArn()}},
		// Interfaces in the network belong to no resource until they are made.
		grant{"ec2:CreateNetworkInterface ec2:DescribeNetworkInterfaces ec2:DescribeSubnets ec2:DeleteNetworkInterface ec2:AssignPrivateIpAddresses ec2:UnassignPrivateIpAddresses", []*string{str("*")}},
	)...)
	return awslambda.NewCfnFunction(s.Stack, str(f.id), &awslambda.CfnFunctionProps{
		FunctionName: str("holdfast-" + f.name), Description: str("Holdfast: " + f.name),
		Runtime: str("provided.al2023"), Handler: str("bootstrap"), Architectures: strs("arm64"), MemorySize: num(f.memory), Timeout: seconds(f.timeout),
		Code: &awslambda.CfnFunction_CodeProperty{S3Bucket: s.codeBucket.ValueAsString(), S3Key: s.codeKey.ValueAsString()},
		Role: role.AttrArn(), KmsKeyArn: s.key.AttrArn(),
		Environment:   &awslambda.CfnFunction_EnvironmentProperty{Variables: s.functionEnvironment(f.name)},
		LoggingConfig: &awslambda.CfnFunction_LoggingConfigProperty{LogGroup: logs.Ref()},
		VpcConfig:     &awslambda.CfnFunction_VpcConfigProperty{SubnetIds: &s.privateSubnets, SecurityGroupIds: &[]*string{s.workGroup.AttrGroupId()}},
	})
}

// schedule calls a function with an input of our own: no sale named means all.
// The scheduler delivers at least once, and a pass that is missed is made up by
// the next, so it does not retry.
func (s *Stack) schedule(f function, made awslambda.CfnFunction) {
	role := s.role(f.id+"SchedulerRole", "scheduler.amazonaws.com", grant{"lambda:InvokeFunction", []*string{made.AttrArn()}})
	awsscheduler.NewCfnSchedule(s.Stack, str(f.id+"Schedule"), &awsscheduler.CfnScheduleProps{
		Name: str("holdfast-" + f.name), ScheduleExpression: str(f.every), FlexibleTimeWindow: &awsscheduler.CfnSchedule_FlexibleTimeWindowProperty{Mode: str("OFF")},
		Target: &awsscheduler.CfnSchedule_TargetProperty{Arn: made.AttrArn(), RoleArn: role.AttrArn(), Input: str(`{"sales":[]}`),
			RetryPolicy: &awsscheduler.CfnSchedule_RetryPolicyProperty{MaximumRetryAttempts: num(0), MaximumEventAgeInSeconds: num(60)}},
	})
	// Nor does Lambda, for the same reason.
	awslambda.NewCfnEventInvokeConfig(s.Stack, str(f.id+"NoRetry"), &awslambda.CfnEventInvokeConfigProps{
		FunctionName: made.Ref(), Qualifier: str("$LATEST"), MaximumRetryAttempts: num(0), MaximumEventAgeInSeconds: num(60),
	})
}
