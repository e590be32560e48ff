package ingress

import (
	"encoding/hex"
	"fmt"
	"io"

	"github.com/holdfast/holdfast/ingress/tally"
)

// keepMinutes prepares to put what this process answers into the ledger, under
// a name that no other process has.
func (in *Ingress) keepMinutes() error {
	if in.Minutes == nil {
		return nil
	}
	name := make([]byte, 6)
	if _, err := io.ReadFull(in.Rand, name); err != nil {
		return fmt.Errorf("ingress: make a name for this process: %w", err)
	}
	in.keeper = &tally.Keeper{Tally: &in.metrics.tally, Store: in.Minutes, Process: hex.EncodeToString(name), Now: in.Now, Log: in.Log}
	return nil
}
