package wiring

import "github.com/holdfast/holdfast/ledger"

// minutes is where the ingresses put what they answered; nil for a ledger that
// keeps none.
func (h *House) minutes() ledger.MinuteStore {
	m, _ := h.Store.(ledger.MinuteStore)
	return m
}
