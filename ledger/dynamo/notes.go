package dynamo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/holdfast/holdfast/ledger"
)

// NoteSweep implements ledger.ControlStore.
func (s *Store) NoteSweep(ctx context.Context, saleID string, n ledger.SweepNote) error {
	it := saleKey(saleID, notePrefix+n.Kind).item()
	it["at"] = millis(n.At)
	if n.Counts != nil {
		it["counts"] = numbers(n.Counts)
	}
	if len(n.Suspects) > 0 {
		it["suspects"] = list(n.Suspects, str)
	}
	row(it).setStr("mark", n.Mark)
	e := newExpression()
	e.require(either(e.absent(PartitionKey), e.compare("at", "<=", millis(n.At))))
	err := s.putIf(ctx, "note the "+n.Kind+" of sale "+saleID, it, e)
	if conditionalFailure(err) {
		return nil // a newer one is there
	}
	return err
}

// LastSweep implements ledger.ControlStore.
func (s *Store) LastSweep(ctx context.Context, saleID, kind string) (ledger.SweepNote, error) {
	it, err := s.get(ctx, saleKey(saleID, notePrefix+kind))
	if err != nil {
		return ledger.SweepNote{}, err
	}
	r := &reader{item: it}
	n := ledger.SweepNote{Kind: kind, At: r.time("at"), Counts: readNumbers(r, "counts"), Mark: r.str("mark")}
	r.each("suspects", func(id *reader) { n.Suspects = append(n.Suspects, id.str("")) })
	return n, r.err
}

// AppendAudit implements ledger.ControlStore. The row is named by its content,
// so writing it again is writing the same.
func (s *Store) AppendAudit(ctx context.Context, saleID string, e ledger.AuditEntry) error {
	e.At = ledger.Instant(e.At)
	content, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("write the audit of sale %s: %w", saleID, err)
	}
	sum := sha256.Sum256(content)
	it := row(saleKey(saleID, auditStart+dueTime(e.At)+"#"+hex.EncodeToString(sum[:8])).item())
	it["at"] = millis(e.At)
	it.setStr("actor", string(e.Actor))
	it.setStr("action", e.Action)
	it.setStr("reason", e.Reason)
	it.setStr("before", e.Before)
	it.setStr("after", e.After)
	return s.putIf(ctx, "write the audit of sale "+saleID, item(it), newExpression())
}

// Audit implements ledger.ControlStore.
func (s *Store) Audit(ctx context.Context, saleID string, each func(ledger.AuditEntry) error) error {
	return s.rows(ctx, controlKind+saleID, auditStart, func(it item) error {
		r := &reader{item: it}
		e := ledger.AuditEntry{At: r.time("at"), Actor: ledger.Actor(r.str("actor")), Action: r.str("action"),
			Reason: r.str("reason"), Before: r.str("before"), After: r.str("after")}
		if r.err != nil {
			return r.err
		}
		return each(e)
	})
}
