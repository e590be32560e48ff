package fifo_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"
	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/events/fifo"
)

// gate is a queue that answers when the test says so.
type gate struct {
	calls   chan []string                                                                // the deduplication ids of each call
	answers chan func(*sqs.SendMessageBatchOutput, []types.SendMessageBatchRequestEntry) // nil: all taken
}

func newGate() *gate {
	return &gate{calls: make(chan []string), answers: make(chan func(*sqs.SendMessageBatchOutput, []types.SendMessageBatchRequestEntry))}
}

func (g *gate) SendMessageBatch(ctx context.Context, in *sqs.SendMessageBatchInput, _ ...func(*sqs.Options)) (*sqs.SendMessageBatchOutput, error) {
	var ids []string
	out := &sqs.SendMessageBatchOutput{}
	for _, e := range in.Entries {
		ids = append(ids, aws.ToString(e.MessageDeduplicationId))
		out.Successful = append(out.Successful, types.SendMessageBatchResultEntry{Id: e.Id})
	}
	select {
	case g.calls <- ids:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case change := <-g.answers:
		if change != nil {
			change(out, in.Entries)
		}
		return out, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (g *gate) SendMessage(context.Context, *sqs.SendMessageInput, ...func(*sqs.Options)) (*sqs.SendMessageOutput, error) {
	return nil, errors.New("the publisher sends batches only")
}

// finish wants every event to be taken, and the publisher to end.
func finish(t *testing.T, p *fifo.Publisher, done []<-chan error) {
	t.Helper()
	for _, d := range done {
		if err := <-d; err != nil {
			t.Error(err)
		}
	}
	if err := p.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// publish calls Publish on its own and waits until the publisher has the event.
func publish(ctx context.Context, p *fifo.Publisher, candidate, bid string) <-chan error {
	done := make(chan error, 1)
	go func() { done <- p.Publish(ctx, held(candidate, bid)) }()
	synctest.Wait()
	return done
}

func want(t *testing.T, call []string, ids ...string) {
	t.Helper()
	if d := cmp.Diff(ids, call); d != "" {
		t.Errorf("the call carries (-want +got):\n%s", d)
	}
}

func TestLoneEventGoesAtOnceAndFollowersShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		p := fifo.NewPublisher(t.Context(), g, fifo.PublisherConfig{InFlight: 1})
		var done []<-chan error
		for i := range 13 {
			done = append(done, publish(t.Context(), p, fmt.Sprint("c", i), fmt.Sprint("B", i)))
		}
		want(t, <-g.calls, "H:B0")
		g.answers <- nil
		if call := <-g.calls; len(call) != 10 {
			t.Errorf("the followers' batch has %d events, want 10", len(call))
		}
		g.answers <- nil
		want(t, <-g.calls, "H:B11", "H:B12")
		g.answers <- nil
		finish(t, p, done)
	})
}

// While a few calls are under way the next ones fill up: a call costs the same and
// counts the same for one event as for ten.
func TestFurtherCallsLeaveWhenTheyAreFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		p := fifo.NewPublisher(t.Context(), g, fifo.PublisherConfig{AttemptTimeout: time.Hour, GiveUp: time.Hour})
		var done []<-chan error
		next := func() {
			done = append(done, publish(t.Context(), p, fmt.Sprint("c", len(done)), fmt.Sprint("B", len(done))))
		}
		for range 3 {
			next()
			if call := <-g.calls; len(call) != 1 {
				t.Errorf("an early call has %d events, want 1", len(call))
			}
		}
		for range 9 {
			next()
		}
		select {
		case call := <-g.calls:
			t.Fatalf("a fourth call left with %d events", len(call))
		default:
		}
		next()
		if call := <-g.calls; len(call) != 10 {
			t.Errorf("the fourth call has %d events, want 10", len(call))
		}
		next() // alone again: it leaves with the first answer
		g.answers <- nil
		if call := <-g.calls; len(call) != 1 {
			t.Errorf("after an answer %d events leave, want 1", len(call))
		}
		for range 4 {
			g.answers <- nil
		}
		finish(t, p, done)
	})
}

