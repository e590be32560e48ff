package dynamo

import (
	"bytes"
	"testing"

	"github.com/holdfast/holdfast/sale"
)

// FuzzUnpackPlan: whatever stands in the item, reading it ends with a plan or an
// error; and a plan that can be read is written so that it can be read again.
func FuzzUnpackPlan(f *testing.F) {
	packed, err := packPlan(sale.Sale{ID: "spring", Zone: "UTC", Levels: []sale.Level{{Name: "A", Cap: 3}}}.WithDefaults())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(packed)
	f.Add(packed[:len(packed)/2])
	f.Add([]byte{})
	f.Add(bytes.Repeat([]byte{0x1f, 0x8b}, 40))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := unpackPlan(data)
		if err != nil {
			return
		}
		again, err := packPlan(p)
		if err != nil {
			t.Fatalf("a plan that was read can't be written: %v", err)
		}
		if _, err := unpackPlan(again); err != nil {
			t.Fatalf("a plan that was written can't be read: %v", err)
		}
	})
}
