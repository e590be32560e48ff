package main

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// bucket is how much time one bar of the picture stands for.
const bucket = 250 * time.Millisecond

// silence is the longest time without an admission that a blow caused: between
// two answers 201 in a row of which the second came after the blow began, and the
// first before the town was whole again. ok is false if no admission followed
// (the sale was sold out, or over).
func silence(b blow, answers []answer) (longest time.Duration, ok bool) {
	last := b.At
	for _, a := range answers {
		if a.status != http.StatusCreated || a.at <= b.At {
			continue
		}
		longest, ok = max(longest, a.at-last), true
		if last = a.at; last > b.Over {
			break
		}
	}
	return longest, ok
}

// unavailableShare is the share of booking requests that ended with 503 between
// the beginning of a blow and the town being whole again.
func unavailableShare(blows []blow, answers []answer) (share float64, n int) {
	refused := 0
	for _, b := range blows {
		for _, a := range answers {
			if b.Failovers == 0 || a.at < b.At || a.at > b.Over {
				continue
			}
			n++
			if a.status == http.StatusServiceUnavailable || a.status == noAnswer {
				refused++
			}
		}
	}
	return float64(refused) / float64(max(n, 1)), n
}

// The picture's measures, in pixels.
const (
	left, top, height, bar = 60, 200, 260, 6
)

// draw renders the time line: one bar for each quarter of a second, admissions
// below, 503s and lost connections above them, and the blows as lines.
func draw(answers []answer, blows []blow) string {
	var end time.Duration
	for _, a := range answers {
		end = max(end, a.at)
	}
	n := int(end/bucket) + 1
	admitted, refused, other := make([]int, n), make([]int, n), make([]int, n)
	most := 1
	for _, a := range answers {
		i := int(a.at / bucket)
		switch a.status {
		case http.StatusCreated:
			admitted[i]++
		case http.StatusServiceUnavailable, noAnswer:
			refused[i]++
		default:
			other[i]++
		}
		most = max(most, admitted[i]+refused[i]+other[i])
	}
	width := left + n*bar + 40
	var s strings.Builder
	fmt.Fprintf(&s, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11">`+"\n", width, top+height+60)
	fmt.Fprintf(&s, `<rect width="100%%" height="100%%" fill="#fff"/><text x="%d" y="18" font-size="14">Booking requests per %v: admitted, refused for a reason, 503 or lost</text>`+"\n", left, bucket)
	for i := range n {
		y := float64(top + height)
		for _, part := range []struct {
			n      int
			colour string
		}{{admitted[i], "#2a9d5c"}, {other[i], "#b9c2cc"}, {refused[i], "#d1495b"}} {
			h := float64(part.n) / float64(most) * height
			if y -= h; h > 0 {
				fmt.Fprintf(&s, `<rect x="%d" y="%.1f" width="%d" height="%.1f" fill="%s"/>`+"\n", left+i*bar, y, bar-1, h, part.colour)
			}
		}
		if i%20 == 0 {
			fmt.Fprintf(&s, `<text x="%d" y="%d">%d s</text>`+"\n", left+i*bar, top+height+16, int(time.Duration(i)*bucket/time.Second))
		}
	}
	fmt.Fprintf(&s, `<text x="%d" y="%d" text-anchor="end">%d</text><text x="%d" y="%d" text-anchor="end">0</text>`+"\n", left-6, top+10, most, left-6, top+height)
	for _, b := range blows {
		drawBlow(&s, b)
	}
	fmt.Fprintf(&s, `<text x="%d" y="%d" fill="#2a9d5c">admitted (201)</text><text x="%d" y="%d" fill="#7a8691">duplicate, full, unknown code ...</text><text x="%d" y="%d" fill="#d1495b">503, no answer</text>`+"\n</svg>\n",
		left, top+height+44, left+110, top+height+44, left+320, top+height+44)
	return s.String()
}

func drawBlow(s *strings.Builder, b blow) {
	x := left + float64(b.At)/float64(bucket)*bar
	to := left + float64(b.Over)/float64(bucket)*bar
	colour := "#555"
	if b.Failovers > 0 {
		colour = "#d1495b"
	}
	fmt.Fprintf(s, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s" fill-opacity=".10"/><line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="%s"/>`+"\n",
		x, top, max(to-x, 1), height, colour, x, top-8, x, top+height, colour)
	fmt.Fprintf(s, `<text x="%.1f" y="%d" transform="rotate(-60 %.1f %d)" fill="%s">%s</text>`+"\n", x+3, top-12, x+3, top-12, colour, b.Name)
}
