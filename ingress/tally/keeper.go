package tally

import (
	"context"
	"log/slog"
	"time"

	"github.com/holdfast/holdfast/ledger"
)

// Every is how often a process puts down what it counted: what a console is
// behind, and what a killed process takes with it. A sale in which nothing
// happens costs nothing.
const Every = 2 * time.Second

const (
	putFor = 5 * time.Second
	// kept bounds the minutes of a sale that wait for a ledger that does not
	// answer: older ones are lost, and the log says so.
	kept = 60
)

// Keeper puts a tally into the ledger.
type Keeper struct {
	Tally   *Tally
	Store   ledger.MinuteStore
	Process string // differs from every other process's
	Now     func() time.Time
	Log     *slog.Logger

	last time.Time // when it looked last: what is new since belongs to that minute
	seen map[string]ledger.Minute
	open map[string][]open // by sale, oldest first; the last one may still grow
}

type open struct {
	ledger.Minute
	put bool // in this state
}

// Run puts down what is new, every two seconds and at the end of each minute,
// until ctx ends; then once more.
func (k *Keeper) Run(ctx context.Context) {
	k.start()
	for {
		next := time.NewTimer(k.pause())
		select {
		case <-next.C:
			k.Keep(ctx)
		case <-ctx.Done():
			next.Stop()
			k.Keep(context.WithoutCancel(ctx))
			return
		}
	}
}

func (k *Keeper) start() {
	if k.seen == nil {
		k.last, k.seen, k.open = k.Now(), map[string]ledger.Minute{}, map[string][]open{}
	}
}

// pause ends with the minute at the latest, so that its counts are its own.
func (k *Keeper) pause() time.Duration {
	now := k.Now()
	return min(Every, now.Truncate(time.Minute).Add(time.Minute).Sub(now))
}

// Keep puts down what is new since the last call. What the ledger does not take
// is put again the next time. One caller at a time.
func (k *Keeper) Keep(ctx context.Context) {
	k.start()
	at := ledger.Instant(k.last.Truncate(time.Minute))
	k.last = k.Now()
	for saleID, c := range k.Tally.sales.all() {
		k.note(saleID, at, c.read())
		k.put(ctx, saleID)
	}
}

// note adds what is new to the sale's minute.
func (k *Keeper) note(saleID string, at time.Time, all ledger.Minute) {
	old := k.seen[saleID]
	fresh := ledger.Minute{At: at, Process: k.Process, Answers: map[string]int{},
		Admit: all.Admit.Minus(old.Admit), Created: all.Created.Minus(old.Created), Refused: all.Refused.Minus(old.Refused)}
	for outcome, n := range all.Answers {
		if d := n - old.Answers[outcome]; d > 0 {
			fresh.Answers[outcome] = d
		}
	}
	if len(fresh.Answers) == 0 && fresh.Admit.Count() == 0 {
		return
	}
	k.seen[saleID] = all
	list := k.open[saleID]
	if n := len(list); n > 0 && list[n-1].At.Equal(at) {
		list[n-1] = open{plus(list[n-1].Minute, fresh), false}
		return
	}
	if len(list) == kept {
		k.Log.Warn("a minute's counts are lost: the ledger has not taken them for so long", "sale", saleID, "minute", list[0].At)
		list = list[1:]
	}
	k.open[saleID] = append(list, open{fresh, false})
}

func plus(a, b ledger.Minute) ledger.Minute {
	for outcome, n := range b.Answers {
		a.Answers[outcome] += n
	}
	a.Admit, a.Created, a.Refused = a.Admit.Plus(b.Admit), a.Created.Plus(b.Created), a.Refused.Plus(b.Refused)
	return a
}

// put writes the sale's minutes, the oldest first, up to the first that fails.
// The newest is kept, because it may still grow.
func (k *Keeper) put(ctx context.Context, saleID string) {
	ctx, cancel := context.WithTimeout(ctx, putFor)
	defer cancel()
	list := k.open[saleID]
	for i := range list {
		if list[i].put {
			continue
		}
		if err := k.Store.PutMinute(ctx, saleID, list[i].Minute); err != nil {
			k.Log.WarnContext(ctx, "the counts of a minute are put down later", "sale", saleID, "err", err)
			k.open[saleID] = list[i:]
			return
		}
		list[i].put = true
	}
	k.open[saleID] = list[max(0, len(list)-1):]
}
