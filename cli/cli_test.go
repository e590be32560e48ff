package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/events/fifo"
	"github.com/holdfast/holdfast/ledger"
)

const examFile = `sale: exam
title: Examination
time_zone: Asia/Dhaka
opens_at: 2026-05-01T15:00:00
closes_at: 2026-05-01T22:00:00
hold: 10m
price: {amount_minor: 350000, currency: BDT}
levels:
  - {level: N1, cap: 10}
  - {level: N2, cap: 5}
`

const examRoster = "code;E-Mail;levels\r\n ab-0001 ;ann@example.org;n1|N2\r\nAB-0002;bob@example.org;N1\r\nAB-0003;bob@;N1\r\n;x@example.org;N1\r\nAB-0001;ann@example.org;N1|N2\r\n"

// TestFromTheFileToTheList is an operator's whole day.
func TestFromTheFileToTheList(t *testing.T) {
	x := newTown(t)
	saleFile, rosterFile := x.file("exam.yaml", examFile), x.file("roster.csv", examRoster)
	var day strings.Builder
	step := func(want int, args ...string) {
		t.Helper()
		r := x.run(args...)
		if r.code != want {
			t.Fatalf("%v: exit code %d, want %d: %s%s", args, r.code, want, r.out, r.err)
		}
		fmt.Fprintf(&day, "$ holdfast %s\n%s%s[%d]\n\n", strings.Join(args, " "), r.out, r.err, r.code)
	}
	step(0, "sale", "apply", saleFile)
	step(0, "sale", "apply", saleFile)
	step(1, "sale", "open", "exam")
	step(1, "sale", "check", "exam")
	step(0, "roster", "import", "exam", rosterFile, "--dry-run")
	step(0, "roster", "import", "exam", rosterFile)
	step(0, "roster", "import", "exam", rosterFile)
	step(0, "sale", "check", "exam")
	step(0, "sale", "open", "exam", "--reason", "as planned")
	step(0, "sale", "caps", "exam", "N1", "12", "--as", "bob", "--reason", "a bigger hall")
	step(0, "sale", "times", "exam", "--closes", "2026-05-01T23:00:00+06:00")
	step(0, "sale", "status", "exam")
	step(0, "booking", "find", "exam", "ab-0002", "--email", "bob@example.org")
	step(0, "sale", "close", "exam")
	step(0, "sale", "trail", "exam")
	step(0, "sale", "list")
	step(0, "export", "exam")
	golden(t, "day", stable(day.String()))
}

// The world's own sale has bookings of every kind.
func TestLookingAtASaleThatSells(t *testing.T) {
	x := newTown(t)
	x.paid("c1", "N2")
	held := x.held("c2", "N1")
	x.Advance(95 * time.Second)
	pending := x.Book("c3", "N1", x.Page)
	x.Advance(3 * time.Second)
	var seen strings.Builder
	show := func(args ...string) {
		t.Helper()
		fmt.Fprintf(&seen, "$ holdfast %s\n%s\n", strings.Join(args, " "), x.done(args...))
	}
	show("sale", "status", "spring")
	show("hold", "list", "spring")
	show("booking", "show", held.ID)
	show("booking", "show", pending.ID)
	show("hold", "release", held.ID, "--reason", "asked by telephone")
	show("hold", "release", held.ID)
	show("booking", "show", held.ID)
	if out := x.done("booking", "find", "spring", "nobody-1", "--ended"); !strings.Contains(out, "no live booking") {
		t.Error(out)
	}
	show("booking", "cancel", "B1", "--reason", "double entry")
	show("sale", "totals", "spring")
	show("inbox", "list", "spring")
	show("sale", "trail", "spring")
	golden(t, "looking", seen.String())
}

