package holdfast_test

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTemplateCachesThePage: a crowd that loads a sale's page anew stops at the
// edge, what is booked passes it, and no viewer of the seats waits for another
// one's stream. The first pattern that fits counts.
func TestTemplateCachesThePage(t *testing.T) {
	const never = "4135ea2d-6df8-44a3-9df3-4b5a84be39ad" // AWS's policy CachingDisabled
	config := readTemplate(t).props(t, "Distribution", "AWS::CloudFront::Distribution")["DistributionConfig"].(map[string]any)
	of := func(address string) map[string]any {
		for _, b := range config["CacheBehaviors"].([]any) {
			pattern := strings.ReplaceAll(regexp.QuoteMeta(b.(map[string]any)["PathPattern"].(string)), `\*`, ".*")
			if regexp.MustCompile("^" + pattern + "$").MatchString(address) {
				return b.(map[string]any)
			}
		}
		return config["DefaultCacheBehavior"].(map[string]any)
	}
	for address, cached := range map[string]bool{
		"/sales/spring": true, "/sales/spring/status.json": true, "/assets/common.js": true,
		"/sales/spring/seats": false, "/sales/spring/seats/stream": false, "/bookings/B1": false, "/holds/H1": false, "/payments/page/return": false,
	} {
		if got := of(address)["CachePolicyId"] != never; got != cached {
			t.Errorf("%s is cached: %v", address, got)
		}
	}
	for _, address := range []string{"/sales/spring/bookings", "/sales/spring/holds", "/webhooks/page"} {
		if methods := each(of(address)["AllowedMethods"]); !slices.Contains(methods, any("POST")) {
			t.Errorf("nothing can be posted to %s: %v", address, methods)
		}
	}
	for _, r := range config["CustomErrorResponses"].([]any) {
		if r := r.(map[string]any); r["ErrorCachingMinTTL"].(float64) > 1 {
			t.Errorf("an edge answers all with one %v for %v s", r["ErrorCode"], r["ErrorCachingMinTTL"])
		}
	}
	if n := len(config["CustomErrorResponses"].([]any)); n != 5 {
		t.Errorf("%d failures are kept as short as can be, not 404, 500, 502, 503, 504", n)
	}
}

// TestTemplateUpgradesWorkersFirst: an old worker gives back the events of a newer
// ingress, so no ingress is replaced before the workers are.
func TestTemplateUpgradesWorkersFirst(t *testing.T) {
	d := readTemplate(t)
	if waits := references(d.Resources["IngressService"].Properties["Tags"]); !slices.Contains(waits, "OperatorListener") {
		t.Errorf("tasks are put behind a listener that may not be there yet; they wait for %v", waits)
	}
	for _, ingress := range []string{"IngressService", "IngressFunction"} {
		waits := references(d.Resources[ingress].Properties["Tags"])
		for _, worker := range []string{"WorkerService", "WorkerFunction"} {
			if !slices.Contains(waits, worker) {
				t.Errorf("%s does not wait for %s, only for %v", ingress, worker, waits)
			}
		}
	}
}

// TestTemplateTakesARestoredTable: one parameter moves every process, right and
// figure to a table that was restored.
func TestTemplateTakesARestoredTable(t *testing.T) {
	d := readTemplate(t)
	name := map[string]any{"Fn::If": []any{"LedgerIsRestored", map[string]any{"Ref": "LedgerTable"}, map[string]any{"Ref": "Table"}}}
	env := d.props(t, "SweepFunction", "AWS::Lambda::Function")["Environment"].(map[string]any)["Variables"].(map[string]any)
	if !reflect.DeepEqual(env["HOLDFAST_TABLE"], name) {
		t.Errorf("functions use the table %v", env["HOLDFAST_TABLE"])
	}
	for _, id := range []string{"IngressTask", "WorkerTask", "OperatorTask"} {
		if got := variables(d, t, id, "Environment")["HOLDFAST_TABLE"]; !reflect.DeepEqual(got, name) {
			t.Errorf("%s uses the table %v", id, got)
		}
	}
	rights := 0
	for id, r := range d.Resources {
		if r.Type != "AWS::IAM::Role" {
			continue
		}
		for _, p := range r.Properties["Policies"].([]any) {
			for _, s := range p.(map[string]any)["PolicyDocument"].(map[string]any)["Statement"].([]any) {
				if s := s.(map[string]any); strings.Contains(fmt.Sprint(s["Action"]), "dynamodb:") {
					rights++
					for _, on := range each(s["Resource"]) {
						if !strings.Contains(fmt.Sprint(on), fmt.Sprint(name)) {
							t.Errorf("%s may use %v", id, on)
						}
					}
				}
			}
		}
	}
	if rights < 7 {
		t.Errorf("only %d roles use a table", rights)
	}
	for _, id := range []string{"LedgerThrottledAlarm", "Dashboard"} {
		if !strings.Contains(fmt.Sprint(d.Resources[id].Properties), fmt.Sprint(name)) {
			t.Errorf("%s looks at another table", id)
		}
	}
}

