package capacity

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
)

func TestTheBillGrowsWithWhatIsSold(t *testing.T) {
	one, two := Defaults, Defaults
	two.Bookings = 2 * one.Bookings
	if a, b := Sum(Usage(one)), Sum(Usage(two)); b < 1.999*a || b > 2.001*a {
		t.Errorf("twice the bookings cost %.2f after %.2f", b, a)
	}
	if small, large := Sum(Idle(Sizes["small"])), Sum(Idle(Sizes["large"])); small >= large {
		t.Errorf("small costs %.2f, large %.2f", small, large)
	}
}

func TestALimitIsNamedBeforeItIsReached(t *testing.T) {
	in := Defaults
	for _, c := range []struct {
		rate float64
		want Verdict
	}{{1000, Enough}, {15000, Tight}, {30000, TooLittle}} {
		in.Rate, in.RedisMicros = c.rate, 50
		if got := Limits(in)[0].Verdict; got != c.want {
			t.Errorf("%.0f requests/s on a thread of 20,000: %q, want %s", c.rate, got, c.want)
		}
	}
}

// TestAGatewayCountsOnceItsLimitIsKnown: a limit that nobody knows is no limit of 0.
func TestAGatewayCountsOnceItsLimitIsKnown(t *testing.T) {
	in := Defaults
	unknown := len(Limits(in))
	in.GatewayRate = in.Winners / 2
	known := Limits(in)
	if last := known[len(known)-1]; len(known) != unknown+1 || last.Part != "payment gateway" || last.Verdict != TooLittle {
		t.Errorf("limits %+v", known)
	}
}

func TestNonsenseIsRefused(t *testing.T) {
	for name, spoil := range map[string]func(*Input){
		"rate": func(in *Input) { in.Rate = 0 }, "bookings": func(in *Input) { in.Bookings = -1 },
		"redis-us": func(in *Input) { in.RedisMicros = math.NaN() }, "winners": func(in *Input) { in.Winners = math.Inf(1) },
	} {
		in := Defaults
		spoil(&in)
		if err := in.Check(); err == nil || !strings.HasPrefix(err.Error(), name+" is ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := Defaults.Check(); err != nil {
		t.Error(err)
	}
}

// The measured sales of docs/benchmarks.md fit what is planned for them.
func TestMemoryIsPlannedAboveWhatWasMeasured(t *testing.T) {
	for _, c := range []struct {
		candidates, seats int
		measured          int64
	}{{40_000, 20_700, 18_500_000}, {1_000_000, 200_000, 239_000_000}} {
		if got := RedisBytes(c.candidates, c.seats); got < c.measured || got > 2*c.measured {
			t.Errorf("%d candidates, %d seats: planned %d bytes, measured %d", c.candidates, c.seats, got, c.measured)
		}
	}
}

// TestTheTemplateHasWhatIsPaidFor counts what the model puts on the bill.
func TestTheTemplateHasWhatIsPaidFor(t *testing.T) {
	body, err := os.ReadFile("../infra/template.json")
	if err != nil {
		t.Fatal(err)
	}
	for kind, want := range map[string]int{"AWS::CloudWatch::Alarm": alarms, "AWS::SecretsManager::Secret": secrets, "AWS::EC2::NatGateway": 2} {
		if got := strings.Count(string(body), `"Type": "`+kind+`"`); got != want {
			t.Errorf("%d of %s, the model pays for %d", got, kind, want)
		}
	}
	for _, s := range Sizes { // what a task of the parameter TaskSize has, in CPU and MB
		for _, share := range []float64{s.ingressCPU, s.ingressGB, s.workersCPU, s.workersGB} {
			if units := fmt.Sprintf("%q", fmt.Sprint(1024*share)); !strings.Contains(string(body), units) {
				t.Errorf("no task of the template has %s of CPU or memory, as the size %s", units, s.name)
			}
		}
	}
}

// TestReach: a shard holds as many sales as its thread bears, and a sale that
// asks for more than a thread fits on none.
func TestReach(t *testing.T) {
	in := Defaults
	in.RedisMicros, in.Rate, in.Sales = 50, 2000, 20
	if r := ReachOf(in); math.Abs(r.SaleRate-14000) > 1 || r.SalesPerShard != 7 || r.Shards != 3 || r.RegionWinners != 2545 {
		t.Errorf("%+v", r)
	}
	in.Rate = 28000
	if r := ReachOf(in); math.Abs(r.SalesPerShard-0.5) > 1e-9 || r.Shards != 20 {
		t.Errorf("%+v", r)
	}
	in = Defaults
	in.Sales = 10
	for _, l := range Limits(in) {
		if l.Part == "SQS FIFO: the queue" && l.Need != 10*in.Winners {
			t.Errorf("ten sales send %v events", l.Need)
		}
	}
}
