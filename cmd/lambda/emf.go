package main

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/holdfast/holdfast/reaper"
	"github.com/holdfast/holdfast/wiring"
)

// namespace and names are those that the alarms of infra/ look at.
const namespace = "Holdfast"

type (
	passFunction = func(context.Context, wiring.ScheduleInput) (reaper.Report, error)
	emfMetric    struct{ Name, Unit string }
	emfDirective struct {
		Namespace  string
		Dimensions [][]string
		Metrics    []emfMetric
	}
)

// measured makes a scheduled function write what its pass found as one line of
// CloudWatch's embedded metric format, which costs no call and needs no role. A
// pass that failed writes none: the alarm on silence is about passes that end
// well. Other functions come back as they are. After a sweep the gateway is
// asked, because nobody else does while nothing is sold.
func measured(f any, w io.Writer, now func() time.Time, gateway func(context.Context) error) any {
	pass, ok := f.(passFunction)
	if !ok {
		return f
	}
	return func(ctx context.Context, in wiring.ScheduleInput) (reaper.Report, error) {
		report, err := pass(ctx, in)
		if err == nil {
			away := report.Pass == reaper.PassSweep && gateway(ctx) != nil
			_, _ = w.Write(emf(report, away, now())) // a lost line is a late alarm, no reason to fail the pass
		}
		return report, err
	}
}

// emf is the line: one directive by pass, one for the worst sale of a sweep.
func emf(r reaper.Report, gatewayAway bool, at time.Time) []byte {
	line := map[string]any{"pass": r.Pass, "Passes": 1}
	directives := []emfDirective{{namespace, [][]string{{"pass"}}, []emfMetric{{"Passes", "Count"}}}}
	if r.Pass == reaper.PassSweep {
		var age float64
		var left, refunds int
		for _, s := range r.Sweeps {
			age, left, refunds = max(age, s.OldestPending.Seconds()), max(left, s.Left()), max(refunds, s.Refunds.Failed)
		}
		away := 0
		if gatewayAway {
			away = 1
		}
		line["PendingAge"], line["SweepLeft"], line["RefundsFailed"], line["GatewayUnreachable"] = age, left, refunds, away
		directives = append(directives, emfDirective{namespace, [][]string{{}}, []emfMetric{{"PendingAge", "Seconds"}, {"SweepLeft", "Count"}, {"RefundsFailed", "Count"}, {"GatewayUnreachable", "Count"}}})
	}
	line["_aws"] = map[string]any{"Timestamp": at.UnixMilli(), "CloudWatchMetrics": directives}
	b, _ := json.Marshal(line) // numbers and text always can be written
	return append(b, '\n')
}
