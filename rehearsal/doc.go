// Package rehearsal is the main job with people who do not exist: a sale that is
// marked as a rehearsal, its roster, a crowd for it, a look from inside while it
// runs, the verdict of stores and audit, and the clean-up that leaves nothing.
//
// The mark is the sale's id (sale.IsRehearsal), so a rehearsal may run beside a
// real sale of the same deployment: its keys, items and events are its own, and
// only what bears the mark is ever deleted.
package rehearsal
