package reaper

import "context"

// Repairer is the operator's diff: a dry run lists what Diff would do.
type Repairer struct{ differ *Differ }

// Repair compares, and unless dryRun repairs what is proved. A dry run writes
// nothing anywhere.
func (r *Repairer) Repair(ctx context.Context, saleID string, dryRun bool) (DiffResult, error) {
	if dryRun {
		return r.differ.diff(ctx, saleID, false)
	}
	return r.differ.Diff(ctx, saleID)
}
