package stack

import (
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudfront"
	"github.com/aws/jsii-runtime-go"
)

const (
	originIngress = "ingress"
	originPages   = "pages"
)

// addDistribution caches what the ingress allows to be cached (status.json for
// a second, a sale's page for half a minute, its files for a year) and passes
// everything else on. The map of seats and its stream are never cached: a viewer
// must not be kept waiting for the end of another one's stream.
// The longest booking takes less than originTimeout seconds.
func (s *Stack) addDistribution() {
	const originTimeout = 30
	origin := awscloudfront.NewCfnVpcOrigin(s.Stack, str("IngressOrigin"), &awscloudfront.CfnVpcOriginProps{
		VpcOriginEndpointConfig: &awscloudfront.CfnVpcOrigin_VpcOriginEndpointConfigProperty{Arn: s.balancer.Ref(), Name: str("holdfast-ingress"), HttpPort: num(80), OriginProtocolPolicy: str("http-only")},
	})
	origin.AddResourceDependency(s.listener, nil)
	control := awscloudfront.NewCfnOriginAccessControl(s.Stack, str("PagesAccess"), &awscloudfront.CfnOriginAccessControlProps{
		OriginAccessControlConfig: &awscloudfront.CfnOriginAccessControl_OriginAccessControlConfigProperty{Name: str("holdfast-pages"), OriginAccessControlOriginType: str("s3"), SigningBehavior: str("always"), SigningProtocol: str("sigv4")},
	})
	client := awscloudfront.NewCfnFunction(s.Stack, str("ClientAddress"), &awscloudfront.CfnFunctionProps{
		Name: str("holdfast-client-address"), AutoPublish: jsii.Bool(true), FunctionCode: str(clientAddress),
		FunctionConfig: &awscloudfront.CfnFunction_FunctionConfigProperty{Comment: str("Says who asks, whatever they claim"), Runtime: str("cloudfront-js-2.0")},
	})
	s.distribution = awscloudfront.NewCfnDistribution(s.Stack, str("Distribution"), &awscloudfront.CfnDistributionProps{DistributionConfig: &awscloudfront.CfnDistribution_DistributionConfigProperty{
		Enabled: jsii.Bool(true), HttpVersion: str("http2and3"), Ipv6Enabled: jsii.Bool(false), PriceClass: str("PriceClass_All"), Comment: str("Holdfast"),
		ViewerCertificate: &awscloudfront.CfnDistribution_ViewerCertificateProperty{CloudFrontDefaultCertificate: jsii.Bool(true)},
		Origins: &[]any{
			&awscloudfront.CfnDistribution_OriginProperty{Id: str(originIngress), DomainName: s.balancer.AttrDnsName(), VpcOriginConfig: &awscloudfront.CfnDistribution_VpcOriginConfigProperty{VpcOriginId: origin.AttrId(), OriginReadTimeout: num(originTimeout), OriginKeepaliveTimeout: num(60)}},
			&awscloudfront.CfnDistribution_OriginProperty{Id: str(originPages), DomainName: s.pages.AttrRegionalDomainName(), OriginAccessControlId: control.AttrId(), S3OriginConfig: &awscloudfront.CfnDistribution_S3OriginConfigProperty{OriginAccessIdentity: str("")}},
		},
		DefaultCacheBehavior: &awscloudfront.CfnDistribution_DefaultCacheBehaviorProperty{
			TargetOriginId: str(originIngress), ViewerProtocolPolicy: str("redirect-to-https"), Compress: jsii.Bool(true),
			AllowedMethods: allMethods(),
			CachePolicyId:  str(cachingDisabled), OriginRequestPolicyId: str(allViewer), FunctionAssociations: s.associated(client),
		},
		CacheBehaviors: &[]any{
			s.cached("/sales/*/status.json", originIngress, originCacheHeaders, allViewer, client),
			s.cached("/assets/*", originIngress, originCacheHeaders, allViewer, client),
			s.cached("/outage/*", originPages, cachingOptimized, "", client),
			s.posted("/sales/*/seats*", cachingDisabled, client),
			s.posted("/sales/*", originCacheHeaders, client), // the page: a crowd that loads it anew stops here
		},
		// 502 and 504 are CloudFront's own words for "nobody is there". 503 is ours
		// and means: come back with the same key; it is passed on as it is.
		// What else fails is asked again at once: by itself an edge would answer all
		// who come in the next ten seconds with one failure.
		CustomErrorResponses: &[]any{outage(502), outage(504), notKept(404), notKept(500), notKept(503)},
	}})
}

// clientAddress overwrites the header that the firewall counts by.
var clientAddress = fmt.Sprintf(`function handler(event) {
  var request = event.request;
  request.headers['%s'] = { value: event.viewer.ip };
  return request;
}
`, clientHeader)

func (s *Stack) associated(f awscloudfront.CfnFunction) *[]any {
	return &[]any{&awscloudfront.CfnDistribution_FunctionAssociationProperty{EventType: str("viewer-request"), FunctionArn: f.AttrFunctionMetadataFunctionArn()}}
}

func (s *Stack) cached(path, origin, cache, request string, f awscloudfront.CfnFunction) any {
	b := &awscloudfront.CfnDistribution_CacheBehaviorProperty{
		PathPattern: str(path), TargetOriginId: str(origin), ViewerProtocolPolicy: str("redirect-to-https"), Compress: jsii.Bool(true),
		AllowedMethods: strs("GET", "HEAD"), CachePolicyId: str(cache), FunctionAssociations: s.associated(f),
	}
	if request != "" {
		b.OriginRequestPolicyId = str(request)
	}
	return b
}

// posted is for addresses that also take bookings: what is posted always passes.
func (s *Stack) posted(path, cache string, f awscloudfront.CfnFunction) any {
	return &awscloudfront.CfnDistribution_CacheBehaviorProperty{
		PathPattern: str(path), TargetOriginId: str(originIngress), ViewerProtocolPolicy: str("redirect-to-https"), Compress: jsii.Bool(true),
		AllowedMethods: allMethods(), CachePolicyId: str(cache), OriginRequestPolicyId: str(allViewer), FunctionAssociations: s.associated(f),
	}
}

func allMethods() *[]*string {
	return strs("GET", "HEAD", "OPTIONS", "PUT", "PATCH", "POST", "DELETE")
}

func notKept(code int) any {
	return &awscloudfront.CfnDistribution_CustomErrorResponseProperty{ErrorCode: num(code), ErrorCachingMinTtl: num(0)}
}

func outage(code int) any {
	return &awscloudfront.CfnDistribution_CustomErrorResponseProperty{ErrorCode: num(code), ResponseCode: num(503), ResponsePagePath: str("/outage/index.html"), ErrorCachingMinTtl: num(1)}
}
