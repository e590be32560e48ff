package cli

import (
	"bytes"
	"encoding/base64"
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/operator"
)

func TestAuditExitsWithZeroOnlyIfEverythingHolds(t *testing.T) {
	x := newTown(t)
	x.paid("c1", "N2")
	if out := x.done("audit", "spring"); !strings.Contains(out, "sale spring: every promise holds") || !strings.Contains(out, "1 paid") {
		t.Errorf("%s", out)
	}
	// A booking that the ledger has and Redis never had.
	b := ledger.Booking{ID: "ghost", Sale: "spring", Candidate: "c9", Level: "N1", Seats: []ledger.Seat{{Token: "N1-2", Score: 2}}, Gen: 1,
		Payment: ledger.PaymentKey{Gateway: "page", ID: "ghostpay"}, Price: x.Plan.Price, AdmittedAt: x.Now(), HoldUntil: x.Now().Add(time.Minute)}
	x.apply(ledger.Hold(b, "worker", x.Now()))
	r := x.run("audit", "spring")
	if r.code != exitRefused || !strings.Contains(r.out, "VIOLATIONS") || !strings.Contains(r.out, "ghost") {
		t.Errorf("exit code %d: %s%s", r.code, r.out, r.err)
	}
	// Repair sees the same, mends it, and then nothing is left.
	if r := x.run("repair", "spring", "--dry-run"); r.code != exitRefused || !strings.Contains(r.out, "lost") || !strings.Contains(r.out, "ghost") {
		t.Errorf("dry run: exit code %d: %s%s", r.code, r.out, r.err)
	}
	if out := x.done("repair", "spring"); !strings.Contains(out, "ghost") {
		t.Errorf("repair: %s", out)
	}
	x.done("repair", "spring", "--dry-run")
	x.done("audit", "spring")
	x.fails(exitRefused, "audit", "nowhere")
}

func TestRebuildFromTheLedger(t *testing.T) {
	x := newTown(t)
	x.paid("c1", "N2")
	x.held("c2", "N1")
	x.Redis.Flush()
	if r := x.run("sale", "check", "spring"); r.code != exitRefused || !strings.Contains(r.out, "run holdfast rebuild spring") {
		t.Errorf("check: exit code %d: %s%s", r.code, r.out, r.err)
	}
	r := x.run("rebuild", "spring")
	if r.code != exitDone || !strings.Contains(r.out, "2 bookings with 2 seats") || !strings.Contains(r.out, "no drift") {
		t.Errorf("rebuild: exit code %d: %s%s", r.code, r.out, r.err)
	}
	x.done("audit", "spring")
}

func TestReapOnce(t *testing.T) {
	x := newTown(t)
	k := x.held("c1", "N1")
	x.Advance(20 * time.Minute)
	out := x.done("reap", "--once", "--sale", "spring")
	if x.Booking(k.ID).State != ledger.Released || !strings.Contains(out, "spring") {
		t.Errorf("booking %s: %s", x.Booking(k.ID).State, out)
	}
	if x.closed != x.opened {
		t.Error("the house was left open")
	}
}

func TestExportIntoAFile(t *testing.T) {
	x := newTown(t)
	x.paid("c1", "N2")
	path := filepath.Join(t.TempDir(), "list.csv")
	r := x.run("export", "spring", "--out", path, "--roster", x.file("r.csv", "code,email\nAB-0001,ann@example.org\n"))
	if r.code != exitDone || r.out != "" || !strings.Contains(r.err, "1 bookings written") {
		t.Fatalf("exit code %d: %s%s", r.code, r.out, r.err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil || len(rows) != 2 || rows[0][len(rows[0])-1] != "email" {
		t.Errorf("%v: %q", err, rows)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v: a list of people is its writer's alone", info.Mode(), err)
	}
	before := string(data)
	x.fails(exitRefused, "export", "nowhere", "--out", path)
	if data, err = os.ReadFile(path); err != nil || string(data) != before {
		t.Error("an export that failed has changed the file")
	}
	if _, err := os.Stat(path + ".part"); !os.IsNotExist(err) {
		t.Errorf("the half file is left: %v", err)
	}
}

func TestCodesAndRostersThroughPipes(t *testing.T) {
	x := newTown(t)
	x.stdin = examFile
	x.done("sale", "apply", "-")
	x.stdin = examRoster
	if out := x.done("roster", "import", "exam", "-"); !strings.Contains(out, "2 candidates; 2 added") {
		t.Errorf("%s", out)
	}
	x.stdin = "AB-0002\n"
	if out := x.done("booking", "find", "exam", "-"); !strings.Contains(out, "on the roster  yes") {
		t.Errorf("%s", out)
	}
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "holdfast-roster-*"))
	if err != nil || len(left) != 0 {
		t.Errorf("files of people are left behind: %v, %v", left, err)
	}
}

