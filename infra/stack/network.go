package stack

import (
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"
)

// Addresses of the network. Everything but the NAT gateways is in private
// subnets; the ingress takes these as its trusted proxies.
const (
	networkRange = "10.42.0.0/16"
	zones        = 2
	// Ports of the processes.
	publicPort, operatorPort, redisPort = 8080, 8081, 6379
)

type network struct {
	vpc                     awsec2.CfnVPC
	privateSubnets          []*string
	balancerGroup           awsec2.CfnSecurityGroup
	ingressGroup, workGroup awsec2.CfnSecurityGroup
	redisGroup              awsec2.CfnSecurityGroup
}

// addNetwork lays two zones, each with a public subnet for its NAT gateway and
// a private one for everything else. NAT is needed in any case: ingress,
// workers and sweeps call payment gateways on the internet. Table and bucket
// have gateway endpoints, which cost nothing; an interface endpoint for the
// queue costs more than the NAT traffic that it saves below some 400 GB a month
// (docs/capacity.md).
func (s *Stack) addNetwork() {
	s.vpc = awsec2.NewCfnVPC(s.Stack, str("Vpc"), &awsec2.CfnVPCProps{CidrBlock: str(networkRange), EnableDnsHostnames: jsii.Bool(true), EnableDnsSupport: jsii.Bool(true), Tags: s.named("")})
	gateway := awsec2.NewCfnInternetGateway(s.Stack, str("InternetGateway"), &awsec2.CfnInternetGatewayProps{Tags: s.named("")})
	attached := awsec2.NewCfnVPCGatewayAttachment(s.Stack, str("InternetAttachment"), &awsec2.CfnVPCGatewayAttachmentProps{VpcId: s.vpc.Ref(), InternetGatewayId: gateway.Ref()})
	out := awsec2.NewCfnRouteTable(s.Stack, str("PublicRoutes"), &awsec2.CfnRouteTableProps{VpcId: s.vpc.Ref(), Tags: s.named(" public")})
	awsec2.NewCfnRoute(s.Stack, str("PublicRoute"), &awsec2.CfnRouteProps{RouteTableId: out.Ref(), DestinationCidrBlock: str("0.0.0.0/0"), GatewayId: gateway.Ref()}).AddResourceDependency(attached, nil)

	var tables []*string
	for i := range zones {
		tables = append(tables, s.addZone(i, out, attached))
	}
	for _, service := range []string{"dynamodb", "s3"} {
		awsec2.NewCfnVPCEndpoint(s.Stack, str("Endpoint"+service), &awsec2.CfnVPCEndpointProps{
			VpcId: s.vpc.Ref(), VpcEndpointType: str("Gateway"), RouteTableIds: anys(tables),
			ServiceName: sub("com.amazonaws.${AWS::Region}." + service),
		})
	}
	s.addGroups()
	s.addFlowLog()
}

// addZone adds a zone and returns its private route table.
func (s *Stack) addZone(i int, out awsec2.CfnRouteTable, attached awscdk.CfnResource) *string {
	zone := awscdk.Fn_Select(num(i), awscdk.Fn_GetAzs(nil))
	id := func(what string) *string { return str(fmt.Sprintf("%s%d", what, i+1)) }
	public := awsec2.NewCfnSubnet(s.Stack, id("PublicSubnet"), &awsec2.CfnSubnetProps{VpcId: s.vpc.Ref(), AvailabilityZone: zone, CidrBlock: str(fmt.Sprintf("10.42.%d.0/24", i)), Tags: s.named(fmt.Sprintf(" public %d", i+1))})
	awsec2.NewCfnSubnetRouteTableAssociation(s.Stack, id("PublicRoutesOf"), &awsec2.CfnSubnetRouteTableAssociationProps{SubnetId: public.Ref(), RouteTableId: out.Ref()})
	address := awsec2.NewCfnEIP(s.Stack, id("NatAddress"), &awsec2.CfnEIPProps{Domain: str("vpc")})
	address.AddResourceDependency(attached, nil)
	nat := awsec2.NewCfnNatGateway(s.Stack, id("Nat"), &awsec2.CfnNatGatewayProps{SubnetId: public.Ref(), AllocationId: address.AttrAllocationId(), Tags: s.named(fmt.Sprintf(" %d", i+1))})

	private := awsec2.NewCfnSubnet(s.Stack, id("PrivateSubnet"), &awsec2.CfnSubnetProps{VpcId: s.vpc.Ref(), AvailabilityZone: zone, CidrBlock: str(fmt.Sprintf("10.42.%d.0/20", 16*(i+1))), Tags: s.named(fmt.Sprintf(" private %d", i+1))})
	routes := awsec2.NewCfnRouteTable(s.Stack, id("PrivateRoutes"), &awsec2.CfnRouteTableProps{VpcId: s.vpc.Ref(), Tags: s.named(fmt.Sprintf(" private %d", i+1))})
	awsec2.NewCfnSubnetRouteTableAssociation(s.Stack, id("PrivateRoutesOf"), &awsec2.CfnSubnetRouteTableAssociationProps{SubnetId: private.Ref(), RouteTableId: routes.Ref()})
	awsec2.NewCfnRoute(s.Stack, id("PrivateRoute"), &awsec2.CfnRouteProps{RouteTableId: routes.Ref(), DestinationCidrBlock: str("0.0.0.0/0"), NatGatewayId: nat.Ref()})
	s.privateSubnets = append(s.privateSubnets, private.Ref())
	return routes.Ref()
}

