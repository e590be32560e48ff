package events

import "time"

// What a deployment's queues are. The local cloud creates them so, and the
// infrastructure code must too; tests hold both to it.
const (
	// QueueName is the queue of events, FIFO with high throughput: the default
	// of 300 calls a second is less than an opening minute (protocol.md 3A row 30).
	QueueName = "holdfast-events.fifo"
	// DeadQueueName is its dead letter queue: what ran out of retries and what
	// was parked. Nothing consumes it but an operator.
	DeadQueueName = "holdfast-events-dead.fifo"
	// Visibility is how long a received message stays hidden unless it is
	// extended: the bound of protocol.md 3.9 for a worker that died.
	Visibility = 30 * time.Second
	// MaxReceives is after how many deliveries a message goes to the dead letter
	// queue. With the back-off of the consumers (1 s doubling to 60 s) that is a
	// quarter of an hour: a short outage of the ledger or a gateway must not
	// empty the queue into the dead letters. A message is also counted when it
	// is only handed out behind a failing one of its group.
	MaxReceives = 20
	// Retention is how long both queues keep a message, the most that SQS allows
	// (protocol.md 3.8, lifetimes).
	Retention = 14 * 24 * time.Hour
)

// Depth is how much lies in the queues. The figures are approximate, as SQS
// gives them, and not of one instant.
type Depth struct {
	Visible      int // ready for delivery, or behind an earlier message of its group
	InFlight     int // with a consumer
	Dead         int // in the dead letter queue
	DeadInFlight int // there, but hidden by somebody who looks at them
}
