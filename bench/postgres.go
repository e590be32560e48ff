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
	"strings"
	"syscall"
	"time"
)

// postgres is a server of our own in a temporary directory, as PostgreSQL is
// installed: each commit reaches the disk. pgbench is its crowd.
type postgres struct {
	bin, dir string
	port     int
	as       *syscall.Credential // PostgreSQL refuses to run as root
	server   *exec.Cmd
}

// The two usual ways to take a seat in SQL. :c is the candidate.
const (
	schema = `CREATE TABLE level (id int PRIMARY KEY, cap int NOT NULL, taken int NOT NULL);
CREATE TABLE admitted (candidate bigint PRIMARY KEY);`
	forUpdate = `BEGIN;
SELECT (taken < cap)::int AS free FROM level WHERE id = 1 FOR UPDATE \gset
\if :free
WITH i AS (INSERT INTO admitted VALUES (:c) ON CONFLICT DO NOTHING RETURNING 1) UPDATE level SET taken = taken + (SELECT count(*) FROM i) WHERE id = 1;
\endif
COMMIT;
`
	conditional = `WITH u AS (UPDATE level SET taken = taken + 1 WHERE id = 1 AND taken < cap AND NOT EXISTS (SELECT 1 FROM admitted WHERE candidate = :c) RETURNING 1) INSERT INTO admitted SELECT :c FROM u;
`
)

func openPostgres(ctx context.Context) (*postgres, error) {
	p := &postgres{}
	if err := p.start(ctx); err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

func (p *postgres) start(ctx context.Context) (err error) {
	if p.bin, err = postgresBin(); err != nil {
		return err
	}
	if p.dir, err = os.MkdirTemp("", "holdfast-bench-postgres"); err != nil {
		return err
	}
	if err := p.dropRoot(); err != nil {
		return err
	}
	if _, err := p.tool(ctx, "initdb", "-D", filepath.Join(p.dir, "data"), "-U", "bench", "-A", "trust"); err != nil {
		return err
	}
	if p.port, err = freePort(); err != nil {
		return err
	}
	var said bytes.Buffer
	p.server = p.command(ctx, "postgres", "-D", filepath.Join(p.dir, "data"), "-h", "127.0.0.1", "-p", strconv.Itoa(p.port), "-k", p.dir, "-c", "max_connections=300")
	p.server.Stderr = &said
	if err := p.server.Start(); err != nil {
		return err
	}
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		_, err := p.sql(ctx, schema)
		if err == nil {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("PostgreSQL does not answer: %w: %s", err, said.String())
		}
	}
}

// postgresBin is the folder of the server's programs. Where a package keeps them
// comes first: on the PATH there may be links to some of them only.
func postgresBin() (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) > 0 {
		return filepath.Dir(slices.Max(found)), nil
	}
	path, err := exec.LookPath("initdb")
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return "", errors.New("PostgreSQL is not installed: apt-get install postgresql, or put initdb, postgres, psql and pgbench on the PATH")
	}
	return filepath.Dir(path), nil
}

// dropRoot gives the directory, and what runs on it, to a user who is not root.
func (p *postgres) dropRoot() error {
	if os.Getuid() != 0 {
		return nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		if u, err = user.Lookup("nobody"); err != nil {
			return fmt.Errorf("PostgreSQL does not run as root, and there is no other user for it: %w", err)
		}
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return err
	}
	p.as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return os.Chown(p.dir, int(uid), int(gid))
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

func (p *postgres) sql(ctx context.Context, statement string) (string, error) {
	out, err := p.tool(ctx, "psql", "-h", "127.0.0.1", "-p", strconv.Itoa(p.port), "-U", "bench", "-d", "postgres", "-v", "ON_ERROR_STOP=1", "-Atqc", statement)
	return strings.TrimSpace(out), err
}

// close ends the server and removes its files. Safe on one that never started.
func (p *postgres) close() error {
	var err error
	if p.server != nil && p.server.Process != nil {
		_ = p.server.Process.Signal(os.Interrupt) // a fast shutdown; it may have ended
		_ = p.server.Wait()                       // "signal: interrupt" is what we asked for
	}
	if p.dir != "" {
		err = os.RemoveAll(p.dir)
	}
	return err
}

var tps = regexp.MustCompile(`tps = ([0-9.]+)`)

// crowd lets pgbench run the script. people bounds who asks.
func (p *postgres) crowd(ctx context.Context, script string, seats, people int, args ...string) (float64, error) {
	if _, err := p.sql(ctx, fmt.Sprintf("TRUNCATE level, admitted; INSERT INTO level VALUES (1, %d, 0)", seats)); err != nil {
		return 0, err
	}
	file := filepath.Join(p.dir, "crowd.sql")
	if err := os.WriteFile(file, fmt.Appendf(nil, "\\set c random(1, %d)\n%s", people, script), 0o644); err != nil {
		return 0, err
	}
	out, err := p.tool(ctx, "pgbench", append([]string{"-h", "127.0.0.1", "-p", strconv.Itoa(p.port), "-U", "bench", "-n", "-f", file, "-j", "2"}, append(args, "postgres")...)...)
	m := tps.FindStringSubmatch(out)
	if m == nil {
		return 0, errors.Join(err, fmt.Errorf("pgbench says no tps: %s", out))
	}
	rate, parse := strconv.ParseFloat(m[1], 64)
	return rate, errors.Join(err, parse)
}

// rate is transactions per second of so many connections, a thousand of them.
func (p *postgres) rate(script string, connections int) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		return p.crowd(ctx, script, stormSeats, 2_000_000_000, "-c", strconv.Itoa(connections), "-t", strconv.Itoa(1024/connections))
	}
}

func (p *postgres) contests(g *ground) []contest {
	ours := g.rate(1024, g.primary, groupDefaults)
	return []contest{
		{"group commit, 1,024 callers / Postgres SELECT FOR UPDATE, 256 connections", "admissions/s", 200, 1000, false, ours, p.rate(forUpdate, 256)},
		{"group commit, 1,024 callers / Postgres SELECT FOR UPDATE, 16 connections", "admissions/s", 0, 0, false, ours, p.rate(forUpdate, 16)},
		{"group commit, 1,024 callers / Postgres conditional UPDATE, 256 connections", "admissions/s", 0, 0, false, ours, p.rate(conditional, 256)},
	}
}

// races asks the database itself who got a seat. A candidate twice is a broken
// key there, so the transaction that tried is gone and its client ends.
func (p *postgres) races(ctx context.Context) ([]Race, error) {
	const seats = 50
	var list []Race
	for _, way := range []struct{ name, script string }{{"Postgres SELECT FOR UPDATE", forUpdate}, {"Postgres conditional UPDATE", conditional}} {
		_, err := p.crowd(ctx, way.script, seats, 300, "-c", "100", "-t", "9")
		var ended *exec.ExitError
		if err != nil && !errors.As(err, &ended) {
			return list, err
		}
		row, err := p.sql(ctx, "SELECT (SELECT count(*) FROM admitted), (SELECT count(*) - count(DISTINCT candidate) FROM admitted)")
		if err != nil {
			return list, err
		}
		r := Race{Name: way.name, Seats: seats}
		if _, err := fmt.Sscanf(row, "%d|%d", &r.Sold, &r.Twice); err != nil {
			return list, fmt.Errorf("who got a seat: %q: %w", row, err)
		}
		r.Unsold = max(0, seats-r.Sold)
		r.Verdict = r.judge()
		list = append(list, r)
	}
	return list, nil
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}