// A leader that rests between its attempts keeps nobody waiting.
func TestRestingLeadersHoldNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		p := fifo.NewPublisher(t.Context(), g, fifo.PublisherConfig{})
		var done []<-chan error
		for i := range 3 {
			done = append(done, publish(t.Context(), p, fmt.Sprint("c", i), fmt.Sprint("B", i)))
			<-g.calls
		}
		for range 3 {
			g.answers <- fail("InternalError", false, "H:B0", "H:B1", "H:B2")
		}
		synctest.Wait() // all three rest
		begin := time.Now()
		done = append(done, publish(t.Context(), p, "c9", "B9"))
		if call := <-g.calls; call[0] != "H:B9" || time.Now() != begin {
			t.Errorf("%v left after %v, want H:B9 at once", call, time.Since(begin))
		}
		g.answers <- nil
		for range 3 {
			<-g.calls
			g.answers <- nil
		}
		finish(t, p, done)
	})
}

// protocol.md 1.5: never two events of one candidate in one batch, and while
// one is on its way, or waits for its second attempt, none overtakes it.
func TestOneGroupIsSentInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		p := fifo.NewPublisher(t.Context(), g, fifo.PublisherConfig{InFlight: 2})
		a := publish(t.Context(), p, "c1", "B1")
		b := publish(t.Context(), p, "c1", "B2")
		c := publish(t.Context(), p, "c2", "B3")
		first, second := <-g.calls, <-g.calls // both leaders; which is first is open
		if len(first) > len(second) || first[0] == "H:B3" {
			first, second = second, first
		}
		want(t, first, "H:B1")
		want(t, second, "H:B3")
		g.answers <- fail("InternalError", false, "H:B1")
		g.answers <- fail("InternalError", false, "H:B1")
		if err := <-c; err != nil {
			t.Error(err)
		}
		want(t, <-g.calls, "H:B1") // again, B2 still behind it
		g.answers <- nil
		want(t, <-g.calls, "H:B2")
		g.answers <- nil
		if err := errors.Join(<-a, <-b, p.Close(t.Context())); err != nil {
			t.Error(err)
		}
	})
}

// fail moves entries from the answer's taken to its failed ones.
func fail(code string, sender bool, ids ...string) func(*sqs.SendMessageBatchOutput, []types.SendMessageBatchRequestEntry) {
	return func(out *sqs.SendMessageBatchOutput, entries []types.SendMessageBatchRequestEntry) {
		out.Successful = nil
		for _, e := range entries {
			failed := false
			for _, id := range ids {
				failed = failed || id == aws.ToString(e.MessageDeduplicationId)
			}
			if failed {
				out.Failed = append(out.Failed, types.BatchResultErrorEntry{Id: e.Id, Code: &code, SenderFault: sender})
			} else {
				out.Successful = append(out.Successful, types.SendMessageBatchResultEntry{Id: e.Id})
			}
		}
	}
}

func TestEntriesFailEachByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		p := fifo.NewPublisher(t.Context(), g, fifo.PublisherConfig{InFlight: 1})
		lone := publish(t.Context(), p, "c0", "B0")
		good, bad, silent := publish(t.Context(), p, "c1", "B1"), publish(t.Context(), p, "c2", "B2"), publish(t.Context(), p, "c3", "B3")
		<-g.calls
		g.answers <- nil
		want(t, <-g.calls, "H:B1", "H:B2", "H:B3")
		g.answers <- func(out *sqs.SendMessageBatchOutput, entries []types.SendMessageBatchRequestEntry) {
			fail("InvalidMessageContents", true, "H:B2")(out, entries)
			out.Successful = out.Successful[:1] // and no word about B3
		}
		if err := errors.Join(<-lone, <-good); err != nil {
			t.Error(err)
		}
		var refusal *fifo.EntryError
		if err := <-bad; !errors.Is(err, events.ErrNotQueued) || !errors.As(err, &refusal) || !refusal.SenderFault {
			t.Errorf("refused entry: %v", err)
		}
		want(t, <-g.calls, "H:B3")
		g.answers <- nil
		if err := errors.Join(<-silent, p.Close(t.Context())); err != nil {
			t.Error(err)
		}
	})
}

