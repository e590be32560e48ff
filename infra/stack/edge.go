package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudfront"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awselasticloadbalancingv2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/aws-cdk-go/awscdk/v2/awswafv2"
	"github.com/aws/jsii-runtime-go"
)

// CloudFront's managed policies, the same in every account.
const (
	cachingDisabled    = "4135ea2d-6df8-44a3-9df3-4b5a84be39ad"
	cachingOptimized   = "658327ea-f89d-4fab-a63d-7e88639e58f6"
	originCacheHeaders = "83da9c7e-98b4-4e11-a168-04f0df8e2c65"
	allViewer          = "216adef6-5c7f-47e4-b989-5492eafa07d3"
)

// clientHeader carries the address that CloudFront saw, whatever the client
// itself claims in X-Forwarded-For.
const clientHeader = "x-holdfast-client"

// drainSeconds is how long the balancer lets running requests end before a task
// is told to stop: the ingress's own grace.
const drainSeconds = 20

// functionTargets is the name of the target group whose target is a function; the
// function's permission names it.
const functionTargets = "holdfast-ingress-function"

type edge struct {
	target         awselasticloadbalancingv2.CfnTargetGroup // of tasks
	functionTarget awselasticloadbalancingv2.CfnTargetGroup // of the ingress as a function
	operatorTarget awselasticloadbalancingv2.CfnTargetGroup // of the tasks' console
	// listener is what the service waits for: a target group without one can't
	// take tasks.
	listener, operatorListener awselasticloadbalancingv2.CfnListener
	balancer                   awselasticloadbalancingv2.CfnLoadBalancer
	distribution               awscloudfront.CfnDistribution
	pages                      awss3.CfnBucket
}

// addEdge puts CloudFront, with its certificate, before a load balancer that
// has no public address. The way in is one: candidate, CloudFront, its
// interface in our network, balancer, ingress; so every hop before the ingress
// but the candidate is in networkRange, which makes X-Forwarded-For provable.
func (s *Stack) addEdge() {
	s.addBalancer()
	s.addOperatorDoor()
	s.addFirewall()
	s.addPages()
	s.addDistribution()
}

func (s *Stack) addBalancer() {
	s.balancer = awselasticloadbalancingv2.NewCfnLoadBalancer(s.Stack, str("Balancer"), &awselasticloadbalancingv2.CfnLoadBalancerProps{
		Scheme: str("internal"), Type: str("application"), Subnets: anys(s.privateSubnets), SecurityGroups: &[]any{s.balancerGroup.AttrGroupId()},
		LoadBalancerAttributes: &[]any{
			&awselasticloadbalancingv2.CfnLoadBalancer_LoadBalancerAttributeProperty{Key: str("routing.http.drop_invalid_header_fields.enabled"), Value: str("true")},
			&awselasticloadbalancingv2.CfnLoadBalancer_LoadBalancerAttributeProperty{Key: str("routing.http.xff_header_processing.mode"), Value: str("append")},
			&awselasticloadbalancingv2.CfnLoadBalancer_LoadBalancerAttributeProperty{Key: str("deletion_protection.enabled"), Value: str("true")},
		},
	})
	s.target = s.tasksAt("IngressTargets", publicPort)
	s.functionTarget = awselasticloadbalancingv2.NewCfnTargetGroup(s.Stack, str("IngressFunctionTargets"), &awselasticloadbalancingv2.CfnTargetGroupProps{
		Name: str(functionTargets), TargetType: str("lambda"), HealthCheckEnabled: jsii.Bool(false), // a check is a call that costs
		TargetGroupAttributes: &[]any{attributeOf("lambda.multi_value_headers.enabled", "true")},
	})
	s.functionTarget.CfnOptions().SetCondition(s.ingressLambda)
	s.listener = awselasticloadbalancingv2.NewCfnListener(s.Stack, str("Listener"), &awselasticloadbalancingv2.CfnListenerProps{
		LoadBalancerArn: s.balancer.Ref(), Port: num(80), Protocol: str("HTTP"),
		DefaultActions: &[]any{&awselasticloadbalancingv2.CfnListener_ActionProperty{Type: str("forward"), TargetGroupArn: s.target.Ref()}},
	})
	// A rule, and not the listener's own action: the function knows the address of the
	// distribution, which waits for the listener.
	rule := awselasticloadbalancingv2.NewCfnListenerRule(s.Stack, str("ToIngressFunction"), &awselasticloadbalancingv2.CfnListenerRuleProps{
		ListenerArn: s.listener.Ref(), Priority: num(1),
		Conditions: &[]any{&awselasticloadbalancingv2.CfnListenerRule_RuleConditionProperty{Field: str("path-pattern"), Values: strs("/*")}},
		Actions:    &[]any{&awselasticloadbalancingv2.CfnListenerRule_ActionProperty{Type: str("forward"), TargetGroupArn: s.functionTarget.Ref()}},
	})
	rule.CfnOptions().SetCondition(s.ingressLambda)
}

