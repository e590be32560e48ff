package browsertest

import (
	"context"
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// TestMapByTouch moves the picture with one finger, draws it near with two, and
// taps on what is then under it.
func TestMapByTouch(t *testing.T) {
	t.Parallel()
	p := newTab(t)
	p.visitSale("fingers")
	p.await("document.querySelectorAll('#seatlist input').length === 12 && performance.getEntriesByName('first-contentful-paint').length") // Chromium drops touches before it
	box := js[[]float64](p, "(r => [r.left, r.top, r.width])((document.querySelector('#hall').scrollIntoView({block: 'center'}), document.querySelector('#hall').getBoundingClientRect()))")
	seat := min(28, box[2]/13)
	at := func(column float64) [2]float64 { return [2]float64{box[0] + column*seat, box[1] + 2.5*seat} } // in the first row, below the name of its section

	p.fingers([][2]float64{at(6)}, [][2]float64{at(7)}, [][2]float64{at(8)})
	p.fingers([][2]float64{at(2.5)}) // where the third seat was
	p.says("Chosen: A1 –")
	// Who can't tell the colours sees a hole in what is chosen, and none in the next.
	p.await(fmt.Sprintf(`((c, s) => {
		const at = (column) => [...c.getContext("2d").getImageData(column * s * devicePixelRatio, 2.5 * s * devicePixelRatio, 1, 1).data].join();
		return at(2.5) !== at(2.2) && at(3.5) === at(3.2);
	})(document.querySelector("#hall"), %f)`, seat))
	p.fingers([][2]float64{at(8)}, [][2]float64{at(7)}, [][2]float64{at(6)})

	// Twice as large around what is between the fingers in the end, column 4.25.
	p.fingers([][2]float64{at(1.25), at(4.25)}, [][2]float64{at(1.25), at(7.25)})
	p.fingers([][2]float64{at(0.75)}) // where the first seat was
	p.says("Chosen: A1, A3 –")
	if js[float64](p, "visualViewport.scale") != 1 {
		t.Error("the page grew, and not the picture")
	}
}

// fingers puts fingers down, moves them from place to place, and lifts them.
func (p *tab) fingers(places ...[][2]float64) {
	p.Helper()
	touch := func(kind input.DispatchTouchEventType, fingers [][2]float64) {
		points := []*input.TouchPoint{}
		for i, f := range fingers {
			id := float64(i)
			points = append(points, &input.TouchPoint{X: f[0], Y: f[1], ID: &id})
		}
		p.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
			_, err := chromedp.Call(ctx, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: points})
			return err
		}))
	}
	kind := input.DispatchTouchEventTypeTouchStart
	for _, fingers := range places {
		touch(kind, fingers)
		kind = input.DispatchTouchEventTypeTouchMove
	}
	touch(input.DispatchTouchEventTypeTouchEnd, nil)
}
