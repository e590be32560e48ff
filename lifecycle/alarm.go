package lifecycle

// AlarmKind is the closed set of things that a person must hear of. It is fit
// for a metric label.
type AlarmKind string

// The kinds of alarm.
const (
	// AlarmGateUnknown: a gateway has not said what became of a payment for so
	// long that a hold may not be put off any more (protocol.md 2.2.5).
	AlarmGateUnknown AlarmKind = "gate_unknown"
	// AlarmMismatch: amount, currency, payee or mode of a captured payment are
	// not the booking's; it is in review (protocol.md 2.2.6).
	AlarmMismatch AlarmKind = "payment_mismatch"
	// AlarmForeign: a payment belongs to another booking (protocol.md 3.3).
	AlarmForeign AlarmKind = "payment_foreign"
	// AlarmUnattached: a captured payment that no booking can be found for; it
	// is in the inbox (protocol.md 3.6).
	AlarmUnattached AlarmKind = "payment_unattached"
	// AlarmConflict: candidate or seat belong to another booking. It takes lost
	// Redis data or a bug to get there (protocol.md 3.3).
	AlarmConflict AlarmKind = "conflict"
	// AlarmApplied: a payment is applied though its booking is not paid.
	AlarmApplied AlarmKind = "applied_unpaid"
	// AlarmOwnership: a live booking does not own its candidate or seats, so it
	// can't be released.
	AlarmOwnership AlarmKind = "ownership"
	// AlarmReseed: a live booking that Redis lost can't be put back.
	AlarmReseed AlarmKind = "reseed_refused"
	// AlarmReadmit: a paid booking can't even be asked for (no such level).
	AlarmReadmit AlarmKind = "readmit_impossible"
)

// Alarm is one thing that a person must hear of. Detail is for people and
// holds no code and no e-mail. The same alarm may be raised again on every
// redelivery or sweep: whoever pages, counts.
type Alarm struct {
	Kind      AlarmKind
	Sale      string
	BookingID string
	Detail    string
}