// tasksAt are the ingress tasks at one of their ports. Whether one is ready it says
// at its operators' port.
func (s *Stack) tasksAt(id string, port int) awselasticloadbalancingv2.CfnTargetGroup {
	return awselasticloadbalancingv2.NewCfnTargetGroup(s.Stack, str(id), &awselasticloadbalancingv2.CfnTargetGroupProps{
		VpcId: s.vpc.Ref(), TargetType: str("ip"), Protocol: str("HTTP"), Port: num(port),
		HealthCheckPort: text(operatorPort), HealthCheckPath: str("/readyz"), HealthCheckIntervalSeconds: num(5), HealthCheckTimeoutSeconds: num(3),
		HealthyThresholdCount: num(2), UnhealthyThresholdCount: num(2),
		TargetGroupAttributes: &[]any{
			attributeOf("deregistration_delay.timeout_seconds", drainSeconds),
			attributeOf("load_balancing.algorithm.type", "least_outstanding_requests"),
		},
	})
}

// addOperatorDoor lets operators of one private network reach the console; the
// way of candidates does not lead there.
func (s *Stack) addOperatorDoor() {
	s.operatorTarget = s.tasksAt("OperatorTargets", operatorPort)
	s.operatorListener = awselasticloadbalancingv2.NewCfnListener(s.Stack, str("OperatorListener"), &awselasticloadbalancingv2.CfnListenerProps{
		LoadBalancerArn: s.balancer.Ref(), Port: num(operatorPort), Protocol: str("HTTP"),
		DefaultActions: &[]any{&awselasticloadbalancingv2.CfnListener_ActionProperty{Type: str("forward"), TargetGroupArn: s.operatorTarget.Ref()}},
	})
	door := awsec2.NewCfnSecurityGroupIngress(s.Stack, str("BalancerFromOperators"), &awsec2.CfnSecurityGroupIngressProps{
		GroupId: s.balancerGroup.AttrGroupId(), IpProtocol: str("tcp"), FromPort: num(operatorPort), ToPort: num(operatorPort), CidrIp: s.operatorNetwork.ValueAsString(), Description: str("operators"),
	})
	for _, r := range []awscdk.CfnResource{s.operatorTarget, s.operatorListener, door} {
		r.CfnOptions().SetCondition(s.hasOperators)
	}
}

func attributeOf(key string, value any) any {
	return &awselasticloadbalancingv2.CfnTargetGroup_TargetGroupAttributeProperty{Key: str(key), Value: text(value)}
}

