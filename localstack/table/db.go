package table

import (
	"strings"
	"sync"
	"time"

	"github.com/holdfast/holdfast/localstack/fault"
)

// Options configures an engine. The zero value is a healthy engine on the real
// clock with immediately consistent indexes.
type Options struct {
	// Now is the clock of transaction tokens and lags. Default: time.Now.
	Now func() time.Time
	// Faults decides the fate of each call. Default: fault.Healthy.
	Faults fault.Plan
	// Sleep serves the verdict Slow; a simulator may do something else with
	// it. Default: fault.Sleep.
	Sleep func(fault.Point, time.Duration)
	// Lag says how long a write to the table takes to reach one of its indexes,
	// or, with an empty index name, its eventually consistent reads. It is
	// asked once per write and view, under a lock: it must not call the engine.
	// Default: no lag, and no second copy of the table.
	Lag func(table, index string) time.Duration
}

// DB is a set of tables. Build it with New.
type DB struct {
	options Options
	mu      sync.RWMutex
	tables  map[string]*state
	tokens  tokens
}

// New returns an empty engine.
func New(options Options) *DB {
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Faults == nil {
		options.Faults = fault.Healthy
	}
	if options.Sleep == nil {
		options.Sleep = fault.Sleep
	}
	return &DB{options: options, tables: map[string]*state{}, tokens: newTokens()}
}

// state is one table. Its name, key and creation time never change; the lock
// guards the rest.
type state struct {
	name    string
	created time.Time

	mu      sync.RWMutex
	types   map[string]Kind
	keys    []KeyElement
	main    view
	stale   *view // only with Options.Lag
	indexes []*view
	bytes   int    // of all items
	ttl     string // the attribute, "" if switched off
}

// table finds a table by name or ARN.
func (db *DB) table(name string) (*state, error) {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	}
	db.mu.RLock()
	defer db.mu.RUnlock()
	if t, ok := db.tables[name]; ok {
		return t, nil
	}
	return nil, &Error{Code: CodeTableNotFound, Message: "Requested resource not found: Table: " + name + " not found"}
}

// put replaces the row at a storage key in the table and all its views; a nil
// row deletes. The table must be locked.
func (t *state) put(db *DB, key string, old, now *row) {
	if old == nil && now == nil {
		return
	}
	if old != nil {
		t.bytes -= old.size
	}
	if now != nil {
		t.bytes += now.size
	}
	t.main.apply(key, old, now, time.Time{})
	if t.stale != nil {
		t.stale.apply(key, old, now, db.due(t.name, ""))
	}
	for _, index := range t.indexes {
		index.apply(key, old, now, db.due(t.name, index.name))
	}
}

// due is when a write made now shows up in a view.
func (db *DB) due(table, index string) time.Time {
	if db.options.Lag == nil {
		return time.Time{}
	}
	if lag := db.options.Lag(table, index); lag > 0 {
		return db.options.Now().Add(lag)
	}
	return time.Time{}
}

// Settle makes every write visible everywhere, whatever its lag.
func (db *DB) Settle() {
	db.mu.RLock()
	defer db.mu.RUnlock()
	for _, t := range db.tables {
		t.mu.Lock()
		for _, v := range t.views() {
			for _, c := range v.pending {
				v.write(c)
			}
			v.pending = nil
		}
		t.mu.Unlock()
	}
}

func (t *state) views() []*view {
	views := append([]*view{&t.main}, t.indexes...)
	if t.stale != nil {
		views = append(views, t.stale)
	}
	return views
}

// view finds what a read of the index (or of the table, if empty) looks at.
func (t *state) view(index string, consistent bool) (*view, error) {
	if index == "" {
		if !consistent && t.stale != nil {
			return t.stale, nil
		}
		return &t.main, nil
	}
	for _, v := range t.indexes {
		if v.name == index {
			if consistent {
				return nil, invalid("Consistent reads are not supported on global secondary indexes")
			}
			return v, nil
		}
	}
	return nil, invalid("The table does not have the specified index: %s", index)
}

// readLock locks the table for a read. Reads that may see a lag first move the
// views on, which is a write.
func (t *state) readLock(db *DB) (unlock func()) {
	if db.options.Lag == nil {
		t.mu.RLock()
		return t.mu.RUnlock
	}
	t.mu.Lock()
	for _, v := range t.views() {
		v.settle(db.options.Now())
	}
	return t.mu.Unlock
}
