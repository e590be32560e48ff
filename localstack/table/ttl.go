package table

import (
	"strconv"

	"github.com/holdfast/holdfast/localstack/fault"
)

// TimeToLiveSpecification switches expiry by an attribute on or off.
type TimeToLiveSpecification struct {
	AttributeName string
	Enabled       bool
}

// UpdateTimeToLiveInput changes a table's expiry.
type UpdateTimeToLiveInput struct {
	TableName               string
	TimeToLiveSpecification TimeToLiveSpecification
}

// UpdateTimeToLiveOutput repeats what was set.
type UpdateTimeToLiveOutput struct{ TimeToLiveSpecification TimeToLiveSpecification }

// UpdateTimeToLive takes note of the attribute. Expired items stay, are read and
// are written until RemoveExpired is called: AWS promises no more than "within
// days", so nothing may rely on their going (protocol.md 1.7).
func (db *DB) UpdateTimeToLive(in UpdateTimeToLiveInput) (UpdateTimeToLiveOutput, error) {
	return call(db, "UpdateTimeToLive", in.TableName, 0, func(fault.Verdict) (UpdateTimeToLiveOutput, error) {
		t, err := db.table(in.TableName)
		if err != nil {
			return UpdateTimeToLiveOutput{}, err
		}
		wanted := in.TimeToLiveSpecification
		if wanted.AttributeName == "" {
			return UpdateTimeToLiveOutput{}, invalid("1 validation error detected: Value '' at 'timeToLiveSpecification.attributeName' failed to satisfy constraint: Member must have length greater than or equal to 1")
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		t.ttl = ""
		if wanted.Enabled {
			t.ttl = wanted.AttributeName
		}
		return UpdateTimeToLiveOutput{wanted}, nil
	})
}

// DescribeTimeToLiveInput names a table.
type DescribeTimeToLiveInput struct{ TableName string }

// TimeToLiveDescription is a table's expiry: TimeToLiveStatus is ENABLED or
// DISABLED.
type TimeToLiveDescription struct {
	TimeToLiveStatus string
	AttributeName    string `json:",omitempty"`
}

// DescribeTimeToLiveOutput describes it.
type DescribeTimeToLiveOutput struct{ TimeToLiveDescription TimeToLiveDescription }

// DescribeTimeToLive tells a table's expiry.
func (db *DB) DescribeTimeToLive(in DescribeTimeToLiveInput) (DescribeTimeToLiveOutput, error) {
	return call(db, "DescribeTimeToLive", in.TableName, 0, func(fault.Verdict) (DescribeTimeToLiveOutput, error) {
		t, err := db.table(in.TableName)
		if err != nil {
			return DescribeTimeToLiveOutput{}, err
		}
		t.mu.RLock()
		defer t.mu.RUnlock()
		d := TimeToLiveDescription{"DISABLED", ""}
		if t.ttl != "" {
			d = TimeToLiveDescription{"ENABLED", t.ttl}
		}
		return DescribeTimeToLiveOutput{d}, nil
	})
}

// RemoveExpired deletes the expired items of a table and returns how many: the
// background work of AWS, done when the embedder wants it.
func (db *DB) RemoveExpired(table string) (int, error) {
	t, err := db.table(table)
	if err != nil {
		return 0, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	now := db.options.Now().Unix()
	var expired []entry
	for _, chunk := range t.main.rows.chunks {
		for _, e := range chunk {
			until, err := strconv.ParseInt(e.row.item[t.ttl].text, 10, 64)
			if t.ttl != "" && err == nil && e.row.item[t.ttl].kind == KindN && until < now {
				expired = append(expired, e)
			}
		}
	}
	for _, e := range expired {
		t.put(db, e.key, e.row, nil)
	}
	return len(expired), nil
}