func TestEveryHelpText(t *testing.T) {
	x := newTown(t)
	var all strings.Builder
	var walk func(path []string, cmd *cobra.Command)
	walk = func(path []string, cmd *cobra.Command) {
		fmt.Fprintf(&all, "==== holdfast %s\n%s\n", strings.Join(path, " "), x.done(append(path, "--help")...))
		for _, sub := range cmd.Commands() {
			if sub.Short == "" || sub.RunE == nil && !sub.HasSubCommands() {
				t.Errorf("command %v %s says nothing or does nothing", path, sub.Name())
			}
			walk(append(append([]string{}, path...), sub.Name()), sub)
		}
	}
	walk(nil, (&app{}).root())
	golden(t, "help", all.String())
}

func TestUsageErrorsExitWithTwo(t *testing.T) {
	x := newTown(t)
	var texts strings.Builder
	for _, line := range []string{
		"slae", "sale opn", "sale open", "sale open a b", "sale open a/b", "sale caps spring N1", "sale caps spring N1 many", "sale caps spring N1 -- -3",
		"sale status spring --every 1ms", "sale status spring --bogus", "sale times spring", "sale times spring --opens tomorrow", "roster import spring",
		"roster imprt", "hold release", "booking find spring", "dlq list --limit 0", "dlq redrive --limit -1", "dlq list more", "inbox resolve spring", "inbox accept spring nothing",
		"reap --sale spring", "reap extra", "sale open spring --as two|words", "export", "version 2",
	} {
		text := x.fails(exitUsage, strings.Fields(line)...)
		fmt.Fprintf(&texts, "$ holdfast %s\n%s\n", line, text)
	}
	if x.opened != 0 {
		t.Errorf("%d of them opened the house", x.opened)
	}
	golden(t, "usage", texts.String())
}

func TestRefusalsExitWithOneAndSayWhy(t *testing.T) {
	x := newTown(t)
	b := x.held("c1", "N1")
	paid := x.paid("c2", "N2")
	var texts strings.Builder
	bad := x.file("bad.yaml", strings.ReplaceAll(examFile, "cap: 10", "cap: ten"))
	for _, args := range [][]string{
		{"sale", "apply", bad}, {"sale", "apply", "nowhere.yaml"}, {"sale", "status", "nowhere"}, {"sale", "open", "nowhere"}, {"sale", "close", "nowhere"},
		{"sale", "caps", "spring", "N1", "0"}, {"sale", "caps", "spring", "N7", "1"}, {"sale", "caps", "spring", "total", "99"},
		{"roster", "import", "spring", x.file("r.csv", "name,phone\n")}, {"roster", "import", "spring", x.file("e.csv", "code,email\n")},
		{"booking", "show", "nothing"}, {"booking", "cancel", b.ID}, {"booking", "find", "spring", "a b"}, {"hold", "release", paid.ID},
		{"inbox", "resolve", "spring", "nothing"}, {"inbox", "resolve", "spring", "page:none", "--refund"}, {"inbox", "accept", "spring", "page:none"}, {"export", "nowhere"},
	} {
		text := x.fails(exitRefused, args...)
		fmt.Fprintf(&texts, "$ holdfast %s\n%s\n", strings.Join(args, " "), text)
	}
	golden(t, "refused", stable(texts.String()))
}

