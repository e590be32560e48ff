package dynamo

import (
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/holdfast/holdfast/ledger"
)

// item is a row of the table as the SDK has it.
type item = map[string]types.AttributeValue

// key names a row.
type key struct{ pk, sk string }

func (k key) item() item { return item{PartitionKey: str(k.pk), SortKey: str(k.sk)} }

// The kinds of items, the first part of pk. Names of sales, candidates and
// gateways hold no '#' (sale.ValidName), so no two keys can be spelled alike.
const (
	bookingKind = "B#"
	claimKind   = "C#"
	seatKind    = "S#"
	paymentKind = "P#"
	rosterKind  = "R#"
	controlKind = "G#"
	inboxKind   = "I#"
	directory   = "SALES"

	alone       = "-" // sk of a row that shares its pk with nobody
	controlRow  = "control"
	statusRow   = "status"
	notePrefix  = "note#"
	auditStart  = "audit#"
	minuteStart = "minute#"
)

func bookingKey(id string) key              { return key{bookingKind + id, alone} }
func claimKey(saleID, candidate string) key { return key{claimKind + saleID + "#" + candidate, alone} }
func seatKey(saleID, token string) key      { return key{seatKind + saleID + "#" + token, alone} }
func rosterKey(saleID, candidate string) key {
	return key{rosterKind + saleID + "#" + candidate, alone}
}
func paymentKey(k ledger.PaymentKey) key { return key{paymentKind + k.Gateway + "#" + k.ID, alone} }
func saleKey(saleID, row string) key     { return key{controlKind + saleID, row} }

// shards spreads each listing of a sale over so many index partitions. The
// holds of a sale all fall due within minutes of each other; at 16, 20,000 of
// them are 1,250 each (protocol.md 3.3).
const shards = 16

// The listings of the index.
const (
	holdsDue   = "hold_due"
	undosOwed  = "undo"
	refundsDue = "refund_due"
)

func duePartition(listing, saleID string, shard uint32) string {
	return fmt.Sprintf("%s#%s#%02d", listing, saleID, shard)
}

// dueKey places id in a listing at time at. The id makes the sort key unique.
func dueKey(listing, saleID, id string, at time.Time) (pk, sk types.AttributeValue) {
	h := fnv.New32a()
	h.Write([]byte(id)) // never fails
	return str(duePartition(listing, saleID, h.Sum32()%shards)), str(dueTime(at) + "#" + id)
}

// dueTime sorts as the time does, until the year 2286.
func dueTime(at time.Time) string { return fmt.Sprintf("%013d", at.UnixMilli()) }

// lastPart is the end of a pk: the booking id, or what follows the sale.
func lastPart(pk string) string { return pk[strings.LastIndexByte(pk, '#')+1:] }

// paymentOf reads the pk of a payment; the gateway's own id may hold a '#'.
func paymentOf(pk string) ledger.PaymentKey {
	gateway, id, _ := strings.Cut(strings.TrimPrefix(pk, paymentKind), "#")
	return ledger.PaymentKey{Gateway: gateway, ID: id}
}
