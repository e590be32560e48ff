package reaper

import "github.com/holdfast/holdfast/lifecycle"

// The alarms of the passes, beside those of lifecycle. They are raised again by
// every pass that still sees their cause, unless it says otherwise.
const (
	// AlarmBreaker: so much is over age that reaping it would hit customers whose
	// events are only late (protocol.md 3.8). Look at the workers and the queue. It
	// is raised when the breaker opens, and every five minutes while it is open.
	AlarmBreaker lifecycle.AlarmKind = "breaker_open"
	// AlarmDataLoss: Redis is not what it was, and not a replica of it: the sale
	// is frozen until it is rebuilt (protocol.md 3.9).
	AlarmDataLoss lifecycle.AlarmKind = "redis_data_loss"
	// AlarmFrozen: the sale admits nobody, and no rebuilder is at work; or Redis keeps
	// it in the form of another build, and this one admits nobody (admission.ErrLayout).
	AlarmFrozen lifecycle.AlarmKind = "frozen"
	// AlarmDrift: the same difference between Redis and the ledger survived two
	// runs of the diff.
	AlarmDrift lifecycle.AlarmKind = "drift"
	// AlarmConservation: in Redis used and free seats of a level are not its cap.
	AlarmConservation lifecycle.AlarmKind = "conservation"
	// AlarmCapRefused: a cap that was cut can't be cut in Redis: more is used.
	AlarmCapRefused lifecycle.AlarmKind = "cap_refused"
	// AlarmAudit: an invariant does not hold.
	AlarmAudit lifecycle.AlarmKind = "audit"
)

func (t *tools) alarm(kind lifecycle.AlarmKind, saleID, bookingID, detail string) {
	t.Steps.Alarm(lifecycle.Alarm{Kind: kind, Sale: saleID, BookingID: bookingID, Detail: detail})
}