// With --json every command that shows something is a document for machines.
func TestJSON(t *testing.T) {
	x := newTown(t)
	x.done("sale", "apply", x.file("exam.yaml", examFile))
	x.held("c1", "N1")
	paid := x.paid("c2", "N2")
	x.dead.letters = []fifo.DeadLetter{{Meta: events.Meta{MessageID: "m1", SentAt: x.Now()}, Reason: "conflict", Event: events.Event{Type: events.BookingHeld, Sale: "spring", BookingID: "B9"}}}
	for _, c := range []struct{ line, has string }{
		{"sale status spring --json", "levels"}, {"sale totals spring --json", "paid"}, {"booking show " + paid.ID + " --json", "history"},
		{"booking find spring ab-0001 --json", "on_roster"}, {"hold list spring --json", "age_seconds"}, {"dlq list --json", "reason"},
		{"roster import exam " + x.file("r.csv", examRoster) + " --json", "roster"}, {"sale trail exam --json", "actor"},
		{"repair spring --dry-run --json", "drift"}, {"audit spring --json", "violations"}, {"reap --once --sale spring --json", "sweeps"},
	} {
		r := x.run(strings.Fields(c.line)...)
		first, _, _ := strings.Cut(strings.TrimSpace(r.out), "\n{")
		var doc map[string]any
		if err := json.Unmarshal([]byte(first), &doc); err != nil {
			t.Errorf("%s: %v: %s%s", c.line, err, r.out, r.err)
			continue
		}
		if _, ok := doc[c.has]; !ok {
			t.Errorf("%s has no %q: %s", c.line, c.has, r.out)
		}
	}
	var checks []map[string]string
	if err := json.Unmarshal([]byte(x.run("sale", "check", "exam", "--json").out), &checks); err != nil || len(checks) < 8 {
		t.Errorf("check: %v, %d", err, len(checks))
	}
}

func TestHashesOfInputStayInside(t *testing.T) {
	x := newTown(t)
	k := x.held("c1", "N1")
	for _, out := range []string{x.done("booking", "show", k.ID), x.done("booking", "show", k.ID, "--json")} {
		if strings.Contains(out, "key"+k.ID) || strings.Contains(out, "0123456789abcdef") {
			t.Errorf("key or e-mail hash are shown: %s", out)
		}
	}
}

func TestRolesEndInOrder(t *testing.T) {
	x := newTown(t)
	for _, name := range []string{"serve", "work", "reap"} {
		ctx, stop := context.WithCancel(t.Context())
		running, finished := make(chan struct{}), false
		x.role = func(ctx context.Context) error {
			close(running)
			<-ctx.Done()
			finished = true
			return nil
		}
		go func() { <-running; stop() }()
		if r := x.runIn(ctx, name); r.code != exitDone || !finished || x.closed != x.opened {
			t.Errorf("%s: exit code %d, finished %v, opened %d, closed %d: %s", name, r.code, finished, x.opened, x.closed, r.err)
		}
		x.role = func(context.Context) error { return errDown }
		if text := x.fails(exitRefused, name); !strings.Contains(text, "no route to host") {
			t.Errorf("%s: %q", name, text)
		}
	}
}

func TestAHouseThatDoesNotOpenOrClose(t *testing.T) {
	x := newTown(t)
	x.close = errors.New("the last status could not be published")
	if text := x.fails(exitRefused, "sale", "list"); !strings.Contains(text, "could not be published") {
		t.Errorf("%q", text)
	}
	x.openErr = errDown
	if text := x.fails(exitRefused, "sale", "list"); !strings.Contains(text, "no route to host") {
		t.Errorf("%q", text)
	}
}

func TestWatchShowsAgainAndAgainUntilItIsStopped(t *testing.T) {
	x := newTown(t)
	ctx, stop := context.WithCancel(t.Context())
	looks := 0
	x.Faults.Yield = func(op string) {
		if op == "redis ScanRecords" {
			if looks++; looks == 3 {
				stop()
			}
		}
	}
	r := x.runIn(ctx, "sale", "status", "spring", "--watch", "--every", "100ms", "--json")
	if lines := strings.Count(r.out, "\n"); r.code != exitDone || lines != 2 {
		t.Errorf("exit code %d, %d documents: %s%s", r.code, lines, r.out, r.err)
	}
	x.Faults.Yield = nil
	x.fails(exitRefused, "sale", "status", "nowhere", "--watch")
}

func TestWatchGoesOnThroughAFailover(t *testing.T) {
	x := newTown(t)
	ctx, stop := context.WithCancel(t.Context())
	looks := 0
	x.Redis.Flush()
	x.Faults.Yield = func(op string) {
		if op == "redis ScanRecords" {
			if looks++; looks == 2 {
				stop()
			}
		}
	}
	r := x.runIn(ctx, "sale", "status", "spring", "--watch", "--every", "100ms")
	if r.code != exitDone || !strings.Contains(r.out, "LOST in Redis: run holdfast rebuild spring") {
		t.Errorf("exit code %d: %s%s", r.code, r.out, r.err)
	}
}