// addGroups lets each part reach only its next one: CloudFront the balancer,
// the balancer the ingress, processes Redis. Workers and functions accept
// nothing.
func (s *Stack) addGroups() {
	group := func(id, says string) awsec2.CfnSecurityGroup {
		return awsec2.NewCfnSecurityGroup(s.Stack, str(id), &awsec2.CfnSecurityGroupProps{GroupDescription: str(says), VpcId: s.vpc.Ref(), Tags: s.named("")})
	}
	s.balancerGroup = group("BalancerGroup", "The internal load balancer: CloudFront reaches it through its interfaces in this network.")
	s.ingressGroup = group("IngressGroup", "Ingress tasks: only the load balancer reaches them.")
	s.workGroup = group("WorkGroup", "Workers, functions and operators: nothing reaches them.")
	s.redisGroup = group("RedisGroup", "Redis: only the processes reach it.")

	awsec2.NewCfnSecurityGroupIngress(s.Stack, str("BalancerFromNetwork"), &awsec2.CfnSecurityGroupIngressProps{
		GroupId: s.balancerGroup.AttrGroupId(), IpProtocol: str("tcp"), FromPort: num(80), ToPort: num(80), CidrIp: str(networkRange), Description: str("interfaces of the CloudFront VPC origin"),
	})
	allow := func(id string, to, from awsec2.CfnSecurityGroup, port int) {
		awsec2.NewCfnSecurityGroupIngress(s.Stack, str(id), &awsec2.CfnSecurityGroupIngressProps{
			GroupId: to.AttrGroupId(), SourceSecurityGroupId: from.AttrGroupId(), IpProtocol: str("tcp"), FromPort: num(port), ToPort: num(port), Description: str(id),
		})
	}
	allow("IngressFromBalancer", s.ingressGroup, s.balancerGroup, publicPort)
	allow("IngressHealthFromBalancer", s.ingressGroup, s.balancerGroup, operatorPort)
	allow("RedisFromIngress", s.redisGroup, s.ingressGroup, redisPort)
	allow("RedisFromWork", s.redisGroup, s.workGroup, redisPort)
}

func (s *Stack) addFlowLog() {
	logs := awslogs.NewCfnLogGroup(s.Stack, str("FlowLogs"), &awslogs.CfnLogGroupProps{RetentionInDays: num(30)})
	role := s.role("FlowLogRole", "vpc-flow-logs.amazonaws.com", grant{"logs:CreateLogStream logs:PutLogEvents logs:DescribeLogStreams", []*string{logs.AttrArn()}})
	awsec2.NewCfnFlowLog(s.Stack, str("FlowLog"), &awsec2.CfnFlowLogProps{
		ResourceId: s.vpc.Ref(), ResourceType: str("VPC"), TrafficType: str("REJECT"),
		LogDestinationType: str("cloud-watch-logs"), LogGroupName: logs.Ref(), DeliverLogsPermissionArn: role.AttrArn(),
	})
}

func (s *Stack) named(suffix string) *[]*awscdk.CfnTag {
	return &[]*awscdk.CfnTag{{Key: str("Name"), Value: str("holdfast" + suffix)}}
}

// grant is a statement of a role: actions, separated by blanks, on resources.
type grant struct {
	actions   string
	resources []*string
}

// role makes a role that one service may take, with exactly these grants.
func (s *Stack) role(id, service string, grants ...grant) awsiam.CfnRole {
	return awsiam.NewCfnRole(s.Stack, str(id), &awsiam.CfnRoleProps{
		AssumeRolePolicyDocument: document(statement{"Action": "sts:AssumeRole", "Effect": "Allow", "Principal": map[string]any{"Service": service}}),
		Policies:                 &[]any{&awsiam.CfnRole_PolicyProperty{PolicyName: str("holdfast"), PolicyDocument: document(statements(grants)...)}},
	})
}
