package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
)

// What the code does with the table and the queues. A transaction needs the
// permissions of its parts; there is no action of its own for it.
const (
	tableRead  = "dynamodb:GetItem dynamodb:BatchGetItem dynamodb:Query dynamodb:DescribeTable"
	tableScan  = "dynamodb:Scan"
	tableCheck = "dynamodb:DescribeContinuousBackups" // holdfast preflight
	tableWrite = "dynamodb:PutItem dynamodb:UpdateItem dynamodb:DeleteItem dynamodb:ConditionCheckItem dynamodb:BatchWriteItem"

	queueFind    = "sqs:GetQueueUrl sqs:GetQueueAttributes"
	queueSend    = "sqs:SendMessage"
	queueReceive = "sqs:ReceiveMessage sqs:DeleteMessage sqs:ChangeMessageVisibility"
)

func (s *Stack) onTable(actions string) grant {
	arn := func(tail string) *string {
		text := "arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/${Name}" + tail
		return awscdk.Fn_Sub(&text, &map[string]*string{"Name": s.ledgerName()})
	}
	return grant{actions, []*string{arn(""), arn("/index/" + dueIndex)}}
}

func (s *Stack) onQueue(actions string) grant { return grant{actions, []*string{s.queue.AttrArn()}} }

func (s *Stack) onDead(actions string) grant { return grant{actions, []*string{s.dead.AttrArn()}} }

// ingressGrants: takes bookings, and carries the operators' API.
func (s *Stack) ingressGrants() []grant {
	return []grant{s.onTable(tableRead + " " + tableScan + " " + tableWrite), s.onQueue(queueFind + " " + queueSend), s.onDead(queueFind)}
}

// workerGrants: takes events, and parks what can't be handled.
func (s *Stack) workerGrants() []grant {
	return []grant{s.onTable(tableRead + " " + tableWrite), s.onQueue(queueFind + " " + queueReceive + " " + queueSend), s.onDead(queueFind + " " + queueSend)}
}

// healGrants: sweeps and comparisons write releases and publish what was lost.
func (s *Stack) healGrants() []grant {
	return []grant{s.onTable(tableRead + " " + tableScan + " " + tableWrite), s.onQueue(queueFind + " " + queueSend), s.onDead(queueFind)}
}

// operatorGrants: everything that the command line does, dead letters included.
func (s *Stack) operatorGrants() []grant {
	move := " sqs:StartMessageMoveTask sqs:ListMessageMoveTasks sqs:CancelMessageMoveTask"
	return []grant{
		s.onTable(tableRead + " " + tableScan + " " + tableWrite + " " + tableCheck),
		s.onQueue(queueFind + " " + queueReceive + " " + queueSend),
		s.onDead(queueFind + " " + queueReceive + move),
	}
}

// executionRole is what ECS itself needs to start a task: the image, its logs
// and the secrets. The processes never hold it.
func (s *Stack) executionRole(logs ...*string) awsiam.CfnRole {
	return s.role("ExecutionRole", "ecs-tasks.amazonaws.com",
		grant{"ecr:GetAuthorizationToken", []*string{str("*")}}, // takes no resource
		grant{"ecr:BatchGetImage ecr:GetDownloadUrlForLayer", []*string{sub("arn:${AWS::Partition}:ecr:${AWS::Region}:${AWS::AccountId}:repository/holdfast*")}},
		grant{"logs:CreateLogStream logs:PutLogEvents", logs},
		grant{"secretsmanager:GetSecretValue", []*string{s.hashSecret.Ref(), s.operatorToken.Ref(), s.redisToken.Ref(), s.gatewayKs.Ref(), s.reportKey.Ref()}},
		grant{"kms:Decrypt", []*string{s.key.AttrArn()}},
	)
}