func TestDeadLetters(t *testing.T) {
	x := newTown(t)
	if out := x.done("dlq", "list"); out != "no dead letters\n" {
		t.Errorf("%q", out)
	}
	x.dead.letters = []fifo.DeadLetter{
		{Meta: events.Meta{MessageID: "m1", SentAt: x.Now().Add(-time.Hour)}, Reason: "conflict", Event: events.Event{Type: events.BookingHeld, Sale: "spring", BookingID: "B9"}},
		{Meta: events.Meta{MessageID: "m2", SentAt: x.Now()}, Reason: "retries_exhausted", Undecodable: errors.New("not an event")},
	}
	golden(t, "dlq", x.done("dlq", "list")+x.done("dlq", "redrive", "--limit", "5"))
	if x.dead.limit != 5 {
		t.Errorf("limit %d", x.dead.limit)
	}
	x.dead.task = "task-1"
	if out := x.done("dlq", "redrive"); !strings.Contains(out, "by itself") || x.dead.limit != 0 {
		t.Errorf("%q", out)
	}
	x.dead.err = errDown
	x.fails(exitRefused, "dlq", "list")
	x.fails(exitRefused, "dlq", "redrive")
}

func TestInboxCommands(t *testing.T) {
	x := newTown(t)
	k := x.held("c1", "N1")
	x.Page.Pay(k.PaymentID)
	x.apply(ledger.Flag(x.Booking(k.ID), ledger.Capture{Key: k.Key, AmountMinor: 1, Currency: "BDT", At: x.Now()}, "amount: got 1, want 10000", x.Now()), nil)
	if err := x.Store.Park(t.Context(), ledger.InboxItem{Sale: "spring", ID: "i1", Reason: "unattached", At: x.Now()}); err != nil {
		t.Fatal(err)
	}
	var texts strings.Builder
	for _, args := range [][]string{{"inbox", "list", "spring"}, {"inbox", "resolve", "spring", "i1"}, {"inbox", "resolve", "spring", k.Key.String(), "--refund"},
		{"inbox", "list", "spring"}, {"inbox", "list", "spring", "--all"}} {
		fmt.Fprintf(&texts, "$ holdfast %s\n%s\n", strings.Join(args, " "), x.done(args...))
	}
	x.fails(exitRefused, "inbox", "accept", "spring", k.Key.String()) // its money is on its way back
	golden(t, "inbox", texts.String())
	other := x.held("c2", "N1")
	x.Page.Pay(other.PaymentID)
	x.apply(ledger.Flag(x.Booking(other.ID), ledger.Capture{Key: other.Key, AmountMinor: 1, Currency: "BDT", At: x.Now()}, "amount: got 1, want 10000", x.Now()), nil)
	if text := x.done("inbox", "accept", "spring", other.Key.String()); !strings.Contains(text, "pays its booking") || x.Booking(other.ID).State != ledger.Paid {
		t.Errorf("%q, booking %s", text, x.Booking(other.ID).State)
	}
	if n := x.Page.Refunds(k.PaymentID); n != 1 {
		t.Errorf("refunded %d times", n)
	}
}

func TestExtraCommands(t *testing.T) {
	x := newTown(t)
	called := false
	a := &app{env: func(string) string { return "" }, stdin: strings.NewReader(""), stdout: &strings.Builder{}, stderr: &strings.Builder{}, open: x.open, now: x.Now}
	code := a.run(t.Context(), []string{"survey"}, &cobra.Command{Use: "survey", RunE: func(*cobra.Command, []string) error { called = true; return nil }})
	if code != exitDone || !called {
		t.Errorf("exit code %d, called %v", code, called)
	}
}
