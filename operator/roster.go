package operator

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/holdfast/holdfast/admission"
	"github.com/holdfast/holdfast/ledger"
	"github.com/holdfast/holdfast/sale"
)

// Rows opens the list of candidates anew. An import reads it twice: once to the
// end before anything is written, so that a file that breaks in the middle
// changes nothing, and once to write, so that no file has to fit into memory.
// Both readings must give the same candidates, each once.
type Rows func() (iter.Seq2[sale.Row, error], error)

// ImportOptions say how a roster is imported.
type ImportOptions struct {
	DryRun bool // compare and count, write nothing
	// Add keeps the candidates that the file does not name. Without it the file
	// is the roster: who is not in it can't book any more (who has booked keeps
	// the booking, protocol.md 3.4).
	Add bool
}

// Phase is what an import is doing.
type Phase string

// The phases, in their order. A dry run ends after the comparison.
const (
	PhaseCompare Phase = "compare"
	PhaseWrite   Phase = "write"
	PhaseRemove  Phase = "remove"
)

// Progress is how far an import has come. Total is 0 while it is not known.
type Progress struct {
	Phase       Phase
	Done, Total int
}

// ImportResult says what an import did, or in a dry run would do.
type ImportResult struct {
	Added     int    `json:"added"`
	Changed   int    `json:"changed"`
	Removed   int    `json:"removed"`
	Unchanged int    `json:"unchanged"`
	Size      int    `json:"size"`    // candidates on the roster afterwards
	Version   string `json:"version"` // of the roster afterwards; the same candidates give the same version
	Written   int    `json:"written"` // rows that the ledger or Redis did not have; 0 in a dry run
}

// ImportRoster makes the file the roster of the sale. Each row goes to the
// ledger before it goes to Redis, and the version is raised last (protocol.md
// 3.3, R#). Safe to repeat: the same file twice is one import, and after a crash
// at any step the same file again ends in the same roster under the same
// version. progress may be nil.
//
// Memory grows with the candidates, not with the file: about 150 bytes for each.
func (d *Desk) ImportRoster(ctx context.Context, saleID string, rows Rows, o ImportOptions, progress func(Progress), by By) (ImportResult, error) {
	c, err := d.working(ctx, saleID)
	if err != nil {
		return ImportResult{}, err
	}
	if progress == nil {
		progress = func(Progress) {}
	}
	im := &rosterImport{desk: d, control: c, options: o, progress: progress, known: make(map[string]*known)}
	if err := im.readStored(ctx); err != nil {
		return ImportResult{}, err
	}
	if err := im.compare(ctx, rows); err != nil {
		return ImportResult{}, err
	}
	if o.DryRun || im.settled(ctx) {
		return im.result, nil
	}
	before := fmt.Sprintf("%d candidates", c.RosterSize)
	after := fmt.Sprintf("%d candidates: %d added, %d changed, %d removed", im.result.Size, im.result.Added, im.result.Changed, im.result.Removed)
	if err := d.note(ctx, saleID, by, "roster import", before, after); err != nil {
		return ImportResult{}, err
	}
	if err := im.write(ctx, rows); err != nil {
		return im.result, err
	}
	if err := im.remove(ctx); err != nil {
		return im.result, err
	}
	return im.result, im.publish(ctx)
}

// known is what is remembered of a candidate.
type known struct {
	ledger, redis, file rowSum // as stored, as stored, as wished
}

// rowSum is a row in 16 bytes; zero: not there.
type rowSum [16]byte

func sumOf(r ledger.RosterRow) (s rowSum) {
	h := sha256.Sum256([]byte(r.Candidate + "\x00" + r.EmailHash + "\x00" + strings.Join(r.Levels, "\x00")))
	copy(s[:], h[:])
	return s
}

// rosterImport is one import under way.
type rosterImport struct {
	desk     *Desk
	control  ledger.Control
	options  ImportOptions
	progress func(Progress)
	known    map[string]*known // by candidate
	result   ImportResult
	named    int // candidates in the file
}

func (im *rosterImport) of(candidate string) *known {
	k, ok := im.known[candidate]
	if !ok {
		k = &known{}
		im.known[candidate] = k
	}
	return k
}

// readStored reads both rosters: after a crash they may differ, and each gets
// what it lacks.
func (im *rosterImport) readStored(ctx context.Context) error {
	id := im.control.Sale
	err := im.desk.Store.Scan(ctx, id, ledger.Visitor{Roster: func(r ledger.RosterRow) error {
		im.of(r.Candidate).ledger = sumOf(r)
		return nil
	}})
	if err != nil {
		return fmt.Errorf("operator: read the roster of sale %s in the ledger: %w", id, err)
	}
	err = im.desk.Redis.ScanRoster(ctx, id, func(r admission.RosterEntry) error {
		im.of(r.Candidate).redis = sumOf(ledger.RosterRow(r))
		return nil
	})
	if err != nil {
		return fmt.Errorf("operator: read the roster of sale %s in Redis: %w", id, err)
	}
	return nil
}

// each walks the file, hashed: codes and e-mails go no further than this.
func (im *rosterImport) each(ctx context.Context, rows Rows, do func(ledger.RosterRow) error) error {
	seq, err := rows()
	if err != nil {
		return err
	}
	for row, err := range seq {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			h := im.desk.Hasher
			err = do(ledger.RosterRow{Candidate: string(h.Code(row.Code)), EmailHash: string(h.Email(row.Email)), Levels: row.Levels})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// tick is how many rows pass between two reports of progress.
const tick = 500

var errFileChanged = errors.New("the file changed while it was being imported: import it again")

// compare reads the file to its end and counts what it would change.
func (im *rosterImport) compare(ctx context.Context, rows Rows) error {
	err := im.each(ctx, rows, func(r ledger.RosterRow) error {
		im.of(r.Candidate).file = sumOf(r)
		im.named++
		if im.named%tick == 0 {
			im.progress(Progress{PhaseCompare, im.named, 0})
		}
		return nil
	})
	if err != nil {
		return err
	}
	im.progress(Progress{PhaseCompare, im.named, im.named})
	if im.named == 0 && !im.options.Add {
		return refuse(CodeRosterEmpty, map[string]int{"candidates": 0, "roster": im.control.RosterSize}, "the file has no candidate, so the import would empty the roster: nothing was changed")
	}
	im.count()
	return nil
}

// count compares the file with what is stored and names the result. The ledger
// is what was there before; the version is a sum over the rows, so it depends
// on the candidates alone and not on their order or history.
func (im *rosterImport) count() {
	var none rowSum
	var total rowSum
	for _, k := range im.known {
		want := k.file
		if want == none && im.options.Add {
			want = k.ledger
			k.file = want
		}
		switch {
		case want == none && k.ledger != none:
			im.result.Removed++
		case want == none:
		case k.ledger == none:
			im.result.Added++
		case k.ledger != want:
			im.result.Changed++
		default:
			im.result.Unchanged++
		}
		if want != none {
			im.result.Size++
			total.add(want)
		}
	}
	im.result.Version = fmt.Sprintf("r%x", total[:])
}

// add is addition modulo 2^128: independent of the order, and unlike XOR it does
// not cancel what is there twice.
func (s *rowSum) add(t rowSum) {
	carry := 0
	for i := len(s) - 1; i >= 0; i-- {
		n := int(s[i]) + int(t[i]) + carry
		s[i], carry = byte(n), n>>8
	}
}
