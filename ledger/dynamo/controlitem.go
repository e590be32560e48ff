package dynamo

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/sale"
)

// controlItem is the G item. writer names the call that writes it, so that its
// own retry knows its own work.
func controlItem(c ledger.Control, writer string) (item, error) {
	plan, err := packPlan(c.Plan)
	if err != nil {
		return nil, err
	}
	r := row(saleKey(c.Sale, controlRow).item())
	r["gen"], r["rev"], r["epoch"], r["roster_size"] = num(c.Gen), num(c.Rev), num(c.Epoch), num(c.RosterSize)
	r["cap_serial"], r["seat_serial"] = num(c.CapSerial), num(c.SeatSerial)
	r.setTime("seats_at", c.SeatsAt)
	r["frozen"], r["open"], r["plan"], r["writer"] = boolean(c.Frozen), boolean(c.Open), binary(plan), str(writer)
	r.setStr("rebuilder", c.Rebuilder)
	r.setTime("rebuilder_until", c.RebuilderUntil)
	r.setStr("roster_version", c.RosterVersion)
	r.setStr("replication_id", c.ReplicationID)
	r.setStr("breaker", c.Breaker)
	if c.Next != nil {
		r["next"] = numbers(c.Next)
	}
	if i := c.CapIntent; i != nil {
		r["cap_intent"] = list([]ledger.CapIntent{*i}, intentValue)
	}
	return item(r), nil
}

func readControl(it item, saleID string) (ledger.Control, error) {
	r := &reader{item: it}
	c := ledger.Control{
		Sale: saleID, Gen: r.num("gen"), Frozen: r.boolean("frozen"), Rebuilder: r.str("rebuilder"), RebuilderUntil: r.time("rebuilder_until"),
		Open: r.boolean("open"), RosterVersion: r.str("roster_version"), RosterSize: int(r.num("roster_size")),
		Epoch: r.num("epoch"), ReplicationID: r.str("replication_id"), Breaker: r.str("breaker"), Rev: r.num("rev"),
		CapSerial: r.num("cap_serial"), SeatSerial: r.num("seat_serial"), SeatsAt: r.time("seats_at"),
	}
	c.Next = readNumbers(r, "next")
	r.each("cap_intent", func(i *reader) {
		c.CapIntent = &ledger.CapIntent{Serial: i.num("serial"), Level: i.str("level"), From: int(i.num("from")), To: int(i.num("to")), First: int(i.num("first")),
			Actor: ledger.Actor(i.str("actor")), Reason: i.str("reason"), At: i.time("at")}
	})
	if r.err != nil {
		return c, r.err
	}
	var err error
	c.Plan, err = unpackPlan(r.binary("plan"))
	return c, err
}

func intentValue(i ledger.CapIntent) types.AttributeValue {
	r := row{"serial": num(i.Serial), "level": str(i.Level), "from": num(i.From), "to": num(i.To), "first": num(i.First), "actor": str(string(i.Actor)), "reason": str(i.Reason)}
	r.setTime("at", i.At)
	return &types.AttributeValueMemberM{Value: item(r)}
}

func numbers(m map[string]int) types.AttributeValue {
	values := item{}
	for name, n := range m {
		values[name] = num(n)
	}
	return &types.AttributeValueMemberM{Value: values}
}

func readNumbers(r *reader, name string) map[string]int {
	if r.item[name] == nil {
		return nil
	}
	m := map[string]int{}
	r.fields(name, func(field string, part *reader) { m[field] = int(part.num(field)) })
	return m
}

// packPlan compresses: a hall of 20,000 named seats is over the 400 KB of an
// item in plain JSON, and every worker reads G again and again.
func packPlan(p sale.Sale) ([]byte, error) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if err := json.NewEncoder(z).Encode(p); err != nil {
		return nil, fmt.Errorf("pack the plan of sale %s: %w", p.ID, err)
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("pack the plan of sale %s: %w", p.ID, err)
	}
	return packed.Bytes(), nil
}

func unpackPlan(packed []byte) (p sale.Sale, err error) {
	const most = 16 << 20
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return p, fmt.Errorf("unpack the plan: %w", err)
	}
	if err := json.NewDecoder(io.LimitReader(z, most)).Decode(&p); err != nil {
		return p, fmt.Errorf("unpack the plan: %w", err)
	}
	return p, nil
}
