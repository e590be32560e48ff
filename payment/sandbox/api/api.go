// Package api is the sandbox gateway's HTTP contract: what its server and its
// client both have to know, and nothing else. Amounts are integers in minor
// units, times are integers in milliseconds since 1970.
package api

import "regexp"

// Limits of every message, so that neither side can be made to hold more.
const (
	MaxBodyBytes    = 16 << 10
	MaxFieldBytes   = 128
	MaxURLBytes     = 2048
	MaxAmountMinor  = 1_000_000_000_00
	MaxRefundKeys   = 16
	HeaderAppKey    = "Sandbox-App-Key"
	HeaderIdemKey   = "Idempotency-Key"
	HeaderSignature = "Sandbox-Signature"
)

// Query parameters that the pay page adds to the return URL. Nothing signs
// them: they say where to look, never what is so (protocol.md 2.2.2).
const (
	ParamPayment = "payment_id"
	ParamStatus  = "status" // success, failure, cancel
	ParamRef     = "ref"    // one per redirect, so that two redirects are two notices
)

// Codes of an Error. A client decides by them, not by the HTTP status, because
// a proxy on the way can invent a status but not a code.
const (
	CodeInvalid       = "invalid_request"
	CodeUnauthorized  = "unauthorized"
	CodeRefused       = "refused"
	CodeFull          = "too_many_payments"
	CodeBlocked       = "token_blocked"
	CodeMismatch      = "idempotency_mismatch"
	CodeNotFound      = "payment_not_found"
	CodeNoRefund      = "refund_not_found"
	CodeNoAccount     = "account_not_found"
	CodeNotApproved   = "not_approved"
	CodeCompleted     = "already_completed"
	CodePending       = "payment_pending"
	CodeOver          = "payment_over"
	CodeNotCaptured   = "not_captured"
	CodeRefunded      = "already_refunded"
	CodeTooMuch       = "amount_too_large"
	CodeUnsupported   = "not_supported"
	CodeUnknownAction = "unknown_action"
)

// Error is the body of every answer that is not a success.
type Error struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Metadata is the caller's own, returned with every answer and webhook.
type Metadata struct {
	Sale      string `json:"sale,omitempty"`
	BookingID string `json:"bid"`
	Candidate string `json:"ch,omitempty"`
}

// TokenRequest asks for an access token: POST /v1/token.
type TokenRequest struct {
	AppKey    string `json:"app_key"`
	AppSecret string `json:"app_secret"`
}

// Token is an access token and its remaining life.
type Token struct {
	Token       string `json:"token"`
	ExpiresInMS int64  `json:"expires_in_ms"`
}

// Create asks for a payment: POST /v1/payments.
type Create struct {
	Metadata    Metadata `json:"metadata"`
	AmountMinor int64    `json:"amount_minor"`
	Currency    string   `json:"currency"`
	Title       string   `json:"title"`
	ReturnURL   string   `json:"return_url"`
	ExpiresAtMS int64    `json:"expires_at_ms"`
}

// Payment is the gateway's answer about a payment. URL comes with a create only.
type Payment struct {
	PaymentID     string   `json:"payment_id"`
	URL           string   `json:"url,omitempty"`
	Status        string   `json:"status"`
	AmountMinor   int64    `json:"amount_minor"`
	Currency      string   `json:"currency"`
	Payee         string   `json:"payee"`
	Live          bool     `json:"live"`
	ExpiresAtMS   int64    `json:"expires_at_ms,omitempty"`
	CapturedAtMS  int64    `json:"captured_at_ms,omitempty"`
	RefundedMinor int64    `json:"refunded_minor"`
	Metadata      Metadata `json:"metadata"`
}

// CapturedPage is how many payments one Captured holds at most: a page fits
// MaxBodyBytes whatever its metadata.
const CapturedPage = 16

// Captured is a page of captured payments: GET /v1/captured/{from}. Next is the
// index to go on from, 0 on the last page.
type Captured struct {
	Payments []Payment `json:"payments"`
	Next     int       `json:"next"`
}

// RefundRequest pays back: POST /v1/payments/{pid}/refunds.
type RefundRequest struct {
	Key         string `json:"key"`
	AmountMinor int64  `json:"amount_minor"`
}

// Refund is the gateway's answer about a refund: pending or done.
type Refund struct {
	Key         string `json:"key"`
	Status      string `json:"status"`
	AmountMinor int64  `json:"amount_minor"`
}

// Event is the body of a webhook. ID is the same in every attempt and in every
// duplicate; Status is what was so when the event was made.
type Event struct {
	ID          string   `json:"id"`
	Type        string   `json:"type"`
	Account     string   `json:"account"`
	PaymentID   string   `json:"payment_id"`
	Status      string   `json:"status"`
	AmountMinor int64    `json:"amount_minor"`
	Currency    string   `json:"currency"`
	CreatedAtMS int64    `json:"created_at_ms"`
	Metadata    Metadata `json:"metadata"`
}

var idPattern = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// ValidID reports whether s may be a payment or event id: safe in a URL, a key
// of the ledger and a log line.
func ValidID(s string) bool { return idPattern.MatchString(s) }
