package wiring

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"time"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ingress/admin"
	"github.com/holdfast/holdfast/ingress/console"
	"github.com/holdfast/holdfast/ingress/console/albproxy"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/operator"
	"github.com/holdfast/holdfast/reaper"
	"github.com/holdfast/holdfast/sale"
	"github.com/holdfast/holdfast/sale/roster"
)

var _ console.Desk = operations{}

func (o operations) SetTimes(ctx context.Context, saleID string, opensAt, closesAt time.Time, b admin.By) error {
	err := o.desk.SetTimes(ctx, saleID, opensAt, closesAt, by(b))
	var invalid *sale.FaultsError
	if errors.As(err, &invalid) {
		return &operator.RefusedError{Kind: operator.CodeInvalid, Reasons: []string{err.Error()}}
	}
	return err
}

// candidate is what a help desk may see: hashes, never a code or an e-mail.
type candidate struct {
	Owner        string   `json:"owner"`
	OnRoster     bool     `json:"on_roster"`
	Levels       []string `json:"levels"`
	EmailMatches *bool    `json:"email_matches,omitempty"`
	Booking      *found   `json:"booking,omitempty"`
	Ended        []found  `json:"ended"` // null: not looked for
}

type found struct {
	BookingID  string    `json:"booking_id"`
	State      string    `json:"state"`
	Level      string    `json:"level"`
	Seats      []string  `json:"seats"`
	AdmittedAt time.Time `json:"admitted_at"`
	HoldUntil  time.Time `json:"hold_until"`
	Payment    string    `json:"payment,omitempty"`
	History    []change  `json:"history"`
}

type change struct {
	At     time.Time `json:"at"`
	From   string    `json:"from"`
	To     string    `json:"to"`
	Reason string    `json:"reason"`
	Actor  string    `json:"actor"`
}

func (o operations) Lookup(ctx context.Context, saleID, code, email string, ended bool) (any, error) {
	c, err := o.desk.Lookup(ctx, saleID, code, email)
	if err != nil {
		return nil, err
	}
	doc := candidate{Owner: c.Owner, OnRoster: c.OnRoster, Levels: c.Levels, EmailMatches: c.Email}
	if c.Booking != nil {
		f := foundOf(*c.Booking)
		doc.Booking = &f
	}
	if !ended {
		return doc, nil
	}
	over, err := o.desk.Ended(ctx, saleID, c.Owner)
	doc.Ended = []found{} // looked for, and perhaps none
	for _, b := range over {
		doc.Ended = append(doc.Ended, foundOf(b))
	}
	return doc, err
}

func foundOf(b ledger.Booking) found {
	f := found{BookingID: b.ID, State: stateWord(b.State), Level: b.Level, Seats: b.Tokens(), AdmittedAt: b.AdmittedAt, HoldUntil: b.HoldUntil, History: []change{}}
	if !b.Payment.Zero() {
		f.Payment = b.Payment.String()
	}
	for _, h := range b.History {
		f.History = append(f.History, change{At: h.At, From: stateWord(h.From), To: stateWord(h.To), Reason: string(h.Reason), Actor: string(h.Actor)})
	}
	return f
}

// stateWord: a booking that the ledger does not have yet is pending.
func stateWord(s ledger.State) string {
	if s == ledger.None {
		return "pending"
	}
	return strings.ToLower(string(s))
}

func (o operations) Trail(ctx context.Context, saleID string, each func(console.TrailEntry) error) error {
	return o.desk.Trail(ctx, saleID, func(e ledger.AuditEntry) error {
		return each(console.TrailEntry{At: e.At, Actor: string(e.Actor), Action: e.Action, Reason: e.Reason, Before: e.Before, After: e.After})
	})
}

func (o operations) Export(ctx context.Context, saleID string, out io.Writer) error {
	_, err := o.desk.Export(ctx, saleID, out, operator.ExportOptions{})
	return err
}

// imported is an import with the fate of every row that was not taken.
type imported struct {
	File   roster.Report         `json:"file"`
	Roster operator.ImportResult `json:"roster"`
	DryRun bool                  `json:"dry_run"`
}

func (o operations) ImportRoster(ctx context.Context, saleID string, open func() (io.ReadCloser, error), opt console.ImportOptions, b admin.By) (any, error) {
	plan, err := o.desk.Plan(ctx, saleID)
	if err != nil {
		return nil, err
	}
	var first *roster.Reader // its report is the one to show; the second reading is the same
	rows := func() (iter.Seq2[sale.Row, error], error) {
		file, err := open()
		if err != nil {
			return nil, err
		}
		rd, err := roster.NewReader(file, plan.LevelNames(), roster.Options{})
		if err != nil {
			_ = file.Close() // only read
			return nil, err
		}
		if first == nil {
			first = rd
		}
		return func(yield func(sale.Row, error) bool) {
			defer file.Close()
			rd.Rows()(yield)
		}, nil
	}
	result, err := o.desk.ImportRoster(ctx, saleID, rows, operator.ImportOptions{DryRun: opt.DryRun, Add: opt.Add}, nil, by(b))
	var head *roster.HeaderError
	if errors.As(err, &head) {
		return nil, &operator.RefusedError{Kind: operator.CodeInvalid, Reasons: []string{head.Error()}}
	}
	if err != nil {
		return nil, err
	}
	return imported{File: first.Report(), Roster: result, DryRun: opt.DryRun}, nil
}

// Repair is what the reaper does on its own; by hand it stands in the trail.
func (o operations) Repair(ctx context.Context, saleID string, dryRun bool, b admin.By) (any, error) {
	healers, err := o.house.Healers()
	if err != nil {
		return nil, err
	}
	if !dryRun {
		e := ledger.AuditEntry{At: ledger.Instant(o.house.Now()), Actor: b.Actor, Action: "repair", Reason: b.Reason}
		if err := o.house.Store.AppendAudit(ctx, saleID, e); err != nil {
			return nil, fmt.Errorf("nothing was repaired, because it could not be written to the trail: %w", err)
		}
	}
	r, err := healers.Repairer.Repair(ctx, saleID, dryRun)
	if err != nil {
		return nil, err
	}
	return struct {
		reaper.DiffResult
		Clean bool `json:"clean"`
	}{r, r.Clean()}, nil
}

func (o operations) Resolve(ctx context.Context, saleID, itemID string, refund bool, b admin.By) error {
	return o.desk.Resolve(ctx, saleID, itemID, refund, by(b))
}

func (o operations) Health(ctx context.Context, saleID string) (admission.Health, error) {
	return o.house.Redis.Health(ctx, saleID)
}

// consoleProxy is the load balancer in front of the console; nil if there is none.
func (h *House) consoleProxy() console.Authenticator {
	arn := h.Config.ConsoleALB
	if arn == "" {
		return nil
	}
	region := strings.Split(arn, ":")[3] // config has looked at its form
	return &albproxy.Proxy{Signer: arn, KeysURL: "https://public-keys.auth.elb." + region + ".amazonaws.com", Client: &http.Client{Timeout: 5 * time.Second}, Now: h.Now}
}
