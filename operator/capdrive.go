package operator

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
)

// drive brings an open intent to its end. Safe to repeat, and for any number at
// once: S9 takes absolute numbers and refuses an intent that later ones have
// overtaken, and only the intent itself closes it.
func (d *Desk) drive(ctx context.Context, c ledger.Control, intent ledger.CapIntent) (admission.CapAnswer, error) {
	a, err := d.mint(ctx, c, intent)
	if err != nil {
		return a, err
	}
	if why := whyNoCap(c, intent, a); why != nil {
		if a.Outcome != admission.CapGen && a.Outcome != admission.CapLate { // of another generation: whoever rebuilds it has the plan
			err = d.closeIntent(ctx, c.Sale, intent, func(*ledger.Control) {})
		}
		return a, errors.Join(why, err)
	}
	d.public(c.Sale, a.Version)
	what := "cap of " + intent.Level
	if intent.Level == "" {
		what = "total cap"
	}
	// With the intent's own time: a repeat writes the very same entry.
	err = d.audit(ctx, c.Sale, ledger.AuditEntry{
		At: intent.At, Actor: intent.Actor, Action: what, Reason: intent.Reason,
		Before: fmt.Sprint(intent.From), After: fmt.Sprint(intent.To),
	})
	if err != nil {
		return a, err
	}
	return a, d.closeIntent(ctx, c.Sale, intent, func(now *ledger.Control) {
		setPlanCap(&now.Plan, intent.Level, intent.To)
		if intent.Level != "" {
			now.Next[intent.Level] = max(now.Next[intent.Level], a.Next)
		}
	})
}

// mint calls S9 until the cap is reached and every replica has it.
func (d *Desk) mint(ctx context.Context, c ledger.Control, intent ledger.CapIntent) (admission.CapAnswer, error) {
	change := admission.CapChange{Sale: c.Sale, Gen: c.Gen, Level: intent.Level, Cap: intent.To, First: intent.First, Serial: intent.Serial}
	last := admission.CapAnswer{Cap: -1}
	for short := 0; ; {
		a, err := d.Redis.SetCap(ctx, change)
		if err != nil {
			return a, fmt.Errorf("operator: change a cap of sale %s (begun: repeat the command): %w", c.Sale, err)
		}
		switch {
		case a.Outcome != admission.CapSet, a.Cap == intent.To && a.Acknowledged:
			return a, nil
		case a.Cap == intent.To:
			if short++; short == tries {
				return a, fmt.Errorf("operator: the cap of sale %s is changed, but not acknowledged by the replicas: repeat the command when they are back: %w", c.Sale, admission.ErrUnacknowledged)
			}
		case a.Cap <= last.Cap:
			return a, fmt.Errorf("operator: a cap of sale %s does not move beyond %d on its way to %d: repeat the command", c.Sale, a.Cap, intent.To)
		}
		last = a
	}
}

// whyNoCap turns a refusal of S9 into one for people.
func whyNoCap(c ledger.Control, intent ledger.CapIntent, a admission.CapAnswer) error {
	what := "level " + intent.Level
	if intent.Level == "" {
		what = "the sale"
	}
	switch a.Outcome {
	case admission.CapSet:
		return nil
	case admission.CapUsed:
		return refuse(CodeBelowUsed, map[string]int{"asked": intent.To, "used": a.Used, "cap": a.Cap},
			"%d seats of %s are held or sold, so its cap can't be %d: it stays %d; the lowest that is possible now is %d", a.Used, what, intent.To, a.Cap, a.Used)
	case admission.CapGen:
		return lost(c, nil)
	case admission.CapLate:
		return refuse(CodeTooManyChanges, nil, "another operator has finished this change of sale %s and made a newer one: look at its caps before you repeat it", c.Sale)
	case admission.CapNoLevel:
		return refuse(CodeUnknownLevel, nil, "Redis does not know %s of sale %s: run holdfast audit %s", what, c.Sale, c.Sale)
	case admission.CapSeated:
		return refuse(CodeSeated, nil, "%s has named seats: its plan changes by name, in the sale file", what)
	case admission.CapCorrupt:
		return refuse(CodeCorrupt, nil, "the seats of %s do not add up in Redis: run holdfast audit %s", what, c.Sale)
	}
	return refuse(CodeInvalid, nil, "Redis refuses a cap of %d for %s", intent.To, what)
}

// closeIntent ends the intent if it is still this one.
func (d *Desk) closeIntent(ctx context.Context, saleID string, intent ledger.CapIntent, done func(*ledger.Control)) error {
	_, err := d.updateControl(ctx, saleID, func(now *ledger.Control) error {
		if now.CapIntent == nil || *now.CapIntent != intent {
			return nil // closed by somebody else, or by us and the answer was lost
		}
		done(now)
		now.CapIntent = nil
		return nil
	})
	return err
}

func isRefusal(err error) bool {
	var r *RefusedError
	return errors.As(err, &r)
}
