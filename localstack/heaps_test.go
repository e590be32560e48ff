package main

import (
	"testing"
	"time"
)

// TestFlat: a heap whose floor stays passes however high its garbage goes; one
// whose floor rises does not, nor one that was hardly looked at.
func TestFlat(t *testing.T) {
	heap := func(floor func(i int) float64) (list []heapSample) {
		for i := range 240 {
			list = append(list, heapSample{time.Duration(i) * time.Second, floor(i) + float64(i%7)*10})
		}
		return list
	}
	for name, c := range map[string]struct {
		samples []heapSample
		ok      bool
	}{
		"flat":                  {heap(func(int) float64 { return 30 }), true},
		"grows in the warm-up":  {heap(func(i int) float64 { return 30 + min(float64(i), 50) }), true},
		"leaks":                 {heap(func(i int) float64 { return 30 + float64(i)/4 }), false},
		"hardly looked at":      {heap(func(int) float64 { return 30 })[:9], false},
		"not looked at the end": {heap(func(int) float64 { return 30 })[:120], false},
	} {
		if got := flat("serve", c.samples, 240*time.Second); got.OK != c.ok {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
