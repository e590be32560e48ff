package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast/holdfast/admission"
	admredis "github.com/holdfast/holdfast/admission/redis"
	"github.com/holdfast/holdfast/localstack/redisproc"
)

var errRefused = errors.New("refused although there were seats: the level of this contest is too small")

const (
	generation = 1
	level      = "A"
	stormSeats = 250_000 // more than a storm can take
)

// ground is the servers of a run: a primary with its replica, a client beside
// the script, and a link that is slow.
type ground struct {
	pair  *redisproc.Pair
	admin *goredis.Client
	link  *slowLink
	locks []*redisproc.Server // of the Redlock, five that know nothing of each other
	// lockers are their clients.
	lockers []*goredis.Client
	sale    string // of the storm under way
	sales   atomic.Int64
	admit   string // the single form's source
}

// oneWay makes a round trip of 5 ms.
const oneWay = 2500 * time.Microsecond

func openGround(ctx context.Context) (*ground, error) {
	source, err := os.ReadFile(filepath.Join("admission", "redis", "lua", "admit.lua"))
	if err != nil {
		return nil, fmt.Errorf("run this from the root of the project: %w", err)
	}
	pair, err := redisproc.StartPair(ctx, redisproc.Options{})
	if err != nil {
		return nil, err
	}
	g := &ground{pair: pair, admit: string(source)}
	g.admin = goredis.NewClient(&goredis.Options{Addr: pair.Primary.Addr(), ReadTimeout: time.Minute})
	if g.link, err = startLink(pair.Primary.Addr(), oneWay); err != nil {
		return nil, errors.Join(err, g.admin.Close(), pair.Stop())
	}
	if err := g.openLocks(ctx); err != nil {
		return nil, errors.Join(err, g.close())
	}
	return g, nil
}

func (g *ground) openLocks(ctx context.Context) error {
	for range 5 {
		s, err := redisproc.Start(ctx, redisproc.Options{})
		if err != nil {
			return err
		}
		g.locks = append(g.locks, s)
		g.lockers = append(g.lockers, goredis.NewClient(&goredis.Options{Addr: s.Addr(), PoolSize: 300, ReadTimeout: 5 * time.Second, PoolTimeout: 20 * time.Second, MaxRetries: -1}))
	}
	return nil
}

