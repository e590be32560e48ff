package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsecs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"
)

// stopSeconds is how long a task has between SIGTERM and SIGKILL: its own grace
// of 20 s, and as much again to write and to close.
const stopSeconds = 40

// Log groups, which the alarms read.
const (
	ingressLogs  = "/holdfast/ingress"
	workerLogs   = "/holdfast/worker"
	operatorLogs = "/holdfast/operator"
)

// addProcesses adds the long-running tasks, and the task of the command line,
// which is started by hand.
func (s *Stack) addProcesses() {
	cluster := awsecs.NewCfnCluster(s.Stack, str("Cluster"), &awsecs.CfnClusterProps{ClusterSettings: &[]any{&awsecs.CfnCluster_ClusterSettingsProperty{Name: str("containerInsights"), Value: str("enabled")}}})
	ingress := s.logs("IngressLogs", ingressLogs)
	worker := s.logs("WorkerLogs", workerLogs)
	operator := s.logs("OperatorLogs", operatorLogs)
	execution := s.executionRole(ingress.AttrArn(), worker.AttrArn(), operator.AttrArn()).AttrArn()

	serve := s.task("Ingress", "serve", 1024, 2048, execution, ingress, s.ingressGrants())
	work := s.task("Worker", "work", 512, 1024, execution, worker, s.workerGrants())
	s.task("Operator", "", 512, 1024, execution, operator, s.operatorGrants())

	workers := s.service("WorkerService", cluster, work, *s.workGroup.AttrGroupId(), s.workerTasks.ValueAsNumber())
	workers.CfnOptions().SetCondition(s.unless(s.workersLambda))
	s.workers = workers

	s.ingress = s.service("IngressService", cluster, serve, *s.ingressGroup.AttrGroupId(), s.ingressTasks.ValueAsNumber())
	s.ingress.SetLoadBalancers(&[]any{
		&awsecs.CfnService_LoadBalancerProperty{ContainerName: str("holdfast"), ContainerPort: num(publicPort), TargetGroupArn: s.target.Ref()},
		awscdk.Fn_ConditionIf(s.hasOperators.LogicalId(), map[string]any{"ContainerName": "holdfast", "ContainerPort": operatorPort, "TargetGroupArn": s.operatorTarget.Ref()}, awscdk.Fn_Ref(str("AWS::NoValue"))),
	})
	s.ingress.SetHealthCheckGracePeriodSeconds(num(60))
	s.ingress.AddResourceDependency(s.listener, nil)
	s.ingress.CfnOptions().SetCondition(s.unless(s.ingressLambda))
}

// upgradeWorkersFirst lets a deployment of a new build come to the ingresses only
// when its workers run: an old worker gives back what a newer ingress sends. A tag
// names the workers, because what depends on a condition can be waited for by a
// value alone; for the same reason one names the console's listener, without which
// no task can be behind it.
func (s *Stack) upgradeWorkersFirst(worker, ingress awslambda.CfnFunction) {
	after := &awscdk.CfnTag{Key: str("holdfast:workers"), Value: when(s.workersLambda, *worker.AttrArn(), *s.workers.AttrName())}
	ingress.Tags().SetTag(after.Key, after.Value, nil, nil)
	s.ingress.Tags().SetTag(after.Key, after.Value, nil, nil)
	s.ingress.Tags().SetTag(str("holdfast:console"), when(s.hasOperators, *s.operatorListener.Ref(), "none"), nil, nil)
}

// service keeps tasks running in both zones. A deployment starts the new ones
// before it stops the old, and goes back by itself if they do not get healthy.
func (s *Stack) service(id string, cluster awsecs.CfnCluster, task awsecs.CfnTaskDefinition, group string, count *float64) awsecs.CfnService {
	return awsecs.NewCfnService(s.Stack, str(id), &awsecs.CfnServiceProps{
		Cluster: cluster.AttrArn(), TaskDefinition: task.Ref(), DesiredCount: count, LaunchType: str("FARGATE"), EnableExecuteCommand: jsii.Bool(false),
		NetworkConfiguration: &awsecs.CfnService_NetworkConfigurationProperty{AwsvpcConfiguration: &awsecs.CfnService_AwsVpcConfigurationProperty{
			AssignPublicIp: str("DISABLED"), Subnets: &s.privateSubnets, SecurityGroups: &[]*string{&group},
		}},
		DeploymentConfiguration: &awsecs.CfnService_DeploymentConfigurationProperty{
			MinimumHealthyPercent: num(100), MaximumPercent: num(200),
			DeploymentCircuitBreaker: &awsecs.CfnService_DeploymentCircuitBreakerProperty{Enable: jsii.Bool(true), Rollback: jsii.Bool(true)},
		},
	})
}

// task is one role of the program in a container that can't write its own disk,
// with so many units of processor (1024 are one) and MB of memory if tasks are
// large.
func (s *Stack) task(id, command string, cpu, memory int, execution *string, logs awslogs.CfnLogGroup, grants []grant) awsecs.CfnTaskDefinition {
	container := &awsecs.CfnTaskDefinition_ContainerDefinitionProperty{
		Name: str("holdfast"), Image: s.image.ValueAsString(), Essential: jsii.Bool(true), StopTimeout: num(stopSeconds),
		ReadonlyRootFilesystem: jsii.Bool(true), User: str("65532:65532"),
		Environment: s.containerEnvironment(), Secrets: s.containerSecrets(command != "work"),
		LinuxParameters:  &awsecs.CfnTaskDefinition_LinuxParametersProperty{InitProcessEnabled: jsii.Bool(false), Capabilities: &awsecs.CfnTaskDefinition_KernelCapabilitiesProperty{Drop: strs("ALL")}},
		LogConfiguration: &awsecs.CfnTaskDefinition_LogConfigurationProperty{LogDriver: str("awslogs"), Options: map[string]*string{"awslogs-group": logs.Ref(), "awslogs-region": awscdk.Fn_Ref(str("AWS::Region")), "awslogs-stream-prefix": str("holdfast"), "mode": str("non-blocking")}},
	}
	if command != "" {
		container.Command = strs(command)
	}
	if command == "serve" {
		container.PortMappings = &[]any{
			&awsecs.CfnTaskDefinition_PortMappingProperty{ContainerPort: num(publicPort), Protocol: str("tcp")},
			&awsecs.CfnTaskDefinition_PortMappingProperty{ContainerPort: num(operatorPort), Protocol: str("tcp")},
		}
	}
	return awsecs.NewCfnTaskDefinition(s.Stack, str(id+"Task"), &awsecs.CfnTaskDefinitionProps{
		Family: str("holdfast-" + lower(id)), Cpu: when(s.smallTasks, *text(cpu / 2), *text(cpu)), Memory: when(s.smallTasks, *text(memory / 2), *text(memory)), NetworkMode: str("awsvpc"), RequiresCompatibilities: strs("FARGATE"),
		RuntimePlatform:  &awsecs.CfnTaskDefinition_RuntimePlatformProperty{CpuArchitecture: str("ARM64"), OperatingSystemFamily: str("LINUX")},
		ExecutionRoleArn: execution, TaskRoleArn: s.role(id+"Role", "ecs-tasks.amazonaws.com", grants...).AttrArn(),
		ContainerDefinitions: &[]any{container},
	})
}
