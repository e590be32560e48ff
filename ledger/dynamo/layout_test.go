package dynamo

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/sale"
)

var start = time.Date(2026, 3, 1, 4, 0, 0, 0, time.UTC)

// 20,000 holds that fall due in the same second must not land on one index
// partition, and no two may share a sort key.
func TestDueHoldsSpread(t *testing.T) {
	const holds = 20_000
	perPartition, unique := map[string]int{}, map[string]bool{}
	for n := range holds {
		pk, sk := dueKey(holdsDue, "spring", fmt.Sprintf("%026d", n), start)
		perPartition[text(pk)]++
		unique[text(sk)] = true
	}
	if len(perPartition) != shards || len(unique) != holds {
		t.Errorf("%d partitions and %d sort keys, want %d and %d", len(perPartition), len(unique), shards, holds)
	}
	for pk, n := range perPartition {
		if n > 2*holds/shards {
			t.Errorf("partition %s holds %d of %d", pk, n, holds)
		}
	}
}

// Nothing in a booking's way touches the control item or anything else that all
// bookings of a sale share.
func TestNoHotItem(t *testing.T) {
	s := New(nil, "ledger", func() time.Time { return start })
	seen := map[key]string{}
	for n := range 2 {
		b := ledger.Booking{ID: fmt.Sprint("b", n), Sale: "spring", Candidate: fmt.Sprint("c", n), Level: "N1", Seats: []ledger.Seat{{Token: fmt.Sprint("N1-", n)}},
			Payment: ledger.PaymentKey{Gateway: "g", ID: fmt.Sprint("p", n)}, HoldUntil: start}
		for _, tr := range life(t, b) {
			for _, a := range s.actions(tr) {
				if other, shared := seen[a.key]; shared && other != b.ID {
					t.Errorf("%s of %s and %s both write %v", tr.Name, b.ID, other, a.key)
				}
				seen[a.key] = b.ID
				if strings.HasPrefix(a.key.pk, controlKind) {
					t.Errorf("%s writes %v", tr.Name, a.key)
				}
			}
		}
	}
}

func life(t *testing.T, b ledger.Booking) []ledger.Transition {
	t.Helper()
	held, paid, released := b, b, b
	held.State, paid.State, released.State = ledger.Held, ledger.Paid, ledger.Released
	c := ledger.Capture{Key: b.Payment, At: start}
	var all []ledger.Transition
	add := func(tr ledger.Transition, err error) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, tr)
	}
	add(ledger.Hold(b, "w", start))
	add(ledger.Extend(held, start.Add(time.Minute), "w", start))
	add(ledger.Commit(held, b.Payment, start, start))
	add(ledger.Confirm(held, c, "w", start))
	add(ledger.Expire(held, start, "r", start))
	add(ledger.Tombstone(b, ledger.ReasonOrphan, "r", start))
	add(ledger.UndoDone(released, start))
	add(ledger.Cancel(paid, "o", start))
	add(ledger.RefundLate(b, c, "w", start), nil)
	return all
}

// A hall of 20,000 named seats fits into an item of 400 KB, with room to spare.
func TestTheLargestPlanFits(t *testing.T) {
	plan := sale.Sale{ID: "hall", OpensAt: start, ClosesAt: start}
	level := sale.Level{Name: "stalls", Kind: sale.KindSeated}
	for n := range 20_000 {
		level.Seats = append(level.Seats, sale.Seat{Name: fmt.Sprintf("block-%02d-row-%03d-seat-%04d", n/1000, n/40, n%1000), Score: n})
	}
	level.Cap = len(level.Seats)
	plan.Levels = []sale.Level{level}
	it, err := controlItem(ledger.Control{Sale: "hall", Plan: plan}, "w")
	if err != nil {
		t.Fatal(err)
	}
	if size := len(it["plan"].(*types.AttributeValueMemberB).Value); size > 200<<10 {
		t.Errorf("the plan is %d bytes", size)
	}
	got, err := readControl(it, "hall")
	if err != nil || len(got.Plan.Levels[0].Seats) != 20_000 {
		t.Errorf("%d seats came back (%v)", len(got.Plan.Levels[0].Seats), err)
	}
}

// What something else wrote into the table is an error, never a zero value.
func TestForeignAttributesAreErrors(t *testing.T) {
	good := bookingItem(ledger.Booking{ID: "b", Sale: "s", State: ledger.Held, Seats: []ledger.Seat{{Token: "t"}}, HoldUntil: start})
	if _, err := readBooking(good); err != nil {
		t.Fatal(err)
	}
	for name := range good {
		bad := item{}
		for k, v := range good {
			bad[k] = v
		}
		bad[name] = &types.AttributeValueMemberNS{Value: []string{"1"}}
		_, err := readBooking(bad)
		if index := strings.HasPrefix(name, "due_") || name == SortKey; (err == nil) != index {
			t.Errorf("a booking whose %s is a set of numbers: error %v", name, err)
		}
	}
	bad := item{PartitionKey: str("B#b"), "gen": &types.AttributeValueMemberN{Value: "1.5"}}
	if _, err := readBooking(bad); err == nil {
		t.Error("half a generation was read")
	}
}

func text(v types.AttributeValue) string { return v.(*types.AttributeValueMemberS).Value }
