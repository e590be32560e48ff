package browsertest

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// axe is axe-core 4.14.1 (MPL-2.0), as it is published on npm.
//
//go:embed testdata/axe.min.js
var axe string

// largest is what a picture may weigh.
const largest = 128 << 10

// look checks what is on the screen with axe-core, at the widths of a phone and
// of a desk, by day and by night, and takes pictures of it. HOLDFAST_SCREENSHOTS names the folder for
// them.
func (p *tab) look(name string) {
	p.Helper()
	dir := os.Getenv("HOLDFAST_SCREENSHOTS")
	if dir == "" {
		dir = p.TempDir()
	}
	for _, size := range [][2]int64{{360, 740}, {1280, 900}} {
		p.do(chromedp.EmulateViewport(size[0], size[1]))
		js[bool](p, "document.activeElement.blur(), scrollTo(0, 0), true")
		p.violations(fmt.Sprintf("%s at %d px", name, size[0]))
		p.await("!document.querySelector('#link') || document.querySelector('#link').textContent === 'live'") // the check took a while
		p.await(fmt.Sprintf("document.documentElement.scrollWidth <= %d", size[0]))                           // once it has followed the screen's size
		picture := small(p, p.shot())
		path := filepath.Join(dir, fmt.Sprintf("%s-%d.png", name, size[0]))
		if err := os.WriteFile(path, picture, 0o644); err != nil {
			p.Fatal(err)
		}
		if len(picture) > largest {
			p.Errorf("%s weighs %d bytes", path, len(picture))
		}
	}
	p.do(chromedp.EmulateViewport(320, 256)) // as 1280 px are at a zoom of 400 %
	p.await("document.documentElement.scrollWidth <= 320")
	p.do(chromedp.EmulateViewport(360, 740))
	p.scheme("dark")
	p.violations(name + " in the dark")
	p.scheme("light")
}

// scheme is what the device prefers: "light" or "dark".
func (p *tab) scheme(prefers string) {
	p.Helper()
	p.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: prefers}}})
		return err
	}))
	p.await(fmt.Sprintf("matchMedia('(prefers-color-scheme: %s)').matches", prefers))
}

func (p *tab) shot() []byte {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err != nil {
		p.Fatal(err)
	}
	return picture
}

// violations runs axe-core with every rule for WCAG 2.2 A and AA, and its best
// practices.
func (p *tab) violations(what string) {
	p.Helper()
	js[bool](p, axe+";true")
	found := js[string](p, `axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}).then(r =>
		JSON.stringify({passes: r.passes.length, violations: r.violations.map(v => v.id + ": " + v.help + " " + v.nodes.map(n => n.target + " " + n.failureSummary).join("; "))}))`)
	var r struct {
		Passes     int
		Violations []string
	}
	if err := json.Unmarshal([]byte(found), &r); err != nil {
		p.Fatal(err)
	}
	if r.Passes < 10 {
		p.Errorf("%s: only %d rules were checked", what, r.Passes)
	}
	for _, v := range r.Violations {
		p.Errorf("%s: %s", what, v)
	}
}

// small packs a picture with the colours that are most of it, of 32 shades
// each of red, green and blue: else the edges of letters take all of them, and
// the lines of a chart turn grey. A page is runs of one colour: each run is looked
// up once.
func small(t testing.TB, picture []byte) []byte {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		t.Fatal(err)
	}
	b := img.Bounds()
	whole := image.NewRGBA(b)
	draw.Draw(whole, b, img, b.Min, draw.Src)
	for i, v := range whole.Pix {
		whole.Pix[i] = uint8((int(v)*31 + 127) / 255 * 255 / 31)
	}
	count := map[color.RGBA]int{}
	for c, n := range runs(whole.Pix) {
		count[c] += n
	}
	common := slices.SortedFunc(maps.Keys(count), func(a, c color.RGBA) int {
		return cmp.Or(count[c]-count[a], int(a.R)-int(c.R), int(a.G)-int(c.G), int(a.B)-int(c.B))
	})
	palette := color.Palette{}
	for _, c := range common[:min(len(common), 128)] {
		palette = append(palette, c)
	}
	near := map[color.RGBA]uint8{}
	out := image.NewPaletted(b, palette)
	left := out.Pix
	for c, n := range runs(whole.Pix) {
		i, ok := near[c]
		if !ok {
			i = uint8(palette.Index(c))
			near[c] = i
		}
		copy(left, bytes.Repeat([]byte{i}, n))
		left = left[n:]
	}
	var packed bytes.Buffer
	if err := png.Encode(&packed, out); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// runs are the colours of pixels (four bytes each) and how often each comes in a
// row.
func runs(pix []byte) iter.Seq2[color.RGBA, int] {
	return func(yield func(color.RGBA, int) bool) {
		for len(pix) > 0 {
			first := [4]byte(pix)
			n := 1
			for 4*n < len(pix) && [4]byte(pix[4*n:]) == first {
				n++
			}
			if !yield(color.RGBA{first[0], first[1], first[2], first[3]}, n) {
				return
			}
			pix = pix[4*n:]
		}
	}
}
