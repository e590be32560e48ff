package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// postgres is a server of our own in a temporary directory; pgbench is its crowd.
type postgres struct {
	bin, dir, port string
	as             *syscall.Credential
	server         *exec.Cmd
}

// groupHold takes two seats in the order in which they were asked for, as one
// writes it who does not think of the other order; then it gives them back.
const groupHold = `\set a random(1, :seats - 1)
\set turn random(0, 1)
\set x :a + :turn
\set y :a + 1 - :turn
BEGIN;
SELECT (count(*) FILTER (WHERE holder IS NULL) = 1)::int AS one FROM (SELECT holder FROM seat WHERE id = :x FOR UPDATE) s \gset
SELECT (count(*) FILTER (WHERE holder IS NULL) = 1)::int AS two FROM (SELECT holder FROM seat WHERE id = :y FOR UPDATE) s \gset
UPDATE seat SET holder = :client_id WHERE id IN (:x, :y) AND :one = 1 AND :two = 1;
COMMIT;
UPDATE seat SET holder = NULL WHERE id IN (:x, :y) AND holder = :client_id;
`

func openPostgres(ctx context.Context) (*postgres, error) {
	p := &postgres{}
	if err := p.start(ctx); err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

func (p *postgres) start(ctx context.Context) (err error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return errors.New("PostgreSQL is not installed: apt-get install postgresql, or run with -postgres=false")
	}
	p.bin = filepath.Dir(slices.Max(found))
	if p.dir, err = os.MkdirTemp("", "holdfast-bench-seats"); err != nil {
		return err
	}
	if err := p.dropRoot(); err != nil {
		return err
	}
	if _, err := p.tool(ctx, "initdb", "-D", filepath.Join(p.dir, "data"), "-U", "bench", "-A", "trust"); err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	p.port = strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	if err := l.Close(); err != nil {
		return err
	}
	p.server = p.command(ctx, "postgres", "-D", filepath.Join(p.dir, "data"), "-h", "127.0.0.1", "-p", p.port, "-k", p.dir)
	if err := p.server.Start(); err != nil {
		return err
	}
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		err := p.sql(ctx, "CREATE TABLE seat (id int PRIMARY KEY, holder int)")
		if err == nil || time.Now().After(end) {
			return err
		}
	}
}

// dropRoot gives the directory to a user who is not root: PostgreSQL insists.
func (p *postgres) dropRoot() error {
	if os.Getuid() != 0 {
		return nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return fmt.Errorf("PostgreSQL does not run as root: %w", err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return err
	}
	p.as = &syscall.Credential{Uid: uint32(uid)}
	return os.Chown(p.dir, int(uid), -1)
}

func (p *postgres) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.WithoutCancel(ctx), filepath.Join(p.bin, name), args...)
	cmd.Dir = p.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.as}
	return cmd
}

func (p *postgres) tool(ctx context.Context, name string, args ...string) (string, error) {
	cmd := p.command(ctx, name, args...)
	var out, faults bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &faults
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s: %w: %s", name, err, faults.String())
	}
	return out.String(), nil
}

func (p *postgres) sql(ctx context.Context, statement string) error {
	_, err := p.tool(ctx, "psql", "-h", "127.0.0.1", "-p", p.port, "-U", "bench", "-d", "postgres", "-v", "ON_ERROR_STOP=1", "-Atqc", statement)
	return err
}

// close ends the server and removes its files. Safe on one that never started.
func (p *postgres) close() error {
	if p.server != nil && p.server.Process != nil {
		_ = p.server.Process.Signal(os.Interrupt) // a fast shutdown
		_ = p.server.Wait()
	}
	if p.dir == "" {
		return nil
	}
	return os.RemoveAll(p.dir)
}

var (
	tps    = regexp.MustCompile(`tps = ([0-9.]+)`)
	failed = regexp.MustCompile(`number of deadlock failures: (\d+)`)
)

// holds counts transactions; a group that was taken counts too, which flatters it.
func (p *postgres) holds(seats int) measure {
	return func(ctx context.Context, length time.Duration) (float64, faults, error) {
		if err := p.sql(ctx, fmt.Sprintf("TRUNCATE seat; INSERT INTO seat SELECT g, NULL FROM generate_series(1, %d) g", seats)); err != nil {
			return 0, faults{}, err
		}
		file := filepath.Join(p.dir, "hold.sql")
		if err := os.WriteFile(file, []byte(groupHold), 0o644); err != nil {
			return 0, faults{}, err
		}
		out, err := p.tool(ctx, "pgbench", "-h", "127.0.0.1", "-p", p.port, "-U", "bench", "-n", "-f", file, "-D", "seats="+strconv.Itoa(seats),
			"-c", strconv.Itoa(callers), "-j", "2", "-T", strconv.Itoa(max(1, int(length.Seconds()))), "--failures-detailed", "postgres")
		m := tps.FindStringSubmatch(out)
		if m == nil {
			return 0, faults{}, errors.Join(err, fmt.Errorf("pgbench says no tps: %s", out))
		}
		var f faults
		if d := failed.FindStringSubmatch(out); d != nil {
			if f.deadlocks, err = strconv.Atoi(d[1]); err != nil {
				return 0, f, err
			}
		}

		rate, err := strconv.ParseFloat(m[1], 64)
		return rate, f, err
	}
}
