// Package stack is a Holdfast deployment on AWS as CDK constructs. It uses the
// plain CloudFormation resources (L1) on purpose: what is written here is what
// the template says, with no custom resource and no bootstrap stack behind it,
// and two syntheses are the same to the byte.
package stack

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsecs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

// Name is the stack's logical name; a deployment may choose another.
const Name = "Holdfast"

// Stack is the deployment. Its fields are what later parts refer to.
type Stack struct {
	awscdk.Stack
	parameters
	network
	keys
	stores
	queues
	edge
	ingress, workers awsecs.CfnService
}

// New adds the stack to an app.
func New(app constructs.Construct) *Stack {
	s := &Stack{Stack: awscdk.NewStack(app, str(Name), &awscdk.StackProps{
		Description:        str("Holdfast: sells a fixed number of seats, each exactly once, to a crowd that arrives in the same second."),
		AnalyticsReporting: jsii.Bool(false),
		Synthesizer: awscdk.NewDefaultStackSynthesizer(&awscdk.DefaultStackSynthesizerProps{
			GenerateBootstrapVersionRule: jsii.Bool(false),
		}),
	})}
	s.addParameters()
	s.addNetwork()
	s.addKeys()
	s.addQueues()
	s.addTable()
	s.addRedis()
	s.addEdge()
	s.addProcesses()
	s.addFunctions()
	s.addAlarms()
	s.addOutputs()
	return s
}

// Synth returns the template. It needs node on the PATH.
func Synth() ([]byte, error) {
	dir, err := os.MkdirTemp("", "holdfast-synth-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	app := awscdk.NewApp(&awscdk.AppProps{Outdir: &dir, AnalyticsReporting: jsii.Bool(false), TreeMetadata: jsii.Bool(false)})
	New(app)
	app.Synth(nil)
	body, err := os.ReadFile(filepath.Join(dir, Name+".template.json"))
	if err != nil {
		return nil, fmt.Errorf("read the synthesized template: %w", err)
	}
	return append(body, '\n'), nil
}

func (s *Stack) addOutputs() {
	for _, o := range []struct{ name, says, value string }{
		{"Address", "Where candidates go.", *s.publicURL()},
		{"Table", "The ledger.", *s.table.Ref()},
		{"Queue", "The queue of events.", *s.queue.Ref()},
		{"DeadLetterQueue", "What no retry could help.", *s.dead.Ref()},
		{"OperatorTokenSecret", "Holds the bearer token of /admin.", *s.operatorToken.Ref()},
	} {
		awscdk.NewCfnOutput(s.Stack, str(o.name+"Out"), &awscdk.CfnOutputProps{Description: str(o.says), Value: str(o.value)})
	}
	awscdk.NewCfnOutput(s.Stack, str("ConsoleOut"), &awscdk.CfnOutputProps{Description: str("Where operators go, from their network."),
		Value: sub(fmt.Sprintf("http://${Balancer.DNSName}:%d/console", operatorPort)), Condition: s.hasOperators})
}

func str(v string) *string { return &v }

func strs(v ...string) *[]*string {
	out := make([]*string, len(v))
	for i := range v {
		out[i] = &v[i]
	}
	return &out
}

// anys is a list of texts where CDK takes texts or references to resources.
func anys(v []*string) *[]any {
	out := make([]any, len(v))
	for i := range v {
		out[i] = v[i]
	}
	return &out
}

func num(n int) *float64 { return jsii.Number(n) }

func sub(text string) *string { return awscdk.Fn_Sub(&text, nil) }

// when is a text that depends on a condition.
func when(c awscdk.CfnCondition, yes, no string) *string {
	return awscdk.Token_AsString(awscdk.Fn_ConditionIf(c.LogicalId(), yes, no), nil)
}

// whenNumber is a number that depends on a condition.
func whenNumber(c awscdk.CfnCondition, yes, no int) *float64 {
	return awscdk.Token_AsNumber(awscdk.Fn_ConditionIf(c.LogicalId(), yes, no))
}
