package main

// limit is one part in the busiest second: what is needed of what there is.
type limit struct {
	part       string
	need, have float64
	unit       string
	otherwise  string // what to do when it is not enough
}

// headroom is the share of a limit that may be planned with.
const headroom = 0.7

func (l limit) verdict() string {
	switch {
	case l.need <= headroom*l.have:
		return "ok"
	case l.need <= l.have:
		return "tight: " + l.otherwise
	}
	return "TOO LITTLE: " + l.otherwise
}

// Documented quotas of us-east-1; other regions have less of the second.
const (
	fifoPartition   = 3000.0 // messages a second of one group's partition, in batches
	fifoQueue       = 70000.0
	dynamoPartition = 1000.0 // write units a second of one key
	dueShards       = 16.0   // keys of the index, as ledger/dynamo spreads them
	dynamoNew       = 4000.0 // of a table that was never warmed
	dynamoTable     = 40000.0
)

// limits of one sale. Admissions of a sale are one Redis thread, because a
// sale's keys share a slot: it is what keeps counts exact. Everything behind the
// queue may be late without harm, so its limits are about time, not about right.
func limits(in input) []limit {
	return []limit{
		{"Redis: one sale, one thread", in.Rate, 1e6 / in.RedisMicros, "requests/s", "a faster node; split the sale by level or region"},
		{"SQS FIFO: the queue", in.Winners, fifoQueue, "messages/s", "ask AWS for more"},
		{"SQS FIFO: one candidate's group", 2, fifoPartition, "messages/s", "-"},
		{"DynamoDB: a table never warmed", in.Winners * writesHeld, dynamoNew, "units/s", "set warm throughput a day before, or accept that the queue delays the ledger"},
		{"DynamoDB: a warm table", in.Winners * writesHeld, dynamoTable, "units/s", "ask AWS for more"},
		{"DynamoDB: the index of due bookings", in.Winners / dueShards, dynamoPartition, "units/s", "the worker backs off; sweeps read later"},
	}
}
