package load

import (
	"fmt"
	"html/template"
	"math"
	"strings"
)

// line is one curve of a plot; NaN is a gap.
type line struct {
	name, class string
	values      []float64
}

// plot is a chart over the seconds of a run, as SVG.
type plot struct {
	title, unit string
	lines       []line
}

// Of a plot, in SVG units.
const (
	plotWidth, plotHeight      = 860, 220
	plotLeft, plotRight        = 64, 12
	plotTop, plotBottom        = 12, 28
	plotInnerW, plotInnerH     = plotWidth - plotLeft - plotRight, plotHeight - plotTop - plotBottom
	mostPoints             int = 900 // beyond, neighbours share a point and the highest of them shows
)

// svg draws the plot. Names are our own words, so nothing has to be escaped.
func (p plot) svg() template.HTML {
	most, seconds := 0.0, 0
	for _, l := range p.lines {
		seconds = max(seconds, len(l.values))
		for _, v := range l.values {
			if !math.IsNaN(v) {
				most = max(most, v)
			}
		}
	}
	top := roundUp(most)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" role="img" aria-label="%s">`, plotWidth, plotHeight, p.title)
	for i := range 5 {
		v := top * float64(i) / 4
		y := p.y(v, top)
		fmt.Fprintf(&b, `<line class="grid" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/><text class="tick" x="%d" y="%.1f" text-anchor="end">%s</text>`,
			plotLeft, plotWidth-plotRight, y, y, plotLeft-6, y+4, figure(v))
	}
	for i := range 7 {
		s := float64(max(seconds-1, 1)) * float64(i) / 6
		x := plotLeft + plotInnerW*float64(i)/6
		fmt.Fprintf(&b, `<text class="tick" x="%.1f" y="%d" text-anchor="middle">%s s</text>`, x, plotHeight-8, figure(math.Round(s)))
	}
	for _, l := range p.lines {
		fmt.Fprintf(&b, `<path class="%s" d="%s"><title>%s</title></path>`, l.class, p.path(l.values, seconds, top), l.name)
	}
	b.WriteString("</svg>")
	return template.HTML(b.String())
}

func (p plot) y(v, top float64) float64 {
	return plotTop + plotInnerH*(1-v/max(top, 1e-9))
}

// path joins the points of a curve.
func (p plot) path(values []float64, seconds int, top float64) string {
	var b strings.Builder
	pen := "M"
	width := max(1, (len(values)+mostPoints-1)/mostPoints)
	for i := 0; i < len(values); i += width {
		v := highest(values[i:min(i+width, len(values))])
		if math.IsNaN(v) {
			pen = "M"
			continue
		}
		x := plotLeft + plotInnerW*float64(i)/float64(max(seconds-1, 1))
		fmt.Fprintf(&b, "%s%.1f %.1f", pen, x, p.y(v, top))
		pen = "L"
	}
	return b.String()
}

// highest is the highest value that is one, else NaN.
func highest(values []float64) float64 {
	most := math.NaN()
	for _, v := range values {
		if math.IsNaN(most) || v > most {
			most = v
		}
	}
	return most
}

// roundUp is the next 1, 2 or 5 with zeros.
func roundUp(v float64) float64 {
	if v <= 0 {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(v)))
	for _, step := range []float64{1, 2, 5, 10} {
		if v <= step*unit {
			return step * unit
		}
	}
	return 10 * unit
}

func figure(v float64) string {
	if v >= 10 || v == math.Trunc(v) {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.2g", v)
}
