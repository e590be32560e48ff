package sale_test

import (
	"testing"

	"github.com/holdfast/holdfast/sale"
)

func TestIsRehearsal(t *testing.T) {
	for id, want := range map[string]bool{
		"rehearsal-20261130": true, "rehearsal-": false, "rehearsal": false, "spring-rehearsal-1": false,
		"Rehearsal-1": false, "rehearsal-a#b": false, "spring": false, "": false,
	} {
		if got := sale.IsRehearsal(id); got != want {
			t.Errorf("%q: %v", id, got)
		}
	}
}
