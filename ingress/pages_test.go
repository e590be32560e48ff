package ingress_test

import (
	"regexp"
	"strings"
	"testing"
)

// Pages run under a policy without inline script, so they must not have any.
func TestPagesHaveNothingInline(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{"/sales/spring", "/payments/page/return?booking=3V2Q0Z8K7M5N4P6R9S1T0W2X4Y&sale=spring"} {
		a := w.do("GET", path, "")
		html := string(a.raw)
		if a.status != 200 || !strings.HasPrefix(a.header.Get("Content-Type"), "text/html") {
			t.Fatalf("%s: %d", path, a.status)
		}
		csp := a.header.Get("Content-Security-Policy")
		if !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") || !strings.Contains(csp, "frame-ancestors 'none'") {
			t.Errorf("policy %q", csp)
		}
		for _, inline := range []string{`<script>`, `<script `, `style=`, ` on[a-z]+=`, `javascript:`, `<style`} {
			for _, hit := range regexp.MustCompile(inline+`[^>]*>?`).FindAllString(html, -1) {
				if !strings.Contains(hit, `src="/assets/`) {
					t.Errorf("%s has %q", path, hit)
				}
			}
		}
		if !strings.Contains(html, `name="viewport"`) {
			t.Errorf("%s does not fit a phone", path)
		}
		for _, asset := range regexp.MustCompile(`/assets/[a-z.]+`).FindAllString(html, -1) {
			if got := w.do("GET", asset, ""); got.status != 200 || len(got.raw) == 0 {
				t.Errorf("%s: %d", asset, got.status)
			}
		}
	}
}

func TestSalePageShowsTheSale(t *testing.T) {
	w := newWorld(t)
	html := string(w.do("GET", "/sales/spring", "").raw)
	for _, want := range []string{"Spring &lt;exam&gt;", `data-sale="spring"`, `data-opens="1777622400000"`, `value="N2"`, "BDT 1500.00",
		"Friday 1 May 2026, 14:00 (Asia/Dhaka)", `name="website"`, `max="2"`} {
		if !strings.Contains(html, want) {
			t.Errorf("no %s in\n%s", want, html)
		}
	}
	w.wants(w.do("GET", "/sales/nothing", ""), 404, "not_found")
	if a := w.do("GET", "/assets/web.go", ""); a.status != 404 {
		t.Error(a.status)
	}
}