func TestConfigCheckNamesEveryFaultAndNoSecret(t *testing.T) {
	x := newTown(t)
	x.env = map[string]string{"HOLDFAST_SECRET": "short", "HOLDFAST_OPERATOR_TOKEN": "0123456789abcdef0123", "HOLDFAST_WORKERS": "many"}
	text := x.fails(exitRefused, "config", "check")
	for _, want := range []string{"HOLDFAST_SECRET: ", "HOLDFAST_WORKERS: "} {
		if !strings.Contains(text, want) {
			t.Errorf("%q lacks %q", text, want)
		}
	}
	secret := strings.Repeat("0f", 32)
	seed := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32))
	x.env = map[string]string{"HOLDFAST_SECRET": secret, "HOLDFAST_OPERATOR_TOKEN": "0123456789abcdef0123", "HOLDFAST_REPORT_KEY": seed, "HOLDFAST_CONSOLE_ALB": "arn:aws:elasticloadbalancing:eu-central-1:123456789012:loadbalancer/app/desk/50dc6c495c0c9188", "HOLDFAST_SANDBOX_APP_SECRET": "sandboxsecret", "HOLDFAST_REDIS_PASSWORD": "redispassword"}
	out := x.done("config", "check")
	for _, hidden := range []string{secret, seed, "0123456789abcdef0123", "sandboxsecret", "redispassword"} {
		if strings.Contains(out, hidden) {
			t.Errorf("a secret is shown: %s", out)
		}
	}
	golden(t, "config", out)
}

func TestVersion(t *testing.T) {
	if out := newTown(t).done("version"); !strings.HasPrefix(out, "holdfast ") || strings.Count(out, "\n") != 1 {
		t.Errorf("%q", out)
	}
	stamp = "v1.2.3" // as an image's build is told
	defer func() { stamp = "" }()
	if out := newTown(t).done("version"); !strings.HasPrefix(out, "holdfast v1.2.3 go") || strings.Contains(out, "modified") {
		t.Errorf("%q", out)
	}
}

func TestProgress(t *testing.T) {
	clock := time.Date(2026, 5, 1, 9, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		terminal bool
		want     string
	}{
		"lines": {false, "roster: writing, 2000 of 8000\nroster: writing, 4000 of 8000\n"},
		"a bar": {true, "\r\x1b[K"},
	} {
		var out bytes.Buffer
		now := clock
		a := &app{stderr: &out, now: func() time.Time { return now }, terminal: c.terminal}
		p := a.newProgress("roster")
		for done := 1000; done <= 8000; done += 1000 {
			now = now.Add(time.Second)
			if done <= 4000 {
				p.roster(operator.Progress{Phase: operator.PhaseWrite, Done: done, Total: 8000})
			}
		}
		p.end()
		if c.terminal {
			if got := out.String(); !strings.Contains(got, "[==========          ] writing 4000 of 8000  1000/s") || !strings.HasSuffix(got, "\r\x1b[K") {
				t.Errorf("%s: %q", name, got)
			}
			continue
		}
		if out.String() != c.want {
			t.Errorf("%s: %q, want %q", name, out.String(), c.want)
		}
	}
}

func TestDurationsForPeople(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 1234567: "1ms", 1234 * time.Millisecond: "1.2s", 75*time.Second + 400*time.Millisecond: "1m15s", -75 * time.Second: "-1m15s",
		90 * time.Minute: "1h30m", 26*time.Hour + 90*time.Second: "1d2h",
	} {
		if got := about(d); got != want {
			t.Errorf("%d is %q, want %q", d, got, want)
		}
	}
}
