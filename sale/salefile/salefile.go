// Package salefile reads a sale from the YAML file that an operator writes.
//
//	sale: spring                      # [A-Za-z0-9_-], at most 40 characters
//	title: Spring examination
//	time_zone: Asia/Dhaka             # IANA name
//	opens_at: 2027-03-01T10:00:00     # local time in time_zone, or RFC 3339 with an offset
//	closes_at: 2027-03-01T22:00:00
//	hold: 10m
//	price: {amount_minor: 350000, currency: BDT}   # per seat
//	total_cap: 20700                  # default: the sum of the levels; may be lower, never higher
//	max_seats: 1                      # per booking, 1 to 10; default 1
//	soft_hold_max: 10m                # default: the hold
//	levels:
//	  - {level: N1, cap: 1200}        # kind: counted (default)
//	  - {level: Hall, kind: seated, seats: [A-1, A-2, {seat: B-1, score: 10}], price: {...}}
//	  - level: Opera                  # who sits beside whom is said by rows, not by numbers
//	    sections:
//	      - section: Stalls
//	        price: {...}              # default: the level's
//	        rows:
//	          - {row: A, seats: [A1..A14, aisle, A15..A28], blocked: [A7], accessible: [A28]}
//	          - {row: B, seats: [B27..B1 by 2, aisle, B2..B28 by 2]}
//	ages: {attached_max: 20m}         # default: derived from the hold, see sale.DeriveAges
package salefile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/holdfast/holdfast/sale"
)

// MaxBytes is the largest sale file that is read; a hall of 100,000 named seats fits.
const MaxBytes = 8 << 20

// Parse reads one sale. It is strict: an unknown or repeated field, a value of the wrong kind, a local time that does not exist or exists twice is a fault. All faults come at once, with their lines, as a *sale.FaultsError; any other error means that the file could not be read. Defaults are filled in, so the sale is complete.
func Parse(r io.Reader) (sale.Sale, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return sale.Sale{}, fmt.Errorf("read the sale file: %w", err)
	}
	if len(data) > MaxBytes {
		return sale.Sale{}, fmt.Errorf("read the sale file: it is larger than %d bytes", MaxBytes)
	}
	root, err := document(data)
	if err != nil {
		return sale.Sale{}, &sale.FaultsError{Faults: []sale.Fault{{Reason: err.Error()}}}
	}
	d := &decoder{lines: make(map[string]int)}
	s := d.sale(root)
	return d.finish(s.WithDefaults())
}

// document parses the YAML and returns its one document's content.
func document(data []byte) (*yaml.Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, errors.New("the file is empty: see the example for its fields")
	} else if err != nil {
		return nil, fmt.Errorf("not a YAML file: %w", err)
	}
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, errors.New("the file has more after its first document: one file is one sale")
	}
	if len(doc.Content) == 0 {
		return nil, errors.New("the file is empty: see the example for its fields")
	}
	return doc.Content[0], nil
}

// finish adds what Validate finds to what the decoder found. A place that was already found faulty is not blamed again for what stands in it instead.
func (d *decoder) finish(s sale.Sale) (sale.Sale, error) {
	var invalid *sale.FaultsError
	if errors.As(s.Validate(), &invalid) {
		for _, f := range invalid.Faults {
			if !d.blamed(f.Path) {
				f.Line = d.line(f.Path)
				d.faults = append(d.faults, f)
			}
		}
	}
	if len(d.faults) > 0 {
		slices.SortStableFunc(d.faults, func(a, b sale.Fault) int { return cmp.Compare(a.Line, b.Line) })
		return sale.Sale{}, &sale.FaultsError{Faults: d.faults}
	}
	return s, nil
}
