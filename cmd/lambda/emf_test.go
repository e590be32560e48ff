package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/reaper"
	"github.com/holdfast/holdfast/wiring"
)

func TestSweepWritesItsWorstSale(t *testing.T) {
	var out bytes.Buffer
	f := measured(func(context.Context, wiring.ScheduleInput) (reaper.Report, error) {
		return reaper.Report{Pass: reaper.PassSweep, Sweeps: map[string]reaper.SweepResult{
			"a": {OldestPending: 90 * time.Second, Pending: reaper.Tally{Left: 2}},
			"b": {OldestPending: 30 * time.Second, Holds: reaper.Tally{Left: 5}, Refunds: reaper.Tally{Failed: 3}},
		}}, nil
	}, &out, func() time.Time { return time.UnixMilli(1700000000123) }, func(context.Context) error { return errors.New("away") }).(passFunction)
	if _, err := f(t.Context(), wiring.ScheduleInput{}); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	metric := func(name, unit string) any { return map[string]any{"Name": name, "Unit": unit} }
	want := map[string]any{
		"pass": "sweep", "Passes": 1.0, "PendingAge": 90.0, "SweepLeft": 5.0, "RefundsFailed": 3.0, "GatewayUnreachable": 1.0,
		"_aws": map[string]any{"Timestamp": 1700000000123.0, "CloudWatchMetrics": []any{
			map[string]any{"Namespace": "Holdfast", "Dimensions": []any{[]any{"pass"}}, "Metrics": []any{metric("Passes", "Count")}},
			map[string]any{"Namespace": "Holdfast", "Dimensions": []any{[]any{}}, "Metrics": []any{metric("PendingAge", "Seconds"), metric("SweepLeft", "Count"), metric("RefundsFailed", "Count"), metric("GatewayUnreachable", "Count")}},
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestFailedPassIsSilent(t *testing.T) {
	var out bytes.Buffer
	f := measured(func(context.Context, wiring.ScheduleInput) (reaper.Report, error) {
		return reaper.Report{Pass: reaper.PassDiff}, errors.New("the ledger is away")
	}, &out, time.Now, func(context.Context) error { return nil }).(passFunction)
	if _, err := f(t.Context(), wiring.ScheduleInput{}); err == nil || out.Len() != 0 {
		t.Errorf("a failed pass answered %v and wrote %q", err, out.String())
	}
}
