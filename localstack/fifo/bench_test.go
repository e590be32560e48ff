package fifo_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/holdfast/holdfast/localstack/fifo"
)

// BenchmarkCycle sends, receives and deletes one message while a backlog waits. The cost must hardly depend on the backlog.
func BenchmarkCycle(b *testing.B) {
	for _, backlog := range []int{1000, 300_000} {
		b.Run(fmt.Sprint(backlog), func(b *testing.B) {
			clock := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
			c := fifo.New(fifo.Options{Now: func() time.Time { return clock }, Source: rand.NewPCG(1, 2)})
			if err := c.CreateQueue(q, nil); err != nil {
				b.Fatal(err)
			}
			sent := 0
			send := func() {
				sent++
				if _, err := c.Send(q, fifo.SendInput{Group: strconv.Itoa(sent % 50_000), DedupID: strconv.Itoa(sent), Body: "x"}); err != nil {
					b.Fatal(err)
				}
				clock = clock.Add(time.Millisecond)
			}
			for range backlog {
				send()
			}
			b.ReportAllocs()
			for b.Loop() {
				send()
				m, err := c.Receive(q, fifo.ReceiveInput{Max: 1}).Answer()
				if err != nil || len(m) != 1 {
					b.Fatal(len(m), err)
				}
				if err := c.Delete(q, m[0].Receipt); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
