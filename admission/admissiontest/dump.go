package admissiontest

import (
	"maps"
	"slices"

	"github.com/holdfast/holdfast/admission"
)

// Dump is all that the keys of a sale hold (protocol.md 3.2), as data: for the
// comparison with a real server, and for auditors that look past the port.
type Dump struct {
	Gen, Version, Replays int64
	Open                  bool
	OpensMS, ClosesMS     int64
	HoldMS                int64
	TotalCap              int
	RosterVersion         string
	Mark, Marked          string // the mark, and the one that it follows
	Edit                  int64  // serial of the last edit of named seats
	Levels                map[string]LevelDump

	Roster  map[string]admission.RosterEntry
	Seen    map[string]string // candidate -> booking id
	Records map[string]admission.Record
	Pending map[string]PendingDump // candidate -> entry
	Dead    map[string]int64       // undone id -> ms
	Total   int
	Seats   map[string]string // token -> booking id
	Last    map[string]LastDump
	Stash   map[string]string // booking id -> URL, those that have not run out
	Guards  map[string]string // payment -> booking id, those that have not run out
}

// LevelDump is one level.
type LevelDump struct {
	Kind            string
	Cap, Next, Used int
	Free            []TokenDump      // in order
	Soft            map[string]int64 // soft-held booking id -> deadline ms
}

// TokenDump is a free token.
type TokenDump struct {
	Score int64
	Name  string
}

// PendingDump is an entry of the pending set.
type PendingDump struct {
	BookingID, Level string
	MS               int64
}

// LastDump is the last released booking of a candidate.
type LastDump struct{ BookingID, Key, InputHash string }

// Dump copies the sale's state. It is no call of the port: no fault befalls it.
func (r *Redis) Dump(sale string) Dump {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, ms := r.state.sale(sale), r.now().UnixMilli()
	d := Dump{Gen: s.cfg.gen, Version: s.cfg.ver, Replays: s.cfg.replays, Open: s.cfg.open, OpensMS: s.cfg.opensMS, ClosesMS: s.cfg.closes,
		HoldMS: s.cfg.holdMS, TotalCap: s.cfg.cap, RosterVersion: s.cfg.roster, Mark: s.cfg.mark, Marked: s.cfg.marked, Edit: s.cfg.edit, Levels: map[string]LevelDump{},
		Roster: maps.Clone(s.roster), Seen: maps.Clone(s.seen), Records: map[string]admission.Record{}, Pending: map[string]PendingDump{},
		Dead: maps.Clone(s.dead), Total: s.total, Seats: maps.Clone(s.seat), Last: map[string]LastDump{}, Stash: map[string]string{}, Guards: map[string]string{}}
	for id, rec := range s.bk {
		d.Records[id] = copyRecord(rec)
	}
	for ch, p := range s.pending {
		d.Pending[ch] = PendingDump{p.bid, p.level, p.ms}
	}
	for ch, l := range s.last {
		d.Last[ch] = LastDump{l.bid, l.key, l.input}
	}
	for id, st := range s.stash {
		if st.end > ms {
			d.Stash[id] = st.url
		}
	}
	for id, g := range s.guards {
		if g.end > ms {
			d.Guards[id] = g.bid
		}
	}
	for name, c := range s.cfg.levels {
		l := LevelDump{Kind: c.kind, Cap: c.cap, Next: c.next, Used: s.level[name], Soft: maps.Clone(s.soft[name])}
		for _, t := range slices.Clone(s.free[name]) {
			l.Free = append(l.Free, TokenDump{t.score, t.name})
		}
		d.Levels[name] = l
	}
	return d
}

// SoftHold is a soft hold as an auditor sees it.
type SoftHold struct {
	Candidate, Level string
	Seats            []string
	First, Until     int64 // ms
}

// SoftHolds are the sale's soft holds by id, expired ones too. It is no call of
// the port.
func (r *Redis) SoftHolds(sale string) map[string]SoftHold {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.state.sale(sale)
	holds := map[string]SoftHold{}
	for id, rec := range s.bk {
		if rec.Stage == admission.StageSoft {
			holds[id] = SoftHold{rec.Candidate, rec.Level, slices.Clone(rec.Tokens), toMS(rec.AdmittedAt), toMS(rec.HoldUntil)}
		}
	}
	return holds
}

// SeatOwner is whose a named seat is: the id of a booking or of a soft hold, ""
// if it is nobody's. It is no call of the port.
func (r *Redis) SeatOwner(sale, seat string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state.sale(sale).seat[seat]
}
