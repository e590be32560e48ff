package browsertest

import (
	"context"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// slow3G is what a phone gets at the edge of a cell: 400 kbit/s, and 400 ms for
// each way there and back.
func (p *tab) slow3G() {
	p.Helper()
	const bytesPerSecond = 400_000 / 8
	p.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
			MatchedNetworkConditions: []*network.Conditions{{Latency: 400, DownloadThroughput: bytesPerSecond, UploadThroughput: bytesPerSecond}}})
		return err
	}))
}

// TestSlow3G: the whole way with an empty cache on a bad network. The first visit
// stays within its bytes, and so does the seat map's.
func TestSlow3G(t *testing.T) {
	t.Parallel()
	p := newTab(t)
	p.slow3G()
	p.visitSale("slow")
	const sum = "performance.getEntries().reduce((n, e) => n + (e.transferSize || 0), 0)"
	bytes, took := js[int](p, sum), js[float64](p, "performance.getEntriesByType('navigation')[0].loadEventEnd")
	t.Logf("slow 3G: %d bytes with all headers, loaded after %.0f ms", bytes, took)
	if bytes < 10<<10 || bytes > 60<<10 {
		t.Errorf("the first visit takes %d bytes", bytes)
	}
	if took < 800 {
		t.Errorf("loaded after %.0f ms: the network was not slow", took)
	}
	p.ask(person(28), "Early")
	p.says(held)
	p.press("Pay now")
	p.click("button[value=pay]")
	p.says("Booked: your seat is paid")

	p.visitSale("hall")
	p.await("document.querySelectorAll('#seatlist input').length === 12")
	if n := js[int](p, sum); n > 60<<10 {
		t.Errorf("the seat map takes %d bytes", n)
	}
}
