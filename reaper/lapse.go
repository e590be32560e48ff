package reaper

import (
	"context"
	"fmt"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/sale"
)

// Bounds of what one sweep frees of a level.
const (
	lapsePage  = 500
	lapsePages = 200
)

// lapse frees soft holds past their deadline. Whoever wants their seats frees
// them on the way (section 4); this keeps the total and the figures of the status
// true where nobody comes. It is left out where the adapter keeps no soft holds.
func (p *sweep) lapse(ctx context.Context) error {
	soft, ok := p.Redis.(admission.SoftHolder)
	if !ok {
		return nil
	}
	for _, l := range p.control.Plan.Levels {
		if l.Kind != sale.KindSeated {
			continue
		}
		for range lapsePages {
			n, version, err := soft.Lapse(ctx, p.control.Sale, l.Name, lapsePage)
			if err != nil {
				return fmt.Errorf("reaper: free expired soft holds of level %s: %w", l.Name, err)
			}
			p.Steps.Notify(p.control.Sale, version)
			if n < lapsePage {
				break
			}
		}
	}
	return nil
}
