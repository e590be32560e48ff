package capacity

import "math"

// Limit is one part in the busiest second: what is needed of what there is.
type Limit struct {
	Part      string  `json:"part"`
	Need      float64 `json:"need"`
	Have      float64 `json:"have"`
	Unit      string  `json:"unit"`      // of Need and Have
	Late      bool    `json:"late"`      // too little of it makes the ledger late, or people come twice; it costs nobody a seat
	Otherwise string  `json:"otherwise"` // what to do when it is not enough
	Verdict   Verdict `json:"verdict"`
}

// Verdict says how a need stands to its limit. The set is closed.
type Verdict string

// The verdicts: up to headroom of a limit may be planned with.
const (
	Enough    Verdict = "ok"
	Tight     Verdict = "tight"
	TooLittle Verdict = "too little"
)

// headroom is the share of a limit that may be planned with.
const headroom = 0.7

func verdict(need, have float64) Verdict {
	switch {
	case need <= headroom*have:
		return Enough
	case need <= have:
		return Tight
	}
	return TooLittle
}

// Documented quotas of us-east-1; other regions have less of the second.
const (
	fifoPartition   = 3000.0 // messages a second of one group's partition, in batches
	fifoQueue       = 70000.0
	dynamoPartition = 1000.0 // write units a second of one key
	dueShards       = 16.0   // keys of the index, as ledger/dynamo spreads them
	dynamoNew       = 4000.0 // of a table that was never warmed
	dynamoTable     = 40000.0
	balancerCold    = 5000.0 // requests a second that a balancer takes before it has grown
)

// Limits are those of the sales that open in one second. Admissions of a sale are
// one Redis thread, because a sale's keys share a slot: it is what keeps counts
// exact. All else they share. Everything behind the queue may be late without
// harm, so its limits are about time, not about right. A gateway whose limit is
// not known (0) is left out.
func Limits(in Input) []Limit {
	rate, winners := in.Sales*in.Rate, in.Sales*in.Winners
	list := []Limit{
		{Part: "Redis: one sale, one thread", Need: in.Rate, Have: in.thread(), Unit: "requests/s", Otherwise: "a faster node; split the sale by level or region"},
		{Part: "load balancer: not grown yet", Need: rate, Have: balancerCold, Unit: "requests/s", Late: true, Otherwise: "ask AWS to warm it; pages that wait at the edge do not count"},
		{Part: "SQS FIFO: the queue", Need: winners, Have: fifoQueue, Unit: "messages/s", Otherwise: "ask AWS for more"},
		{Part: "SQS FIFO: one candidate's group", Need: 2, Have: fifoPartition, Unit: "messages/s", Otherwise: "-"},
		{Part: "DynamoDB: a table never warmed", Need: winners * writesHeld, Have: dynamoNew, Unit: "units/s", Late: true, Otherwise: "set warm throughput a day before, or accept that the queue delays the ledger"},
		{Part: "DynamoDB: a warm table", Need: winners * writesHeld, Have: dynamoTable, Unit: "units/s", Late: true, Otherwise: "ask AWS for more"},
		{Part: "DynamoDB: the index of due bookings", Need: in.Winners / dueShards, Have: dynamoPartition, Unit: "units/s", Late: true, Otherwise: "the worker backs off; sweeps read later"},
	}
	if in.GatewayRate > 0 {
		list = append(list, Limit{Part: "payment gateway", Need: winners, Have: in.GatewayRate, Unit: "payments/s", Otherwise: "ask the gateway for more before the sale"})
	}
	for i := range list {
		list[i].Verdict = verdict(list[i].Need, list[i].Have)
	}
	return list
}

// thread is what one thread of Redis admits or refuses in a second.
func (in Input) thread() float64 { return 1e6 / in.RedisMicros }

// Reach is how far a sale, a cluster and a region go.
type Reach struct {
	SaleRate      float64 `json:"sale_rate"`      // booking requests a second that one sale may be planned with
	SalesPerShard float64 `json:"sales_of_shard"` // such as the given one, at once; under 1: not even one
	Shards        float64 `json:"shards"`         // for the given number of sales, if names spread evenly
	RegionWinners float64 `json:"region_winners"` // bookings a second of all sales without a late ledger, the table warmed
}

// ReachOf plans with the same headroom as Limits.
func ReachOf(in Input) Reach {
	rate := headroom * in.thread()
	sales := rate / in.Rate
	if sales > 1 {
		sales = math.Floor(sales)
	}
	return Reach{SaleRate: rate, SalesPerShard: sales, Shards: math.Ceil(in.Sales / math.Max(1, sales)), RegionWinners: math.Floor(headroom * dynamoTable / writesHeld)}
}

// What a sale takes of Redis, in bytes, measured (docs/benchmarks.md) and
// rounded up.
const (
	rosterBytes   = 140.0
	freeBytes     = 140.0
	admittedBytes = 560.0 // beyond the free seat that it was
)

// RedisBytes is the memory of a sale that is sold out.
func RedisBytes(candidates, seats int) int64 {
	sold := math.Min(float64(candidates), float64(seats))
	return int64(float64(candidates)*rosterBytes + float64(seats)*freeBytes + sold*admittedBytes)
}