// TestTemplateLetsOperatorsIn: the console is reached from one private network, if
// one is named, and candidates' way does not lead there.
func TestTemplateLetsOperatorsIn(t *testing.T) {
	d := readTemplate(t)
	for _, id := range []string{"OperatorTargets", "OperatorListener", "BalancerFromOperators"} {
		if got := d.Resources[id].Condition; got != "HasOperators" {
			t.Errorf("%s is made if %q", id, got)
		}
	}
	door := d.props(t, "BalancerFromOperators", "AWS::EC2::SecurityGroupIngress")
	listener := d.props(t, "OperatorListener", "AWS::ElasticLoadBalancingV2::Listener")
	target := d.props(t, "OperatorTargets", "AWS::ElasticLoadBalancingV2::TargetGroup")
	if !reflect.DeepEqual(door["CidrIp"], map[string]any{"Ref": "OperatorNetwork"}) || door["FromPort"] != 8081.0 || listener["Port"] != 8081.0 || target["Port"] != 8081.0 {
		t.Errorf("the door is %v, %v, %v", door, listener["Port"], target["Port"])
	}
	if balancers := fmt.Sprint(d.props(t, "IngressService", "AWS::ECS::Service")["LoadBalancers"]); !strings.Contains(balancers, "OperatorTargets") {
		t.Errorf("no task is behind the door: %s", balancers)
	}
	pattern := regexp.MustCompile(d.Parameters["OperatorNetwork"]["AllowedPattern"].(string))
	for network, ok := range map[string]bool{"": true, "10.42.0.0/16": true, "172.20.1.0/24": true, "192.168.0.0/16": true, "0.0.0.0/0": false, "172.32.0.0/16": false, "203.0.113.0/24": false, "10.0.0.0": false} {
		if pattern.MatchString(network) != ok {
			t.Errorf("operators at %q: %v", network, !ok)
		}
	}
	for _, b := range d.props(t, "Distribution", "AWS::CloudFront::Distribution")["DistributionConfig"].(map[string]any)["Origins"].([]any) {
		if strings.Contains(fmt.Sprint(b), "8081") {
			t.Errorf("candidates reach the operators' port: %v", b)
		}
	}
}

// TestTemplateSignsReports: who makes reports has the deployment's key, and nobody
// else has.
func TestTemplateSignsReports(t *testing.T) {
	d := readTemplate(t)
	for id, signs := range map[string]bool{"IngressTask": true, "OperatorTask": true, "WorkerTask": false} {
		if got := variables(d, t, id, "Secrets")["HOLDFAST_REPORT_KEY"] != nil; got != signs {
			t.Errorf("%s has the key: %v", id, got)
		}
	}
	for id, r := range d.Resources {
		if r.Type == "AWS::Lambda::Function" && strings.Contains(fmt.Sprint(r.Properties), "REPORT_KEY") {
			t.Errorf("%s has the key in its environment", id)
		}
	}
	if d.Resources["ReportKey"].DeletionPolicy != "Retain" {
		t.Error("the key is lost with the stack")
	}
}

// variables are what a task's container gets, by name.
func variables(d deployment, t *testing.T, id, kind string) map[string]any {
	t.Helper()
	out := map[string]any{}
	for _, v := range d.props(t, id, "AWS::ECS::TaskDefinition")["ContainerDefinitions"].([]any)[0].(map[string]any)[kind].([]any) {
		v := v.(map[string]any)
		out[v["Name"].(string)] = v[map[string]string{"Environment": "Value", "Secrets": "ValueFrom"}[kind]]
	}
	return out
}
