package server_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/holdfast/holdfast/payment"
	"github.com/holdfast/holdfast/payment/sandbox"
	"github.com/holdfast/holdfast/payment/sandbox/engine"
	"github.com/holdfast/holdfast/payment/sandbox/server"
)

// BenchmarkCreate measures client, HTTP handler and engine without a socket.
func BenchmarkCreate(b *testing.B) {
	s, err := server.New(server.Config{Engine: engine.Config{MaxPayments: 100_000_000, Accounts: []engine.Account{{
		Name: "sandbox", AppKey: "k", AppSecret: "s", WebhookSecret: "h", Payee: "p", Moves: payment.MovesOnPage}}}})
	if err != nil {
		b.Fatal(err)
	}
	g, err := sandbox.New(sandbox.Config{Name: "sandbox", BaseURL: "http://sandbox", AppKey: "k", AppSecret: "s", WebhookSecret: "h",
		Payee: "p", Moves: payment.MovesOnPage, HTTPClient: &http.Client{Transport: server.InProcess(s)}})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		_, err := g.Create(b.Context(), payment.CreateRequest{
			Metadata: payment.Metadata{Sale: "spring", BookingID: fmt.Sprint("b", i), Candidate: "c0ffee"}, AmountMinor: 1, Currency: "BDT",
			ReturnURL: "https://shop.example/return", ExpiresAt: time.Now().Add(10 * time.Minute),
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
