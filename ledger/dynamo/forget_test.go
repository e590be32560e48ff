package dynamo_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/ledger/dynamo"
	"github.com/holdfast/holdfast/localstack/table"
	"github.com/holdfast/holdfast/sale"
)

// fill writes an item of every kind for a sale.
func fill(t *testing.T, s *dynamo.Store, saleID string) {
	t.Helper()
	ctx := t.Context()
	b := ledger.Booking{ID: "booking-of-" + saleID, Sale: saleID, Candidate: "c1", EmailHash: "e", Level: "N1", Gen: 1,
		Seats: []ledger.Seat{{Token: "N1-1"}}, Price: sale.Money{AmountMinor: 5, Currency: "EUR"},
		Payment: ledger.PaymentKey{Gateway: "page", ID: "pay-" + saleID}, AdmittedAt: start, HoldUntil: start.Add(time.Minute)}
	paid, err := ledger.ConfirmUnheld(b, ledger.Capture{Key: b.Payment, AmountMinor: 5, Currency: "EUR", At: start}, "worker", start)
	if err != nil {
		t.Fatal(err)
	}
	var rows []ledger.RosterRow
	for n := range 60 { // more than one batch
		rows = append(rows, ledger.RosterRow{Candidate: fmt.Sprint("c", n), EmailHash: "e"})
	}
	for what, err := range map[string]error{
		"control": s.CreateControl(ctx, ledger.Control{Sale: saleID, Gen: 1}),
		"booking": s.Apply(ctx, paid),
		"roster":  s.PutRoster(ctx, saleID, rows),
		"inbox":   s.Park(ctx, ledger.InboxItem{Sale: saleID, ID: "i", At: start}),
		"trail":   s.AppendAudit(ctx, saleID, ledger.AuditEntry{At: start, Actor: "operator:ann", Action: "open"}),
		"status":  s.PutStatus(ctx, saleID, 1, 1, []byte("{}")),
		"note":    s.NoteSweep(ctx, saleID, ledger.SweepNote{Kind: "sweep", At: start}),
		"minute":  s.PutMinute(ctx, saleID, ledger.Minute{At: start, Process: "p"}),
	} {
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
}

// keys are all rows of a table.
func keys(t *testing.T, client *dynamodb.Client, name string) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	out, err := client.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String(name)})
	if err != nil || len(out.LastEvaluatedKey) > 0 {
		t.Fatal(err)
	}
	for _, it := range out.Items {
		all[it[dynamo.PartitionKey].(*types.AttributeValueMemberS).Value+" "+it[dynamo.SortKey].(*types.AttributeValueMemberS).Value] = true
	}
	return all
}

// TestForgetRehearsal deletes a rehearsal to the last item, leaves the sale
// beside it alone, and refuses to delete that one.
func TestForgetRehearsal(t *testing.T) {
	client := dial(t, serve(t, table.Options{}), plain, false)
	const name = "forget"
	if err := dynamo.EnsureTable(t.Context(), client, name); err != nil {
		t.Fatal(err)
	}
	s := dynamo.New(client, name, clock)
	fill(t, s, "spring")
	before := keys(t, client, name)
	fill(t, s, "rehearsal-1")
	all := len(keys(t, client, name)) - len(before)

	if n, err := s.ForgetRehearsal(t.Context(), "spring"); err == nil || n != 0 {
		t.Fatalf("a real sale: %d, %v", n, err)
	}
	if n, err := s.ForgetRehearsal(t.Context(), "rehearsal-1"); err != nil || n != all-1 { // all but the list's entry
		t.Fatalf("%d of %d: %v", n, all, err)
	}
	after := keys(t, client, name)
	for k := range after {
		if !before[k] {
			t.Errorf("%s is left", k)
		}
	}
	if len(after) != len(before) {
		t.Errorf("%d rows of the other sale, %d before", len(after), len(before))
	}
	if n, err := s.ForgetRehearsal(t.Context(), "rehearsal-1"); err != nil || n != 0 {
		t.Errorf("again: %d, %v", n, err)
	}
}

// TestForgetBreaksOff: what broke off is still listed, and ends the next time.
func TestForgetBreaksOff(t *testing.T) {
	client := dial(t, serve(t, table.Options{}), plain, false)
	s := newStore(t, client)
	fill(t, s, "rehearsal-2")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.ForgetRehearsal(ctx, "rehearsal-2"); err == nil {
		t.Fatal("it went on without a context")
	}
	if list, err := s.Sales(t.Context()); err != nil || len(list) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	if _, err := s.ForgetRehearsal(t.Context(), "rehearsal-2"); err != nil {
		t.Fatal(err)
	}
	if list, err := s.Sales(t.Context()); err != nil || len(list) != 0 {
		t.Fatalf("%v, %v", list, err)
	}
}