// While a leader waits to repeat what failed, successors of what it sent go on.
func TestFailuresDelayNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		p := fifo.NewPublisher(t.Context(), g, fifo.PublisherConfig{InFlight: 2})
		lone, other := publish(t.Context(), p, "c0", "B0"), publish(t.Context(), p, "c1", "B1")
		a, b := publish(t.Context(), p, "c2", "B2"), publish(t.Context(), p, "c3", "B3")
		<-g.calls
		<-g.calls
		g.answers <- nil
		g.answers <- nil
		want(t, <-g.calls, "H:B2", "H:B3")
		next, start := publish(t.Context(), p, "c2", "B4"), time.Now()
		g.answers <- fail("InternalError", false, "H:B3")
		if err := errors.Join(<-lone, <-other, <-a); err != nil {
			t.Error(err)
		}
		want(t, <-g.calls, "H:B4")
		if waited := time.Since(start); waited != 0 {
			t.Errorf("the next event of a sent group waited %v for another group", waited)
		}
		g.answers <- nil
		want(t, <-g.calls, "H:B3")
		g.answers <- nil
		if err := errors.Join(<-next, <-b, p.Close(t.Context())); err != nil {
			t.Error(err)
		}
	})
}

func TestCallersMayLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		p := fifo.NewPublisher(t.Context(), g, fifo.PublisherConfig{InFlight: 1, MaxWaiting: 1, AttemptTimeout: time.Hour, GiveUp: time.Hour})
		impatient, leave := context.WithCancel(t.Context())
		flying := publish(impatient, p, "c1", "B1")
		waiting := publish(impatient, p, "c2", "B2")
		<-g.calls
		if err := p.Publish(t.Context(), held("c3", "B3")); !errors.Is(err, events.ErrNotQueued) {
			t.Errorf("beyond MaxWaiting: %v", err)
		}
		leave()
		if err := <-flying; !errors.Is(err, events.ErrAmbiguous) {
			t.Errorf("left while the call was under way: %v", err)
		}
		if err := <-waiting; !errors.Is(err, events.ErrNotQueued) {
			t.Errorf("left before any call: %v", err)
		}
		next, start := publish(t.Context(), p, "c4", "B4"), time.Now()
		g.answers <- fail("InternalError", false, "H:B1")
		want(t, <-g.calls, "H:B4") // neither B1 again nor B2 at all
		if waited := time.Since(start); waited != 0 {
			t.Errorf("the next event waited %v for one that nobody waits for", waited)
		}
		g.answers <- nil
		if err := errors.Join(<-next, p.Close(t.Context())); err != nil {
			t.Error(err)
		}
	})
}

func TestCloseFinishesAndThenCutsOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		p := fifo.NewPublisher(t.Context(), g, fifo.PublisherConfig{InFlight: 1, AttemptTimeout: time.Hour, GiveUp: time.Hour})
		flying, waiting := publish(t.Context(), p, "c1", "B1"), publish(t.Context(), p, "c2", "B2")
		<-g.calls
		bounded, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := p.Close(bounded); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("close of a stuck queue: %v", err)
		}
		if err := <-flying; !errors.Is(err, events.ErrAmbiguous) {
			t.Errorf("cut off under way: %v", err)
		}
		if err := <-waiting; !errors.Is(err, events.ErrNotQueued) {
			t.Errorf("never sent: %v", err)
		}
		if err := p.Publish(t.Context(), held("c3", "B3")); !errors.Is(err, events.ErrNotQueued) {
			t.Errorf("after close: %v", err)
		}
		if err := p.Close(t.Context()); err != nil {
			t.Errorf("second close: %v", err)
		}
	})
}
