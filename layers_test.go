package holdfast_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
)

const module = "github.com/holdfast/holdfast"

// rooms is the import table of docs/architecture.md: what a folder's packages
// may import from this module and from outside the standard library. The
// longest matching prefix of a package's path rules. "*" allows everything.
var rooms = map[string]struct{ inside, outside []string }{
	"sale":              {nil, nil},
	"sale/salefile":     {in("sale"), []string{"go.yaml.in/yaml"}},
	"sale/roster":       {in("sale"), []string{"golang.org/x/text"}},
	"events":            {nil, nil},
	"events/fifo":       {in("events"), aws("sqs")},
	"ledger":            {in("sale", "events", "ledger"), nil},
	"ledger/dynamo":     {in("sale", "events", "ledger"), append(aws("dynamodb"), "golang.org/x/sync")},
	"ledger/ledgertest": {in("sale", "events", "ledger"), []string{"github.com/google/go-cmp", "pgregory.net/rapid"}},
	"admission":         {in("sale", "admission"), nil},
	"admission/redis":   {in("sale", "admission", "payment"), []string{"github.com/redis/go-redis"}},
	"payment":           {in("sale", "events", "payment"), nil},
	"lifecycle":         {in("sale", "events", "ledger", "admission", "payment", "lifecycle"), nil},
	"status":            {in("sale", "ledger", "admission"), nil},

	"ingress":          {in("sale", "events", "ledger", "admission", "payment", "lifecycle", "status", "ingress"), []string{"github.com/labstack/echo", "github.com/prometheus", "golang.org/x/time", "golang.org/x/sync"}},
	"ingress/urlevent": {nil, []string{"github.com/aws/aws-lambda-go"}},
	"workers":          {in("sale", "events", "ledger", "admission", "payment", "lifecycle", "workers"), nil},
	"workers/poller":   {in("events", "workers"), append(aws("sqs"), "golang.org/x/sync")},
	"workers/batch":    {in("events", "workers"), []string{"github.com/aws/aws-lambda-go"}},
	"reaper":           {in("sale", "events", "ledger", "admission", "payment", "lifecycle", "status", "reaper"), nil},

	"operator": {in("sale", "events", "ledger", "admission", "payment", "lifecycle", "status", "capacity", "operator"), nil},

	"report": {in("sale", "ledger"), nil},

	"config":      {nil, nil},
	"capacity":    {nil, nil},
	"load":        {nil, nil},
	"rehearsal":   {in("sale", "ledger", "admission", "operator", "reaper", "load", "examples"), nil},
	"examples":    {nil, nil},
	"cmd":         {[]string{"*"}, []string{"*"}},
	"cli":         {[]string{"*"}, []string{"*"}},
	"wiring":      {[]string{"*"}, []string{"*"}},
	"localstack":  {[]string{"*"}, []string{"*"}},
	"sim":         {[]string{"*"}, []string{"*"}},
	"bench":       {[]string{"*"}, []string{"*"}},
	"torture":     {[]string{"*"}, []string{"*"}},
	"browsertest": {[]string{"*"}, []string{"*"}},
}

// adapters are wired by mains alone: no door and no middle room may know them.
var adapters = []string{"admission/redis", "ledger/dynamo", "events/fifo", "payment/sandbox"}

func in(rooms ...string) []string { return rooms }

func aws(service string) []string {
	return []string{"github.com/aws/aws-sdk-go-v2/aws", "github.com/aws/aws-sdk-go-v2/service/" + service, "github.com/aws/smithy-go"}
}

type pkg struct {
	ImportPath string
	Standard   bool
	Imports    []string
}

func TestImportTable(t *testing.T) {
	for _, p := range list(t, "./...") {
		path := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		if path == "" {
			continue
		}
		room, name := ruleFor(path)
		if name == "" {
			t.Errorf("%s is in no room of the import table", path)
			continue
		}
		for _, imp := range p.Imports {
			if why := refuse(name, path, imp, room.inside, room.outside); why != "" {
				t.Errorf("%s imports %s: %s", path, imp, why)
			}
		}
	}
}

// TestImportTableHasTeeth shows that the check refuses what it must.
func TestImportTableHasTeeth(t *testing.T) {
	for _, c := range []struct{ path, imp string }{
		{"ingress", module + "/workers"},
		{"reaper", module + "/admission/redis"},
		{"ledger", "github.com/aws/aws-sdk-go-v2/service/dynamodb"},
		{"sale", module + "/events"},
		{"workers", module + "/ledger/dynamo"},
		{"events", "github.com/redis/go-redis/v9"},
	} {
		room, name := ruleFor(c.path)
		if refuse(name, c.path, c.imp, room.inside, room.outside) == "" {
			t.Errorf("%s may import %s", c.path, c.imp)
		}
	}
}

func ruleFor(path string) (room struct{ inside, outside []string }, name string) {
	for n, r := range rooms {
		if (path == n || strings.HasPrefix(path, n+"/")) && len(n) > len(name) {
			room, name = r, n
		}
	}
	return room, name
}

func refuse(room, path, imp string, inside, outside []string) string {
	if rest, ok := strings.CutPrefix(imp, module+"/"); ok {
		if rest == room || strings.HasPrefix(rest, room+"/") || strings.HasPrefix(path, rest+"/") {
			return ""
		}
		if allows(inside, "*") {
			return ""
		}
		for _, a := range adapters {
			if rest == a || strings.HasPrefix(rest, a+"/") {
				return "adapters are wired by mains"
			}
		}
		if allows(inside, rest) {
			return ""
		}
		return "not in the import table"
	}
	if first, _, _ := strings.Cut(imp, "/"); !strings.Contains(first, ".") {
		return "" // the standard library
	}
	if allows(outside, imp) {
		return ""
	}
	return "this room may not use it"
}

func allows(list []string, imp string) bool {
	for _, p := range list {
		if p == "*" || imp == p || strings.HasPrefix(imp, p+"/") {
			return true
		}
	}
	return false
}

func list(t *testing.T, pattern string) []pkg {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Standard,Imports", pattern).Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go list: %v\n%s", err, exit.Stderr)
		}
		t.Fatal(err)
	}
	var all []pkg
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if len(all) < 10 {
		t.Fatalf("go list found only %d packages", len(all))
	}
	return all
}
