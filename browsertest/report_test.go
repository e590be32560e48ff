package browsertest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/report"
)

func trail(ctx context.Context, id string) (all []ledger.AuditEntry, err error) {
	err = town.desk.Trail(ctx, id, func(e ledger.AuditEntry) error { all = append(all, e); return nil })
	return all, err
}

// crowd books for some candidates at once, over HTTP alone; every other one pays.
func crowd(t testing.TB, id, level string, who ...int) {
	t.Helper()
	for i, n := range who {
		body, err := json.Marshal(map[string]string{"code": string(person(n).Code), "email": string(person(n).Email), "level": level})
		if err != nil {
			t.Fatal(err)
		}
		var booked struct {
			URL string `json:"payment_url"`
		}
		insist(t, func() error { // 503 asks for it; who has booked already is told the same
			resp, err := http.Post(town.public+"/sales/"+id+"/bookings", "application/json", bytes.NewReader(body))
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			if err := json.NewDecoder(resp.Body).Decode(&booked); err != nil || booked.URL == "" {
				return fmt.Errorf("no payment for candidate %d: %s, %w", n, resp.Status, err)
			}
			return nil
		})
		if i%2 == 1 {
			continue
		}
		insist(t, func() error {
			paid, err := http.PostForm(booked.URL, url.Values{"action": {"pay"}})
			if err == nil {
				err = paid.Body.Close()
			}
			return err
		})
	}
}

// reportOnDesk opens the report from the console, and verifies the file.
func (p *tab) reportOnDesk(id string) {
	p.Helper()
	file := js[string](p, "fetch(document.querySelector('#paper-file').href).then(r => r.text())")
	key, err := report.ReadPublicKey(town.auditor)
	if err != nil {
		p.Fatal(err)
	}
	d, err := report.Verify([]byte(file), key)
	if err != nil || d.Sale != id || d.MadeBy != "rina" || d.Requests == 0 || d.Bookings.Admitted == 0 {
		p.Errorf("%v: %+v", err, d)
	}
	if _, err := report.Verify([]byte(strings.Replace(file, "rina", "nina", 1)), key); err == nil {
		p.Error("a changed report is called genuine")
	}
	paper := p.twin()
	paper.visit(town.operator + "/console/sales/" + id + "/report.html")
	paper.says("What has to add up")
	paper.await("document.querySelectorAll('svg').length === 2 && getComputedStyle(document.querySelector('.verdict')).borderLeftStyle === 'solid'")
	if js[bool](paper, "document.body.innerText.includes('differs')") {
		p.Error("a sum differs")
	}
	paper.look("report")
}
