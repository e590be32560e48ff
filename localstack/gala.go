package main

import (
	"context"
	"fmt"
	"io"
	"text/template"
)

// gala is the demonstration of named seats, whose story the README tells.
const (
	galaSale   = "gala"
	galaGuests = 20
)

var galaFile = template.Must(template.New("gala").Parse(`sale: {{.Sale}}
title: Gala evening
time_zone: UTC
opens_at: {{.Opens}}
closes_at: {{.Closes}}
hold: 10m
soft_hold_max: 10m
max_seats: 4
price: {amount_minor: 500000, currency: BDT}
levels:
  - level: Hall
    sections:
      - section: Stalls
        rows:
          - {row: A, seats: [A1..A4, aisle, A5..A8]}
          - {row: B, seats: [B1..B4, aisle, B5..B8], accessible: [B1, B8]}
          - {row: C, seats: [C1..C4, aisle, C5..C8], blocked: [C4]}
      - section: Box
        price: {amount_minor: 900000, currency: BDT}
        rows:
          - {row: X, seats: [X1..X4]}
`))

// openGala opens it for a few guests with names that a person can type.
func (t *town) openGala(ctx context.Context, out io.Writer) error {
	return t.openSale(ctx, out, galaSale, galaFile, func(w io.Writer) error {
		fmt.Fprintln(w, "code,email")
		for i := 1; i <= galaGuests; i++ {
			if _, err := fmt.Fprintf(w, "CODE-%04d,person.%d@example.org\n", i, i); err != nil {
				return err
			}
		}
		return nil
	})
}
