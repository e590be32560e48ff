package stack_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/assertions"
	"github.com/aws/jsii-runtime-go"
	"github.com/cdklabs/cdk-nag-go/cdknag/v2"

	"github.com/holdfast/holdfast/infra/stack"
)

func TestMain(m *testing.M) {
	code := m.Run()
	jsii.Close()
	os.Exit(code)
}

// TestTheTemplateIsTheCheckedInOne: two syntheses are the same to the byte, and
// the same as what a deployment takes.
func TestTheTemplateIsTheCheckedInOne(t *testing.T) {
	first, err := stack.Synth()
	if err != nil {
		t.Fatal(err)
	}
	second, err := stack.Synth()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, second) {
		t.Error("two syntheses differ")
	}
	checkedIn, err := os.ReadFile("../template.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, checkedIn) {
		t.Error("infra/template.json is not what the code says: run make infra-synth and commit it")
	}
}

func template(t *testing.T) assertions.Template {
	t.Helper()
	app := awscdk.NewApp(&awscdk.AppProps{Outdir: jsii.String(t.TempDir()), AnalyticsReporting: jsii.Bool(false)})
	return assertions.Template_FromStack(stack.New(app).Stack, nil)
}

// TestNothingIsPublic: no address, bucket or group of ours can be reached but
// through CloudFront.
func TestNothingIsPublic(t *testing.T) {
	tpl := template(t)
	tpl.AllResourcesProperties(jsii.String("AWS::ElasticLoadBalancingV2::LoadBalancer"), map[string]any{"Scheme": "internal"})
	tpl.AllResourcesProperties(jsii.String("AWS::S3::Bucket"), map[string]any{"PublicAccessBlockConfiguration": map[string]any{
		"BlockPublicAcls": true, "BlockPublicPolicy": true, "IgnorePublicAcls": true, "RestrictPublicBuckets": true,
	}})
	tpl.AllResourcesProperties(jsii.String("AWS::ECS::Service"), map[string]any{"NetworkConfiguration": map[string]any{"AwsvpcConfiguration": map[string]any{"AssignPublicIp": "DISABLED"}}})
	for id, group := range *tpl.FindResources(jsii.String("AWS::EC2::SecurityGroupIngress"), nil) {
		rule := (*group)["Properties"].(map[string]any)
		if from, ok := rule["CidrIp"]; ok && from != "10.42.0.0/16" && id != "BalancerFromOperators" { // which takes private networks only
			t.Errorf("%s lets in %v", id, from)
		}
	}
}

// TestTasksCanNotChangeThemselves: no root, no capability, no writable disk.
func TestTasksCanNotChangeThemselves(t *testing.T) {
	template(t).AllResourcesProperties(jsii.String("AWS::ECS::TaskDefinition"), map[string]any{"ContainerDefinitions": []any{
		assertions.Match_ObjectLike(&map[string]any{"User": "65532:65532", "ReadonlyRootFilesystem": true, "LinuxParameters": map[string]any{"Capabilities": map[string]any{"Drop": []any{"ALL"}}, "InitProcessEnabled": false}}),
	}})
}

// allowed are the findings of AwsSolutions that we live with, and why.
var allowed = []struct{ id, why string }{
	{"AwsSolutions-IAM5", "ec2:*NetworkInterface, ecr:GetAuthorizationToken take no resource; the repository pattern is holdfast*"},
	{"AwsSolutions-SMG4", "the hash secret must not rotate (every roster would be unreadable); the others are replaced by a deployment"},
	{"AwsSolutions-ELB2", "the ingress logs requests; access logs would hold candidates' addresses"},
	{"AwsSolutions-CFR3", "access logs would hold candidates' addresses"},
	{"AwsSolutions-CFR4", "the default certificate fixes the policy; with a domain of your own set TLSv1.2_2021"},
	{"AwsSolutions-S1", "the bucket holds one public page"},
	{"AwsSolutions-ECS2", "what is in the environment is no secret; secrets come from Secrets Manager"},
}

// TestNag: every finding of cdk-nag that is not in allowed is a failure.
func TestNag(t *testing.T) {
	app := awscdk.NewApp(&awscdk.AppProps{Outdir: jsii.String(t.TempDir()), AnalyticsReporting: jsii.Bool(false)})
	s := stack.New(app)
	var suppressions []*cdknag.NagPackSuppression
	for _, a := range allowed {
		suppressions = append(suppressions, &cdknag.NagPackSuppression{Id: jsii.String(a.id), Reason: jsii.String(a.why)})
	}
	cdknag.NagSuppressions_AddStackSuppressions(s.Stack, &suppressions, nil)
	awscdk.Aspects_Of(app).Add(cdknag.NewAwsSolutionsChecks(&cdknag.NagPackProps{Verbose: jsii.Bool(true)}), nil)
	found := assertions.Annotations_FromStack(s.Stack)
	for _, m := range *found.FindError(jsii.String("*"), assertions.Match_StringLikeRegexp(jsii.String("AwsSolutions-.*"))) {
		t.Errorf("%s: %v", *m.Id, fmt.Sprint(m.Entry.Data))
	}
}

// TestNagHasTeeth: without our list, the checks do find what it names.
func TestNagHasTeeth(t *testing.T) {
	app := awscdk.NewApp(&awscdk.AppProps{Outdir: jsii.String(t.TempDir()), AnalyticsReporting: jsii.Bool(false)})
	s := stack.New(app)
	awscdk.Aspects_Of(app).Add(cdknag.NewAwsSolutionsChecks(&cdknag.NagPackProps{Verbose: jsii.Bool(true)}), nil)
	found := map[string]bool{}
	for _, m := range *assertions.Annotations_FromStack(s.Stack).FindError(jsii.String("*"), assertions.Match_StringLikeRegexp(jsii.String("AwsSolutions-.*"))) {
		id, _, _ := strings.Cut(fmt.Sprint(m.Entry.Data), ":")
		id, _, _ = strings.Cut(id, "[") // IAM5 names its resource
		found[id] = true
	}
	if len(found) == 0 {
		t.Fatal("the checks find nothing at all: do they run?")
	}
	for _, a := range allowed {
		if !found[a.id] {
			t.Errorf("%s is allowed and not found: take it off the list", a.id)
		}
	}
}