func (g *ground) close() error {
	g.link.close()
	var faults []error
	for i, s := range g.locks {
		faults = append(faults, g.lockers[i].Close(), s.Stop())
	}
	return errors.Join(append(faults, g.admin.Close(), g.pair.Stop())...)
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// store opens our adapter to addr.
func (g *ground) store(addr string) (*admredis.Store, error) {
	return admredis.Open(admredis.Config{Addrs: []string{addr}, Replicas: 1, WaitTimeout: time.Second, PoolSize: 512, Log: quiet()})
}

// fresh empties the servers and installs a new sale. On a machine that stands
// still an install may miss its acknowledgement; it is then made again.
func (g *ground) fresh(ctx context.Context, seats, total int) error {
	if err := g.admin.FlushAll(ctx).Err(); err != nil {
		return err
	}
	s, err := g.store(g.pair.Primary.Addr())
	if err != nil {
		return err
	}
	defer s.Close()
	g.sale, err = g.install(ctx, s, seats, total)
	return err
}

// install makes a new sale.
func (g *ground) install(ctx context.Context, s *admredis.Store, seats, total int) (id string, err error) {
	for range 10 {
		id = "s" + strconv.FormatInt(g.sales.Add(1), 10)
		if err = installOnce(ctx, s, id, seats, total); !unsure(err) {
			return id, err
		}
	}
	return id, err
}

func installOnce(ctx context.Context, s *admredis.Store, id string, seats, total int) error {
	now := time.Now()
	return s.Install(ctx, admission.Plan{
		Sale: id, Gen: generation, OpensAt: now.Add(-time.Hour), ClosesAt: now.Add(time.Hour), Hold: 10 * time.Minute,
		TotalCap: total, Open: true, RosterVersion: "v1",
		Levels: []admission.LevelPlan{{Name: level, Kind: "c", Cap: seats, Next: seats + 1}},
	}, nil)
}

// request is what a candidate asks, with ids as long as real ones.
func (g *ground) request(candidate string) admission.Request {
	const pad = "0000000000000000000000000000000000000000000" // 43, as sale.Hasher makes them
	c := pad[len(candidate):] + candidate
	return admission.Request{
		Sale: g.sale, BookingID: bookingID(), Candidate: c, Level: level, Gen: generation, Key: "k" + c[22:], InputHash: "i" + c[22:],
		RosterVersion: "v1", EmailHash: c[27:], AmountMinor: 2500, Currency: "EUR", Count: 1,
	}
}

var bookings atomic.Int64

func bookingID() string { return fmt.Sprintf("B%025d", bookings.Add(1)) }

// group is an admitter on our group commit.
func (g *ground) group(s *admredis.Store, opt admredis.CommitOptions) admitter {
	c := admredis.NewCommitter(s, opt)
	return func(ctx context.Context, candidate string) (bool, error) {
		a, err := c.Admit(ctx, g.request(candidate))
		return err == nil && a.Outcome == admission.Admitted, err
	}
}

// commandMicros is the primary's own count of the time in a command so far.
func (g *ground) commandMicros(command string) microClock {
	return func(ctx context.Context) (float64, error) {
		info, err := g.admin.Info(ctx, "commandstats").Result()
		if err != nil {
			return 0, err
		}
		_, line, found := strings.Cut(info, "cmdstat_"+command+":")
		if !found {
			return 0, nil // not called yet
		}
		var calls, usec float64
		_, err = fmt.Sscanf(line, "calls=%f,usec=%f", &calls, &usec)
		return usec, err
	}
}

// cpuMicros is the processor time of the primary so far, in microseconds.
func (g *ground) cpuMicros(ctx context.Context) (float64, error) {
	info, err := g.admin.Info(ctx, "cpu").Result()
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for _, name := range []string{"used_cpu_user:", "used_cpu_sys:"} {
		_, rest, _ := strings.Cut(info, name)
		line, _, _ := strings.Cut(rest, "\r\n")
		seconds, err := strconv.ParseFloat(line, 64)
		if err != nil {
			return 0, fmt.Errorf("INFO cpu: %w", err)
		}
		sum += seconds * 1e6
	}
	return sum, nil
}

// redisBenchmark runs the tool on the primary and returns requests per second.
func (g *ground) redisBenchmark(ctx context.Context, n int, command ...string) (float64, error) {
	args := []string{"-h", "127.0.0.1", "-p", strconv.Itoa(g.pair.Primary.Port()), "-c", "50", "-P", "64", "-n", strconv.Itoa(n), "-r", "1000000000", "--csv"}
	cmd := exec.CommandContext(ctx, "redis-benchmark", append(args, command...)...)
	var out, faults bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &faults
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("redis-benchmark: %w: %s", err, faults.String())
	}
	r := csv.NewReader(&out)
	r.FieldsPerRecord = -1
	r.LazyQuotes = true
	rows, err := r.ReadAll()
	if err != nil || len(rows) < 2 || len(rows[len(rows)-1]) < 2 {
		return 0, fmt.Errorf("redis-benchmark answered %q (%v)", out.String(), err)
	}
	return strconv.ParseFloat(rows[len(rows)-1][1], 64)
}

// keys are the single form's, in its order (admission/redis/lua/admit.lua).
func (g *ground) keys() []string {
	var list []string
	for _, name := range []string{"adm:cfg", "adm:seen", "adm:bk", "adm:pending", "adm:dead", "adm:total",
		"adm:level:" + level, "adm:free:" + level, "adm:seat", "adm:roster", "adm:last", "soft:" + level, "adm:owner:" + level} {
		list = append(list, "{"+g.sale+"}:"+name)
	}
	return list
}
