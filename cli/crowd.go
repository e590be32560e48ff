package cli

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/load"
	"github.com/holdfast/holdfast/sale"
)

// The most that one run may send. A generator without an end is an attack.
const (
	mostRequests = 1_000_000
	mostTime     = time.Hour
	mostRate     = 20_000
	strangerRate = 1_000 // to a target that is not on this machine and not said to be one's own

	defaultLength = 30 * time.Second
)

// crowdFlags are what load and rehearse have in common.
type crowdFlags struct {
	target   string
	rate     float64
	length   time.Duration
	profile  string
	mix      string
	paying   string
	payRate  float64
	seed     uint64
	inFlight int
	settle   time.Duration
	page     string
	asJSON   string
}

func (f *crowdFlags) add(cmd *cobra.Command, rate float64, length time.Duration, payRate float64) {
	flags := cmd.Flags()
	flags.StringVar(&f.target, "target", "", "base URL of the ingress (default: $HOLDFAST_PUBLIC_URL, else http://127.0.0.1:8080)")
	flags.Float64Var(&f.rate, "rate", rate, "requests a second, sent when they are due whatever the answers do")
	flags.DurationVar(&f.length, "for", length, "how long")
	flags.StringVar(&f.profile, "profile", "", "steps and ramps in place of --rate and --for: 100x10s,100..833x30s,0x5s")
	flags.StringVar(&f.mix, "mix", load.DefaultMix.String(), "shares of impatient people and abusers: "+strings.Join(load.MixNames, ", ")+"; or none")
	flags.StringVar(&f.paying, "paying", "abandon=8%,late=4%,fail=3%", "what holders do: abandon, late, fail, the rest pay at the sandbox's page; none: nobody pays")
	flags.Float64Var(&f.payRate, "pay-rate", payRate, "payments that begin in a second at most; 0: no limit")
	flags.Uint64Var(&f.seed, "seed", 1, "the same seed is the same crowd")
	flags.IntVar(&f.inFlight, "in-flight", 4096, "requests that wait for an answer at most; beyond, sending waits and the latencies show it")
	flags.DurationVar(&f.settle, "settle", 5*time.Minute, "how long the sale may take to come to rest afterwards")
	flags.StringVar(&f.page, "report", "", "write an HTML page with plots")
	flags.StringVar(&f.asJSON, "json", "", "write result and verdict as JSON")
}

// options are the run that the flags ask for, without sale and people.
func (a *app) crowd(cmd *cobra.Command, f *crowdFlags) (load.Options, error) {
	o := load.Options{BaseURL: f.base(a.env), Seed: f.seed, MaxInFlight: f.inFlight, SettleWithin: f.settle}
	var err error
	if f.profile == "" {
		f.profile = fmt.Sprintf("%gx%v", f.rate, f.length)
	}
	if o.Profile, err = load.ParseProfile(f.profile); err != nil {
		return o, usage(cmd, "%v", err)
	}
	if o.Mix, err = load.ParseMix(f.mix); err != nil {
		return o, usage(cmd, "--mix: %v", err)
	}
	if o.Paying, err = load.ParsePaying(f.paying); err != nil {
		return o, usage(cmd, "--paying: %v", err)
	}
	o.Paying.PerSecond = f.payRate
	if u, err := url.Parse(o.BaseURL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return o, usage(cmd, "--target %q is no base URL such as https://seats.example.org", o.BaseURL)
	}
	if f.inFlight < 1 {
		return o, usage(cmd, "--in-flight must be at least 1")
	}
	p := o.Profile
	if p.Requests() < 1 || p.Requests() > mostRequests || p.Length() > mostTime || p.Peak() > mostRate {
		return o, usage(cmd, "%s is %d requests in %v, at most %.0f a second: a run is bounded to 1 to %d requests, %v and %d a second",
			p, p.Requests(), p.Length(), p.Peak(), mostRequests, mostTime, mostRate)
	}
	return o, nil
}

func (f *crowdFlags) base(env func(string) string) string {
	for _, base := range []string{f.target, env("HOLDFAST_PUBLIC_URL"), "http://127.0.0.1:8080"} {
		if base != "" {
			return strings.TrimRight(base, "/")
		}
	}
	return ""
}

// mayLoad refuses to send a crowd where it may hurt somebody: to another machine,
// unless its owner says so or the sale is a marked rehearsal.
func mayLoad(base, saleID string, peak float64, own bool) error {
	if own || loopback(base) {
		return nil
	}
	if !sale.IsRehearsal(saleID) {
		return fmt.Errorf("%s is not this machine, and %s is not a rehearsal: a load test there takes real seats from real people. Rehearse instead (holdfast rehearse --help), or say --i-own-this if the deployment is yours and the sale is for tests", base, saleID)
	}
	if peak > strangerRate {
		return fmt.Errorf("%.0f requests a second to %s: more than %d need --i-own-this", peak, base, strangerRate)
	}
	return nil
}

// loopback says whether the URL can only mean this machine. A name that resolves
// to it today is not enough, but for localhost.
func loopback(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// live is the view while a run goes on: on a terminal drawn over itself.
func (a *app) live(title string) func(load.Progress) {
	if a.terminal {
		return load.Screen(a.stderr, title)
	}
	return load.View(a.stderr)
}

// finish shows the verdict and writes the files that were asked for.
func (a *app) finish(f *crowdFlags, r load.Report) error {
	load.Print(a.stdout, r.Result, r.Checks)
	var page bytes.Buffer
	if f.page != "" {
		if err := r.WriteHTML(&page); err != nil {
			return err
		}
		if err := os.WriteFile(f.page, page.Bytes(), 0o644); err != nil {
			return err
		}
		fmt.Fprintf(a.stdout, "\nreport: %s\n", f.page)
	}
	if f.asJSON != "" {
		if err := writeFile(f.asJSON, func(w io.Writer) error {
			return writeJSON(w, struct {
				Result load.Result  `json:"result"`
				Checks []load.Check `json:"checks"`
			}{r.Result, r.Checks})
		}); err != nil {
			return err
		}
	}
	if !load.Passed(r.Checks) {
		return errShown
	}
	return nil
}

func writeFile(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		_ = f.Close() // the first error tells more
		return err
	}
	return f.Close()
}
