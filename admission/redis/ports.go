package redis

import "github.com/holdfast/holdfast/admission"

// Store is every port of admission.
var (
	_ admission.Admitter     = (*Store)(nil)
	_ admission.Undoer       = (*Store)(nil)
	_ admission.Settler      = (*Store)(nil)
	_ admission.Attacher     = (*Store)(nil)
	_ admission.Resumer      = (*Store)(nil)
	_ admission.Lookup       = (*Store)(nil)
	_ admission.Sweepable    = (*Store)(nil)
	_ admission.Reseeder     = (*Store)(nil)
	_ admission.Capper       = (*Store)(nil)
	_ admission.StatusReader = (*Store)(nil)
	_ admission.Loader       = (*Store)(nil)
	_ admission.HealthReader = (*Store)(nil)
)
