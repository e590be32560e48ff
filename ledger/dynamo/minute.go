package dynamo

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/holdfast/holdfast/ledger"
)

var _ ledger.MinuteStore = (*Store)(nil)

// PutMinute implements ledger.MinuteStore.
func (s *Store) PutMinute(ctx context.Context, saleID string, m ledger.Minute) error {
	it := saleKey(saleID, minuteStart+dueTime(m.At)+"#"+m.Process).item()
	it["at"] = millis(m.At)
	it["process"] = str(m.Process)
	it["answers"] = numbers(m.Answers)
	for name, l := range latencies(&m) {
		it[name] = list(l[:], num[int])
	}
	return s.putIf(ctx, "put a minute of sale "+saleID, it, newExpression())
}

// Minutes implements ledger.MinuteStore.
func (s *Store) Minutes(ctx context.Context, saleID string, since time.Time, each func(ledger.Minute) error) error {
	e := newExpression()
	e.require(e.equal(PartitionKey, controlKind+saleID))
	e.require(e.name(SortKey) + " BETWEEN " + e.value(str(minuteStart+dueTime(since))) + " AND " + e.value(str(minuteStart+"~")))
	in := &dynamodb.QueryInput{TableName: s.table, KeyConditionExpression: e.condition(), ConsistentRead: aws.Bool(true)}
	in.ExpressionAttributeNames, in.ExpressionAttributeValues = e.placeholders()
	return s.query(ctx, "list the minutes of sale "+saleID, in, func(page []item) error {
		for _, it := range page {
			m, err := readMinute(it)
			if err != nil {
				return err
			}
			if err := each(m); err != nil {
				return err
			}
		}
		return nil
	})
}

func readMinute(it item) (ledger.Minute, error) {
	r := &reader{item: it}
	m := ledger.Minute{At: r.time("at"), Process: r.str("process"), Answers: readNumbers(r, "answers")}
	for name, l := range latencies(&m) {
		i := 0
		r.each(name, func(n *reader) {
			if i < len(l) { // a later build may have more bounds: what it counts beyond ours is slower
				l[i] = int(n.num(""))
			} else {
				l[len(l)-1] += int(n.num(""))
			}
			i++
		})
	}
	return m, r.err
}

func latencies(m *ledger.Minute) map[string]*ledger.Latency {
	return map[string]*ledger.Latency{"admit": &m.Admit, "created": &m.Created, "refused": &m.Refused}
}
