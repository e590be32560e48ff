package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/holdfast/holdfast/load"
	"github.com/holdfast/holdfast/sale/roster/rostergen"
)

const saleID = "torture"

var levels = []string{"N1", "N2", "N3"}

// tortured is the sale under torture: almost as many seats as people, so that
// there is something to admit until the end, and refusals at the very end.
type tortured struct {
	caps   map[string]int
	total  int
	people []load.Person
	roster []byte
}

func newSale(size int, seed uint64) (*tortured, error) {
	roster, err := rostergen.New(rostergen.Spec{Size: size, Seed: seed, Levels: levels})
	if err != nil {
		return nil, err
	}
	s := &tortured{caps: map[string]int{}}
	wanted := map[string]int{}
	for i := range size {
		row := roster.Row(i)
		p := load.Person{Code: string(row.Code), Email: string(row.Email), Levels: row.Levels}
		if len(p.Levels) == 0 {
			p.Levels = levels
		}
		wanted[p.Levels[0]]++
		s.people = append(s.people, p)
	}
	for _, l := range levels {
		s.caps[l] = max(1, wanted[l]*4/5)
		s.total += s.caps[l]
	}
	s.total = max(1, s.total*19/20) // so that the total binds too
	var csv bytes.Buffer
	err = roster.WriteClean(&csv)
	s.roster = csv.Bytes()
	return s, err
}

// open applies, imports and opens the sale through the commands of an operator.
func (s *tortured) open(ctx context.Context, t *town, hold time.Duration) error {
	now := time.Now().UTC()
	var file bytes.Buffer
	fmt.Fprintf(&file, "sale: %s\ntitle: Torture\ntime_zone: UTC\nopens_at: %s\ncloses_at: %s\nhold: %s\nprice: {amount_minor: 5000, currency: EUR}\ntotal_cap: %d\nlevels:\n",
		saleID, now.Add(-time.Minute).Format(time.RFC3339), now.Add(24*time.Hour).Format(time.RFC3339), hold, s.total)
	for _, l := range levels {
		fmt.Fprintf(&file, "  - {level: %s, cap: %d}\n", l, s.caps[l])
	}
	saleFile, rosterFile := filepath.Join(t.dir, "sale.yaml"), filepath.Join(t.dir, "roster.csv")
	if err := os.WriteFile(saleFile, file.Bytes(), 0o600); err != nil {
		return err
	}
	if err := os.WriteFile(rosterFile, s.roster, 0o600); err != nil {
		return err
	}
	for _, args := range [][]string{{"sale", "apply", saleFile}, {"roster", "import", saleID, rosterFile}, {"sale", "open", saleID}} {
		if _, err := t.holdfast(ctx, append(args, "--reason", "torture")...); err != nil {
			return err
		}
	}
	for range 2 * ingresses { // the balancer takes turns: each ingress has to know it
		if err := t.answers(ctx, t.balancer.url+"/sales/"+saleID+"/status.json", time.Minute); err != nil {
			return err
		}
	}
	return nil
}
