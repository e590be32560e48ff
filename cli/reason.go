package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/operator"
	"github.com/holdfast/holdfast/reaper"
)

// maxReason bounds a reason in bytes, as the operators' API does.
const maxReason = 500

// why is who changes something, and why. A command that can't say is no command
// line: nobody could explain the act later.
func (a *app) why(cmd *cobra.Command) (operator.By, error) {
	by, err := a.by(cmd)
	if err != nil {
		return by, err
	}
	by.Reason = strings.TrimSpace(cmp.Or(a.reason, a.env("HOLDFAST_REASON")))
	switch {
	case by.Reason == "":
		return by, usage(cmd, "say why with --reason '...', or for scripts in HOLDFAST_REASON: it is kept in the sale's trail with who did it. Nothing was changed")
	case len(by.Reason) > maxReason, strings.ContainsFunc(by.Reason, unicode.IsControl):
		return by, usage(cmd, "a reason is at most %d bytes of text without control characters. Nothing was changed", maxReason)
	}
	return by, nil
}

// whyUnless is why, but for a command that only shows what it would do.
func (a *app) whyUnless(cmd *cobra.Command, dryRun bool) (operator.By, error) {
	if dryRun {
		return a.by(cmd)
	}
	return a.why(cmd)
}

// act runs an act of an operator that changes something.
func (a *app) act(cmd *cobra.Command, act func(ctx context.Context, d *operator.Desk, by operator.By) error) error {
	by, err := a.why(cmd)
	if err != nil {
		return err
	}
	return a.desk(cmd, func(ctx context.Context, d *operator.Desk) error { return act(ctx, d, by) })
}

// mend runs a healer that changes a sale, by hand.
func (a *app) mend(cmd *cobra.Command, saleID, action string, act func(ctx context.Context, r *reaper.Reaper) error) error {
	by, err := a.why(cmd)
	if err != nil {
		return err
	}
	return a.with(cmd, a.quietLog, func(ctx context.Context, h *house) error {
		if _, err := h.desk.Plan(ctx, saleID); err != nil { // a sale that there is not gets no trail
			return err
		}
		healers, err := h.healers()
		if err != nil {
			return err
		}
		if err := h.note(ctx, ledger.AuditEntry{Actor: by.Actor, Action: action, Reason: by.Reason}, saleID); err != nil {
			return err
		}
		return act(ctx, healers)
	})
}

// note writes an act that the desk does not know into the trail of sales, before
// it is done.
func (h *house) note(ctx context.Context, e ledger.AuditEntry, saleIDs ...string) error {
	e.At = ledger.Instant(h.desk.Now())
	for _, id := range saleIDs {
		if err := h.desk.Store.AppendAudit(ctx, id, e); err != nil {
			return fmt.Errorf("nothing was done, because it could not be written to the trail of sale %s: %w", id, err)
		}
	}
	return nil
}
