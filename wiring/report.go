package wiring

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"time"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/ledger/invariant"
	"github.com/holdfast/holdfast/reaper"
	"github.com/holdfast/holdfast/report"
)

// minutes is where the ingresses put what they answered; nil for a ledger that
// keeps none.
func (h *House) minutes() ledger.MinuteStore {
	m, _ := h.Store.(ledger.MinuteStore)
	return m
}

// Report collects what there is to say about a sale, and audits it. It changes
// nothing. by is who asks, without "operator:".
func (h *House) Report(ctx context.Context, saleID, by string) (report.Document, error) {
	healers, err := h.Healers()
	if err != nil {
		return report.Document{}, err
	}
	if _, err := h.Desk().Plan(ctx, saleID); err != nil { // says what to do about a sale that does not exist
		return report.Document{}, err
	}
	d, err := report.Collect(ctx, h.Store, h.minutes(), saleID)
	if err != nil {
		return d, err
	}
	a, err := healers.Auditor.Audit(ctx, saleID)
	if err != nil {
		return d, fmt.Errorf("audit sale %s: %w", saleID, err)
	}
	d.MadeAt, d.MadeBy, d.Audit = ledger.Instant(h.Now()), by, audited(a)
	return d, nil
}

func audited(a reaper.AuditResult) report.Audit {
	out := report.Audit{At: ledger.Instant(a.At), OK: a.OK, Frozen: a.Frozen, Invariants: invariant.Names(), NotJudged: a.NotJudged, InRedis: a.InRedis, Captured: a.Captured}
	for _, v := range a.Violations {
		out.Violations = append(out.Violations, report.Violation(v))
	}
	for _, w := range a.Work {
		if n := len(out.OpenWork); n > 0 && out.OpenWork[n-1].Name == w.Kind {
			out.OpenWork[n-1].Count++
		} else {
			out.OpenWork = append(out.OpenWork, report.Count{Name: w.Kind, Count: 1})
		}
	}
	return out
}

// ReportKey is the key that signs reports; nil if the deployment has none.
func (h *House) ReportKey() (ed25519.PrivateKey, error) {
	if h.Config.ReportKey == "" {
		return nil, nil
	}
	return report.ReadKey(h.Config.ReportKey)
}

// Minutes implements console.Desk.
func (o operations) Minutes(ctx context.Context, saleID string, since time.Time, each func(ledger.Minute) error) error {
	if m := o.house.minutes(); m != nil {
		return m.Minutes(ctx, saleID, since, each)
	}
	return nil
}

// Report implements console.Desk.
func (o operations) Report(ctx context.Context, saleID, by string) (page []byte, policy string, err error) {
	key, err := o.house.ReportKey()
	if err != nil {
		return nil, "", err
	}
	d, err := o.house.Report(ctx, saleID, by)
	if err != nil {
		return nil, "", err
	}
	page, err = report.Page(d, key)
	return page, report.Policy, err
}
