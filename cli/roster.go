package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/operator"
	"github.com/holdfast/holdfast/sale"
	"github.com/holdfast/holdfast/sale/roster"
)

func (a *app) rosterCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "roster", Short: "Say who may book", Args: cobra.ArbitraryArgs, RunE: group,
		Long: "Who may book.\n\n  holdfast roster import spring roster.csv --dry-run\n  holdfast roster import spring roster.csv --reason 'the final list'",
	}
	cmd.AddCommand(a.rosterImport())
	return cmd
}

func (a *app) rosterImport() *cobra.Command {
	var o operator.ImportOptions
	asJSON := false
	cmd := &cobra.Command{
		Use: "import SALE FILE", Short: "Make a file the roster of a sale", Args: saleFirst("FILE"),
		Long: `Reads a CSV file of candidates, gzipped or not, and makes it the roster of the
sale. Its first line names the columns: code, email, and levels if not everybody
may book everything (N1|N2). Comma, semicolon or tab, a byte order mark, CRLF,
stray spaces and any case are accepted. A row that can't be used is reported with
its line; the others are imported.

The file is the roster: who is not in it can't book any more, unless --add. Who
has booked keeps the booking. Nothing is written before the whole file was read,
so a broken file changes nothing. The same file twice is one import; after a
crash run it again.

FILE may be "-" for standard input, or an https address. Codes and e-mails are
kept as keyed hashes only.`,
		Example: "  holdfast roster import spring roster.csv --dry-run\n  holdfast roster import spring late-entries.csv.gz --add --reason 'late entries'\n  holdfast roster import spring - --reason 'the final list' < roster.csv",
		RunE: func(cmd *cobra.Command, args []string) error {
			by, err := a.whyUnless(cmd, o.DryRun)
			if err != nil {
				return err
			}
			return a.desk(cmd, func(ctx context.Context, d *operator.Desk) error {
				return a.importRoster(ctx, d, args[0], args[1], o, asJSON, by)
			})
		},
	}
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "say what would change, write nothing")
	cmd.Flags().BoolVar(&o.Add, "add", false, "keep the candidates that the file does not name")
	cmd.Flags().BoolVar(&asJSON, "json", false, "for machines")
	return cmd
}

func (a *app) importRoster(ctx context.Context, d *operator.Desk, saleID, path string, o operator.ImportOptions, asJSON bool, by operator.By) error {
	plan, err := d.Plan(ctx, saleID)
	if err != nil {
		return err
	}
	file, err := a.rosterFile(ctx, path, plan.LevelNames())
	if err != nil {
		return err
	}
	if path == "-" {
		if file.path, err = spool(a.stdin); err != nil {
			return err
		}
		defer os.Remove(file.path)
	}
	bar := a.newProgress("roster")
	r, err := d.ImportRoster(ctx, saleID, file.rows, o, bar.roster, by)
	bar.end()
	if err != nil {
		return err
	}
	if asJSON {
		return writeJSON(a.stdout, importReport{file.report(), r, o.DryRun})
	}
	a.showImport(saleID, file.report(), r, o)
	return nil
}

// importReport is an import for machines.
type importReport struct {
	File   roster.Report         `json:"file"`
	Roster operator.ImportResult `json:"roster"`
	DryRun bool                  `json:"dry_run"`
}

// shownProblems bounds the rows that are listed for people; --json lists more.
const shownProblems = 20

func (a *app) showImport(saleID string, file roster.Report, r operator.ImportResult, o operator.ImportOptions) {
	t := newTable(a.stdout)
	t.row("rows", num(file.Rows))
	for _, v := range roster.Verdicts() {
		if n := file.ByVerdict.Of(v); n > 0 {
			t.row(v, num(n))
		}
	}
	_ = t.end() // stdout: nobody is left to tell
	for i, p := range file.Problems {
		if i == shownProblems {
			fmt.Fprintf(a.stdout, "  ... and %d more: see them with --json\n", len(file.Problems)-i+file.Omitted)
			break
		}
		fmt.Fprintf(a.stdout, "  %s\n", p)
	}
	what := "roster of sale " + saleID
	if o.DryRun {
		what = "dry run, nothing is written: the roster of sale " + saleID + " would be"
	}
	fmt.Fprintf(a.stdout, "%s: %d candidates; %d added, %d changed, %d removed, %d as they were (version %s)\n", what, r.Size, r.Added, r.Changed, r.Removed, r.Unchanged, r.Version)
}

// rosterFile is a roster that can be read again. The report is that of the first
// reading.
type rosterFile struct {
	path    string
	content []byte // in place of path: it came from an address
	levels  []string
	first   *roster.Reader
}

func (a *app) rosterFile(ctx context.Context, path string, levels []string) (*rosterFile, error) {
	f := &rosterFile{path: path, levels: levels}
	if !isAddress(path) {
		return f, nil
	}
	in, err := a.source(ctx, path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	f.content, err = io.ReadAll(in)
	return f, err
}

func (f *rosterFile) open() (io.ReadCloser, error) {
	if f.content != nil {
		return io.NopCloser(bytes.NewReader(f.content)), nil
	}
	return os.Open(f.path)
}

func (f *rosterFile) report() roster.Report {
	if f.first == nil {
		return roster.Report{}
	}
	return f.first.Report()
}

// rows opens the file anew; the walk closes it.
func (f *rosterFile) rows() (iter.Seq2[sale.Row, error], error) {
	file, err := f.open()
	if err != nil {
		return nil, err
	}
	rd, err := roster.NewReader(file, f.levels, roster.Options{})
	if err != nil {
		_ = file.Close() // only read
		return nil, err
	}
	if f.first == nil {
		f.first = rd
	}
	return func(yield func(sale.Row, error) bool) {
		defer file.Close()
		rd.Rows()(yield)
	}, nil
}

// spool keeps what comes through a pipe in a private file, since it is read twice.
func spool(in io.Reader) (string, error) {
	f, err := os.CreateTemp("", "holdfast-roster-")
	if err != nil {
		return "", err
	}
	_, err = io.Copy(f, in)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the first error tells more
		return "", fmt.Errorf("read the roster from standard input: %w", err)
	}
	return f.Name(), nil
}

func writeLine(out io.Writer, doc any) error { return json.NewEncoder(out).Encode(doc) }
