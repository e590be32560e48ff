package ingress_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// Every example of a request in the document is sent, in this order, and must
// get the answer whose example has its name, of the schema that is promised for
// it (case E07). Where an example of an answer has no request of its own, the
// operation is called as its parameters say.
func TestOpenAPIExamplesAreTrue(t *testing.T) {
	w := newWorld(t)
	w.openHall()
	doc := loadOpenAPI(t, w)
	booked, held := "", ""
	for _, step := range []struct{ method, path, example string }{
		{"POST", "/sales/{sale}/bookings", "created"},
		{"POST", "/sales/{sale}/bookings", "repeated"},
		{"POST", "/sales/{sale}/bookings", "idempotency_mismatch"},
		{"POST", "/sales/{sale}/bookings", "duplicate"},
		{"POST", "/sales/{sale}/bookings", "invalid_request"},
		{"POST", "/sales/{sale}/bookings", "invalid_code"},
		{"POST", "/sales/{sale}/bookings", "email_mismatch"},
		{"POST", "/sales/{sale}/bookings", "level_full"},
		{"GET", "/bookings/{booking_id}", "held"},
		{"DELETE", "/bookings/{booking_id}", "released"},
		{"GET", "/sales/{sale}/status.json", "open"},
		{"POST", "/webhooks/{gateway}", "bad_signature"},
		{"POST", "/sales/{sale}/holds", "held"},
		{"POST", "/sales/{sale}/holds", "held_before"},
		{"POST", "/sales/{sale}/holds", "seat_taken"},
		{"POST", "/sales/{sale}/holds", "best"},
		{"POST", "/sales/{sale}/holds", "invalid_request"},
		{"PATCH", "/holds/{hold_id}", "changed"},
		{"PATCH", "/holds/{hold_id}", "extended"},
		{"GET", "/holds/{hold_id}", "shown"},
		{"GET", "/sales/{sale}/seats", "map"},
	} {
		t.Run(step.method+" "+step.path+" "+step.example, func(t *testing.T) {
			if step.example == "level_full" {
				w.book(wish(9, "N2"), 201, "")
			}
			op := doc.Paths.Value(step.path).GetOperation(step.method)
			a := w.do(step.method, pathOf(op, step.path, booked, held), bodyOf(t, op, step.example), headersOf(op, step.example)...)
			switch step.method + " " + step.example {
			case "POST created":
				booked = a.text("booking_id")
			case "POST held":
				held = a.text("hold_id")
			}
			checkAnswer(t, op, step.example, a)
		})
		markDone(doc, step.method, step.path, step.example)
	}
	for _, left := range undone(doc) {
		t.Errorf("example %s is not executed", left)
	}
}

