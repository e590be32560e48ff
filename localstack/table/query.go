package table

// QueryInput reads items of one partition, in sort key order.
type QueryInput struct {
	TableName                 string
	IndexName                 string
	KeyConditionExpression    string
	FilterExpression          string
	ProjectionExpression      string
	ExpressionAttributeNames  map[string]string
	ExpressionAttributeValues Item
	ExclusiveStartKey         Item
	Limit                     *int // items looked at, before the filter
	ScanIndexForward          *bool
	ConsistentRead            bool
	Select                    string
	ReturnConsumedCapacity    string
}

// ScanInput reads all items of a table or index, in no meaningful order.
type ScanInput struct {
	TableName                 string
	IndexName                 string
	FilterExpression          string
	ProjectionExpression      string
	ExpressionAttributeNames  map[string]string
	ExpressionAttributeValues Item
	ExclusiveStartKey         Item
	Limit                     *int // items looked at, before the filter
	Segment                   *int
	TotalSegments             *int
	ConsistentRead            bool
	Select                    string
	ReturnConsumedCapacity    string
}

// PageOutput is one page of a query or scan. There may be more items if, and
// only if, LastEvaluatedKey is not nil.
type PageOutput struct {
	Items            []Item `json:",omitzero"` // nil with Select COUNT
	Count            int
	ScannedCount     int
	LastEvaluatedKey Item      `json:",omitzero"`
	ConsumedCapacity *Capacity `json:",omitempty"`
}

// readRequest is what queries and scans have in common.
type readRequest struct {
	table, index       string
	filter, projection string
	names              map[string]string
	values             Item
	start              Item
	limit              *int
	consistent         bool
	selected, consumed string
	keyCondition       string // query
	backward           bool   // query
	segment, total     *int   // scan
	isQuery            bool
}

// Query reads one page. Errors: CodeValidation, CodeTableNotFound.
func (db *DB) Query(in QueryInput) (PageOutput, error) {
	return db.page("Query", readRequest{
		table: in.TableName, index: in.IndexName, filter: in.FilterExpression, projection: in.ProjectionExpression,
		names: in.ExpressionAttributeNames, values: in.ExpressionAttributeValues, start: in.ExclusiveStartKey,
		limit: in.Limit, consistent: in.ConsistentRead, selected: in.Select, consumed: in.ReturnConsumedCapacity,
		keyCondition: in.KeyConditionExpression, isQuery: true,
		backward: in.ScanIndexForward != nil && !*in.ScanIndexForward,
	})
}

// Scan reads one page. Errors: CodeValidation, CodeTableNotFound.
func (db *DB) Scan(in ScanInput) (PageOutput, error) {
	return db.page("Scan", readRequest{
		table: in.TableName, index: in.IndexName, filter: in.FilterExpression, projection: in.ProjectionExpression,
		names: in.ExpressionAttributeNames, values: in.ExpressionAttributeValues, start: in.ExclusiveStartKey,
		limit: in.Limit, consistent: in.ConsistentRead, selected: in.Select, consumed: in.ReturnConsumedCapacity,
		segment: in.Segment, total: in.TotalSegments,
	})
}
