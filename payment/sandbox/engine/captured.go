package engine

import "github.com/holdfast/holdfast/payment/sandbox/api"

// CapturedFrom lists the captured payments of an account among all payments
// from the index-th on, at most api.CapturedPage of them, and the index to go
// on from; 0 when there are no more.
func (e *Engine) CapturedFrom(account string, index int) (list []api.Payment, next int) {
	e.begin()
	defer e.mu.Unlock()
	list = []api.Payment{}
	for i := max(index, 0); i < len(e.order); i++ {
		p := e.order[i]
		if p.account.Name != account || p.capturedMinor == 0 {
			continue
		}
		if len(list) == api.CapturedPage {
			return list, i
		}
		list = append(list, p.answer())
	}
	return list, 0
}