func loadOpenAPI(t *testing.T, w *world) *openapi3.T {
	t.Helper()
	a := w.do("GET", "/openapi.json", "")
	if a.status != 200 || a.doc["openapi"] != "3.1.0" {
		t.Fatalf("status %d, version %v", a.status, a.doc["openapi"])
	}
	doc, err := openapi3.NewLoader().LoadFromData(a.raw)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func pathOf(op *openapi3.Operation, path, booked, held string) string {
	query := ""
	for _, p := range op.Parameters {
		value, _ := p.Value.Example.(string)
		if p.Value.Name == "booking_id" {
			value = booked
		}
		if p.Value.Name == "hold_id" {
			value = held
		}
		switch p.Value.In {
		case "path":
			path = strings.ReplaceAll(path, "{"+p.Value.Name+"}", value)
		case "query":
			query = "?" + p.Value.Name + "=" + value
		}
	}
	return path + query
}

func headersOf(op *openapi3.Operation, example string) []string {
	headers := []string{"Content-Type", "application/json"}
	for _, p := range op.Parameters {
		if e := p.Value.Examples[example]; p.Value.In == "header" && e != nil {
			headers = append(headers, p.Value.Name, e.Value.Value.(string))
		}
	}
	return headers
}

func bodyOf(t *testing.T, op *openapi3.Operation, example string) string {
	t.Helper()
	if op.RequestBody == nil {
		return ""
	}
	media := op.RequestBody.Value.Content["application/json"]
	e := media.Examples[example]
	if e == nil {
		t.Fatalf("no request example %q", example)
	}
	if example != "invalid_request" {
		if err := media.Schema.Value.VisitJSON(e.Value.Value); err != nil {
			t.Errorf("the example of the request breaks its schema: %v", err)
		}
	}
	raw, err := json.Marshal(e.Value.Value)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// checkAnswer wants the status under which the example stands, its schema, and
// the fields that the example has.
func checkAnswer(t *testing.T, op *openapi3.Operation, example string, a answer) {
	t.Helper()
	response := op.Responses.Value(strconv.Itoa(a.status))
	if response == nil {
		t.Fatalf("status %d is not promised: %s", a.status, a.raw)
	}
	media := response.Value.Content[a.header.Get("Content-Type")]
	if media == nil || media.Examples[example] == nil {
		t.Fatalf("status %d (%s) has no example %q: %s", a.status, a.header.Get("Content-Type"), example, a.raw)
	}
	promised := media.Examples[example].Value.Value.(map[string]any)
	for name, body := range map[string]any{"answer": any(a.doc), "example": promised} {
		if err := media.Schema.Value.VisitJSON(body); err != nil {
			t.Errorf("the %s breaks its schema: %v", name, err)
		}
	}
	if got, want := keys(a.doc), keys(promised); got != want {
		t.Errorf("fields %s, the example has %s", got, want)
	}
	for _, field := range []string{"code", "title", "detail", "state", "level"} {
		if promised[field] != a.doc[field] {
			t.Errorf("%s is %v, the example says %v", field, a.doc[field], promised[field])
		}
	}
}

func keys(m map[string]any) string {
	var k []string
	for name := range m {
		k = append(k, name)
	}
	sort.Strings(k)
	return strings.Join(k, " ")
}

func markDone(doc *openapi3.T, method, path, example string) {
	op := doc.Paths.Value(path).GetOperation(method)
	if op.RequestBody != nil {
		delete(op.RequestBody.Value.Content["application/json"].Examples, example)
	}
	for _, r := range op.Responses.Map() {
		for _, media := range r.Value.Content {
			delete(media.Examples, example)
		}
	}
}

func undone(doc *openapi3.T) (left []string) {
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if op.RequestBody != nil {
				for _, media := range op.RequestBody.Value.Content {
					for name := range media.Examples {
						left = append(left, method+" "+path+" request "+name)
					}
				}
			}
			for status, r := range op.Responses.Map() {
				for _, media := range r.Value.Content {
					for name := range media.Examples {
						left = append(left, method+" "+path+" "+status+" "+name)
					}
				}
			}
		}
	}
	return left
}

// Each public route is in the document, and each path of the document is a
// route; on either listener nothing sells but the one route (case H21).
func TestRoutesAreThoseOfTheDocument(t *testing.T) {
	w := newWorld(t, withOperations)
	doc := loadOpenAPI(t, w)
	documented, found := map[string]bool{"GET /assets/{name}": true}, map[string]bool{}
	for path, item := range doc.Paths.Map() {
		for method := range item.Operations() {
			documented[method+" "+path] = true
		}
	}
	for _, r := range w.in.Routes() {
		r = strings.Replace(r, "HEAD ", "GET ", 1)
		name := strings.NewReplacer(":sale", "{sale}", ":id", "{booking_id}", ":hold", "{hold_id}", ":gateway", "{gateway}", ":name", "{name}").Replace(r)
		if !documented[name] {
			t.Errorf("%s is not documented", name)
		}
		found[name] = true
		if strings.Contains(r, "admin") || strings.Contains(r, "metrics") || strings.Contains(r, "health") {
			t.Errorf("%s is public", r)
		}
	}
	for name := range documented {
		if !found[name] {
			t.Errorf("%s is documented and does not exist", name)
		}
	}
	for _, path := range []string{"/admin/sales", "/metrics", "/healthz", "/readyz"} {
		w.wants(w.do("GET", path, "", "Authorization", "Bearer "+operatorToken), 404, "not_found")
	}
	req := httptest.NewRequest(http.MethodPost, "/sales/spring/bookings", strings.NewReader(wish(1, "N1")))
	rec := httptest.NewRecorder()
	w.in.Operator().ServeHTTP(rec, req)
	if rec.Code != 404 {
		t.Errorf("the operators' listener sells: %d", rec.Code)
	}
}
