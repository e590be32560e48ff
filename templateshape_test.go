package holdfast_test

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTemplateHasOneIngress: tasks or a function, by the one parameter. The function
// is called by its target group and by nobody else, which has to be allowed first,
// and has the rights of the tasks.
func TestTemplateHasOneIngress(t *testing.T) {
	d := readTemplate(t)
	for id, want := range map[string]string{"IngressService": "NotIngressIsLambda", "IngressGoneAlarm": "NotIngressIsLambda",
		"IngressFunctionTargets": "IngressIsLambda", "IngressFunctionFromBalancer": "IngressIsLambda", "ToIngressFunction": "IngressIsLambda"} {
		if got := d.Resources[id].Condition; got != want {
			t.Errorf("%s is made if %q, not if %s", id, got, want)
		}
	}
	rule := d.props(t, "ToIngressFunction", "AWS::ElasticLoadBalancingV2::ListenerRule")
	forward := rule["Actions"].([]any)[0].(map[string]any)["TargetGroupArn"]
	if !reflect.DeepEqual(forward, map[string]any{"Ref": "IngressFunctionTargets"}) || !strings.Contains(fmt.Sprint(rule["Conditions"]), "[/*]") {
		t.Errorf("the balancer forwards %v to %v", rule["Conditions"], forward)
	}
	may := d.props(t, "IngressFunctionFromBalancer", "AWS::Lambda::Permission")
	group := d.props(t, "IngressFunctionTargets", "AWS::ElasticLoadBalancingV2::TargetGroup")
	source, _ := may["SourceArn"].(map[string]any)["Fn::Sub"].(string)
	if may["Principal"] != "elasticloadbalancing.amazonaws.com" || !strings.HasSuffix(source, ":targetgroup/"+group["Name"].(string)+"/*") {
		t.Errorf("the function may be called by %v from %q", may["Principal"], source)
	}
	if !slices.Contains(each(d.Resources["IngressFunctionTargets"].DependsOn), any("IngressFunctionFromBalancer")) {
		t.Error("the target group is made before it may call its function")
	}
	rights := func(role string) any {
		return d.props(t, role, "AWS::IAM::Role")["Policies"].([]any)[0].(map[string]any)["PolicyDocument"].(map[string]any)["Statement"].([]any)[:3]
	}
	if !reflect.DeepEqual(rights("IngressFunctionRole"), rights("IngressRole")) {
		t.Errorf("the function's rights are %v, those of the tasks %v", rights("IngressFunctionRole"), rights("IngressRole"))
	}
}

// TestTemplateHasNoCircle: CloudFormation makes no resource before those that it
// names, so a circle is never made; no other check of ours would see it.
func TestTemplateHasNoCircle(t *testing.T) {
	d := readTemplate(t)
	state := map[string]int{} // 1: on the way, 2: done
	var visit func(id string, way []string)
	visit = func(id string, way []string) {
		way = append(way, id)
		switch state[id] {
		case 1:
			t.Errorf("a circle: %s", strings.Join(way, " -> "))
			return
		case 2:
			return
		}
		state[id] = 1
		r := d.Resources[id]
		for _, next := range references([]any{r.Properties, map[string]any{"Ref": r.DependsOn}}) {
			if _, ok := d.Resources[next]; ok {
				visit(next, slices.Clone(way))
			}
		}
		state[id] = 2
	}
	for _, id := range slices.Sorted(maps.Keys(d.Resources)) {
		visit(id, nil)
	}
}

var inText = regexp.MustCompile(`\$\{(\w+)`)

// references are the names that a value of the template refers to.
func references(v any) (names []string) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			names = append(names, references(e)...)
		}
	case map[string]any:
		for key, e := range v {
			switch list := each(e); key {
			case "Ref":
				for _, name := range list {
					if name, ok := name.(string); ok {
						names = append(names, name)
					}
				}
			case "Fn::GetAtt":
				names = append(names, list[0].(string))
			case "Fn::Sub":
				for _, m := range inText.FindAllStringSubmatch(list[0].(string), -1) {
					names = append(names, m[1])
				}
			}
			names = append(names, references(e)...)
		}
	}
	return names
}