// addFirewall blocks an address that asks far more than a person. It counts by
// clientHeader: WAF would take the first address of X-Forwarded-For, which is
// whatever the client wrote there.
func (s *Stack) addFirewall() {
	visible := func(name string) *awswafv2.CfnWebACL_VisibilityConfigProperty {
		return &awswafv2.CfnWebACL_VisibilityConfigProperty{CloudWatchMetricsEnabled: jsii.Bool(true), SampledRequestsEnabled: jsii.Bool(false), MetricName: str(name)}
	}
	acl := awswafv2.NewCfnWebACL(s.Stack, str("Firewall"), &awswafv2.CfnWebACLProps{
		Scope: str("REGIONAL"), DefaultAction: &awswafv2.CfnWebACL_DefaultActionProperty{Allow: &awswafv2.CfnWebACL_AllowActionProperty{}},
		VisibilityConfig: visible("holdfast"),
		Rules: &[]any{&awswafv2.CfnWebACL_RuleProperty{
			Name: str("rate"), Priority: num(0), VisibilityConfig: visible("holdfast-rate"),
			Action: &awswafv2.CfnWebACL_RuleActionProperty{Block: &awswafv2.CfnWebACL_BlockActionProperty{
				CustomResponse: &awswafv2.CfnWebACL_CustomResponseProperty{ResponseCode: num(429)},
			}},
			Statement: &awswafv2.CfnWebACL_StatementProperty{RateBasedStatement: &awswafv2.CfnWebACL_RateBasedStatementProperty{
				AggregateKeyType: str("CUSTOM_KEYS"), Limit: s.rateLimit.ValueAsNumber(), EvaluationWindowSec: num(60),
				CustomKeys: &[]any{&awswafv2.CfnWebACL_RateBasedStatementCustomKeyProperty{Header: &awswafv2.CfnWebACL_RateLimitHeaderProperty{
					Name: str(clientHeader), TextTransformations: &[]any{&awswafv2.CfnWebACL_TextTransformationProperty{Priority: num(0), Type: str("NONE")}},
				}}},
			}},
		}},
	})
	awswafv2.NewCfnWebACLAssociation(s.Stack, str("FirewallOfBalancer"), &awswafv2.CfnWebACLAssociationProps{ResourceArn: s.balancer.Ref(), WebAclArn: acl.AttrArn()})
}

// addPages makes the bucket of what is shown while no ingress answers: upload
// outage/index.html and, if you like, the last status of a sale.
func (s *Stack) addPages() {
	s.pages = awss3.NewCfnBucket(s.Stack, str("Pages"), &awss3.CfnBucketProps{
		PublicAccessBlockConfiguration: &awss3.CfnBucket_PublicAccessBlockConfigurationProperty{BlockPublicAcls: jsii.Bool(true), BlockPublicPolicy: jsii.Bool(true), IgnorePublicAcls: jsii.Bool(true), RestrictPublicBuckets: jsii.Bool(true)},
		BucketEncryption: &awss3.CfnBucket_BucketEncryptionProperty{ServerSideEncryptionConfiguration: &[]any{
			&awss3.CfnBucket_ServerSideEncryptionRuleProperty{ServerSideEncryptionByDefault: &awss3.CfnBucket_ServerSideEncryptionByDefaultProperty{SseAlgorithm: str("AES256")}},
		}},
		OwnershipControls: &awss3.CfnBucket_OwnershipControlsProperty{Rules: &[]any{&awss3.CfnBucket_OwnershipControlsRuleProperty{ObjectOwnership: str("BucketOwnerEnforced")}}},
	})
	s.pages.ApplyRemovalPolicy(awscdk.RemovalPolicy_RETAIN, nil)
	awss3.NewCfnBucketPolicy(s.Stack, str("PagesPolicy"), &awss3.CfnBucketPolicyProps{Bucket: s.pages.Ref(), PolicyDocument: document(
		statement{"Sid": "OnlyThisDistribution", "Effect": "Allow", "Principal": map[string]any{"Service": "cloudfront.amazonaws.com"}, "Action": "s3:GetObject", "Resource": sub("${Pages.Arn}/*"),
			"Condition": map[string]any{"StringEquals": map[string]any{"AWS:SourceArn": sub("arn:${AWS::Partition}:cloudfront::${AWS::AccountId}:distribution/${Distribution}")}}},
		statement{"Sid": "OnlyTls", "Effect": "Deny", "Principal": "*", "Action": "s3:*", "Resource": []any{sub("${Pages.Arn}"), sub("${Pages.Arn}/*")},
			"Condition": map[string]any{"Bool": map[string]any{"aws:SecureTransport": "false"}}},
	)})
}
