package table

import "github.com/holdfast/holdfast/localstack/fault"

const (
	maxPage     = 1 << 20 // bytes that one page looks at
	maxSegments = 1_000_000
)

func (db *DB) page(op string, request readRequest) (PageOutput, error) {
	return call(db, op, request.table, 0, func(fault.Verdict) (PageOutput, error) {
		t, err := db.table(request.table)
		if err != nil {
			return PageOutput{}, err
		}
		if err := request.check(); err != nil {
			return PageOutput{}, err
		}
		unlock := t.readLock(db)
		defer unlock()
		r, err := t.read(request)
		if err != nil {
			return PageOutput{}, err
		}
		out := r.page()
		out.ConsumedCapacity = capacity(request.consumed, request.table, float64(r.size/4096+1)/2)
		return out, nil
	})
}

func (q readRequest) check() error {
	if q.limit != nil && *q.limit < 1 {
		return invalid("1 validation error detected: Value '%d' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1", *q.limit)
	}
	if q.isQuery && q.keyCondition == "" {
		return invalid("Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.")
	}
	if (q.segment == nil) != (q.total == nil) {
		return invalid("The Segment parameter is required but was not present in the request when parameter TotalSegments is present, and the other way round")
	}
	if q.total != nil && (*q.total < 1 || *q.total > maxSegments || *q.segment < 0 || *q.segment >= *q.total) {
		return invalid("The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: %d is not less than TotalSegments: %d", *q.segment, *q.total)
	}
	if err := checkChoice("select", q.selected, "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES", "COUNT", "SPECIFIC_ATTRIBUTES"); err != nil {
		return err
	}
	switch {
	case q.selected == "SPECIFIC_ATTRIBUTES" && q.projection == "":
		return invalid("Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES")
	case q.projection != "" && q.selected != "" && q.selected != "SPECIFIC_ATTRIBUTES":
		return invalid("Cannot specify the ProjectionExpression when choosing to get %s", q.selected)
	case q.selected == "ALL_PROJECTED_ATTRIBUTES" && q.index == "":
		return invalid("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName")
	}
	return nil
}

// reading is a page being read.
type reading struct {
	readRequest
	table  schema
	view   *view
	within keyRange
	from   string // the storage key after which the page begins, if not empty
	filter condition
	shown  *projection
	size   int
}

func (t *state) read(request readRequest) (*reading, error) {
	r := &reading{readRequest: request, table: t.main.schema}
	var err error
	if r.view, err = t.view(request.index, request.consistent); err != nil {
		return nil, err
	}
	if request.selected == "ALL_ATTRIBUTES" && r.view.shown != nil {
		return nil, invalid("One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global secondary index %s because its projection type is not ALL", request.index)
	}
	if err := r.parse(); err != nil {
		return nil, err
	}
	if request.start != nil {
		if r.from, err = r.view.startKey(r.table, request.start); err != nil {
			return nil, err
		}
		switch {
		case r.within.holds(r.from):
		case request.isQuery:
			return nil, invalid("The provided starting key is outside query boundaries based on provided conditions")
		default:
			return nil, invalid("The provided starting key is invalid: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct Segment. TotalSegments: %d Segment: %d", *request.total, *request.segment)
		}
	}
	return r, nil
}

func (r *reading) parse() (err error) {
	b := bind(r.names, r.values)
	switch {
	case r.isQuery:
		if r.within, err = parseKeyCondition(r.keyCondition, r.view.schema, b); err != nil {
			return err
		}
	case r.segment != nil:
		r.within = segmentRange(*r.segment, *r.total)
	}
	if r.readRequest.filter != "" {
		if r.filter, err = parseCondition("FilterExpression", r.readRequest.filter, b); err != nil {
			return err
		}
		if name := keyNameIn(r.filter, r.view.schema); r.isQuery && name != "" {
			return invalid("Filter Expression can only contain non-primary key attributes: Primary key attribute: %s", name)
		}
	}
	if r.shown, err = parseProjection(r.projection, b); err != nil {
		return err
	}
	return b.checkUsed()
}

// page walks over the rows until the range, the limit or the page's size ends.
// A page that ends exactly at its limit has a LastEvaluatedKey even if nothing
// follows, as in DynamoDB.
func (r *reading) page() PageOutput {
	out := PageOutput{}
	if r.selected != "COUNT" {
		out.Items = []Item{}
	}
	rows := &r.view.rows
	step := rows.next
	if r.backward {
		step = rows.prev
	}
	for at := r.first(); ; at = step(at) {
		e, ok := rows.at(at)
		if !ok || !r.within.holds(e.key) {
			return out
		}
		item, size := e.row.item, e.row.size
		if r.view.shown != nil { // the index holds only a part of it
			item = r.view.shown.of(item)
			size = item.Size()
		}
		out.ScannedCount++
		r.size += size
		if r.filter == nil || r.filter.holds(item) {
			out.Count++
			if r.selected != "COUNT" {
				out.Items = append(out.Items, r.shown.of(item))
			}
		}
		if r.limit != nil && out.ScannedCount == *r.limit || r.size >= maxPage {
			out.LastEvaluatedKey = r.view.lastKey(r.table, e.row.item)
			return out
		}
	}
}

// first is the row where the page begins.
func (r *reading) first() cursor {
	rows := &r.view.rows
	switch {
	case !r.backward && r.from != "":
		return rows.seek(r.from + "\x00") // the least key above it
	case !r.backward:
		return rows.seek(r.within.low)
	case r.from != "":
		return rows.prev(rows.seek(r.from))
	case r.within.high != "":
		return rows.prev(rows.seek(r.within.high))
	}
	return rows.prev(cursor{len(rows.chunks), 0})
}
