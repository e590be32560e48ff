package report

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/holdfast/holdfast/ledger"
)

// Ledger is where a report comes from.
type Ledger interface {
	Control(ctx context.Context, saleID string) (ledger.Control, error)
	Scan(ctx context.Context, saleID string, v ledger.Visitor) error
	Audit(ctx context.Context, saleID string, each func(ledger.AuditEntry) error) error
}

// Collect reads what there is to say about a sale, all but the audit, who asks
// and when. minutes may be nil: then nothing is said about requests. It may run
// while the sale sells; then the sums may not add up, because the ledger moves
// while it is read.
func Collect(ctx context.Context, l Ledger, minutes ledger.MinuteStore, saleID string) (Document, error) {
	c, err := l.Control(ctx, saleID)
	if err != nil {
		return Document{}, fmt.Errorf("report: read the control item of sale %s: %w", saleID, err)
	}
	p := c.Plan
	d := Document{Format: Format, Sale: p.ID, Title: p.Title, Zone: p.Zone, OpensAt: p.OpensAt.UTC(), ClosesAt: p.ClosesAt.UTC(), Hold: int(p.Hold / time.Second), Open: c.Open}
	t := newTotals(p)
	if err := l.Scan(ctx, saleID, ledger.Visitor{Booking: t.booking, Candidate: t.claim, Seat: t.seat, Payment: t.payment}); err != nil {
		return d, fmt.Errorf("report: read the bookings of sale %s: %w", saleID, err)
	}
	t.write(&d)
	var all []ledger.Minute
	if minutes != nil {
		err := minutes.Minutes(ctx, saleID, time.Unix(0, 0), func(m ledger.Minute) error { all = append(all, m); return nil })
		if err != nil {
			return d, fmt.Errorf("report: read the minutes of sale %s: %w", saleID, err)
		}
	}
	countAnswers(&d, all)
	err = l.Audit(ctx, saleID, func(e ledger.AuditEntry) error { d.trail(e); return nil })
	if err != nil {
		return d, fmt.Errorf("report: read the trail of sale %s: %w", saleID, err)
	}
	d.Incidents = append(closeIncidents(d.Incidents), unavailable(d.Rates)...)
	slices.SortStableFunc(d.Incidents, func(a, b Incident) int { return a.From.Compare(b.From) })
	return d, nil
}

// reaperActor writes incidents into the trail; everybody else acts.
const reaperActor = "reaper"

func (d *Document) trail(e ledger.AuditEntry) {
	if e.Actor == reaperActor {
		d.Incidents = append(d.Incidents, Incident{Kind: e.Action, From: e.At.UTC(), To: e.At.UTC(), Detail: strings.Trim(e.Reason+"; "+e.After, "; ")})
		return
	}
	d.Acts = append(d.Acts, Act{At: e.At.UTC(), Actor: strings.TrimPrefix(string(e.Actor), "operator:"), Action: e.Action, Reason: e.Reason, Before: e.Before, After: e.After})
}

// endOf is what ends an incident of a kind: a freeze the rebuild after it, say.
var endOf = map[string]string{"frozen": "rebuilt", "breaker_opened": "breaker_closed"}

// closeIncidents lets an incident last until what ends it.
func closeIncidents(list []Incident) []Incident {
	for i, in := range list {
		end, ends := endOf[in.Kind]
		if !ends {
			continue
		}
		for _, later := range list[i+1:] {
			if later.Kind == end {
				list[i].To = later.From
				break
			}
		}
	}
	return list
}

// unavailable joins neighbouring spans in which somebody was told to try again.
func unavailable(rates []Rate) []Incident {
	var list []Incident
	count := 0
	for i, r := range rates {
		if r.Unavailable == 0 {
			continue
		}
		end := r.At.Add(time.Duration(r.Seconds) * time.Second)
		if n := len(list); n > 0 && i > 0 && rates[i-1].Unavailable > 0 && list[n-1].To.Equal(r.At) {
			count += r.Unavailable
			list[n-1].To = end
		} else {
			count = r.Unavailable
			list = append(list, Incident{Kind: "unavailable", From: r.At, To: end})
		}
		list[len(list)-1].Detail = fmt.Sprintf("%d answers with 503, each with a time to try again", count)
	}
	return list
}

// outcomes that are a 503 and mean: try again.
var tryAgain = map[string]bool{"unavailable": true, "payment_unavailable": true}

// created is the outcome of a request that was answered 201.
const created = "created"

func countAnswers(d *Document, all []ledger.Minute) {
	answers, at := map[string]int{}, map[time.Time]*Rate{}
	var admit, made, refused ledger.Latency
	span := minuteSpan(all)
	for _, m := range all {
		start := m.At.UTC().Truncate(span)
		r := at[start]
		if r == nil {
			r = &Rate{At: start, Seconds: int(span / time.Second)}
			at[start] = r
		}
		for outcome, n := range m.Answers {
			answers[outcome] += n
			d.Requests += n
			switch {
			case outcome == created:
				r.Created += n
			case tryAgain[outcome]:
				r.Unavailable += n
			default:
				r.Refused += n
			}
		}
		admit, made, refused = admit.Plus(m.Admit), made.Plus(m.Created), refused.Plus(m.Refused)
	}
	d.Answers = counts(answers)
	for _, start := range slices.SortedFunc(maps.Keys(at), time.Time.Compare) {
		d.Rates = append(d.Rates, *at[start])
	}
	for _, l := range []struct {
		what string
		ledger.Latency
	}{{"admission, with the replicas' acknowledgement", admit}, {"a request that got a seat", made}, {"a request that was refused", refused}} {
		if l.Count() > 0 {
			d.Latencies = append(d.Latencies, speed(l.what, l.Latency))
		}
	}
}

func speed(what string, l ledger.Latency) Speed {
	ms := func(q float64) float64 { b, _ := l.Quantile(q); return float64(b) / float64(time.Millisecond) }
	return Speed{What: what, Count: l.Count(), P50: ms(.5), P90: ms(.9), P99: ms(.99), Over: l[len(l)-1]}
}

// counts lists what is most first.
func counts(m map[string]int) []Count {
	list := make([]Count, 0, len(m))
	for name, n := range m {
		list = append(list, Count{name, n})
	}
	slices.SortFunc(list, func(a, b Count) int { return cmp.Or(b.Count-a.Count, cmp.Compare(a.Name, b.Name)) })
	return list
}
