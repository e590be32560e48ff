package ingress

import "time"

// ObserveSuccess lets a test say how a real success looked.
func (in *Ingress) ObserveSuccess(url string, took time.Duration) { in.decoy.observe(url, took) }
