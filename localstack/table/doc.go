// Package table is a small, deterministic engine with DynamoDB's semantics:
// conditional single-item writes, all-or-nothing transactions, queries and
// scans over a table or its global secondary indexes.
//
// It is pure: no goroutines, no I/O, no clock of its own. The wire handler
// serves it to the AWS SDK over HTTP, and the simulator calls its methods
// directly; both see the same bytes of behaviour. Methods take and return
// plain structs named after the API, and every refusal is an *Error with
// DynamoDB's code and, as far as it is known, DynamoDB's text.
//
// What it does not implement it does not have a field for: no streams, no
// local indexes, no PartiQL, no legacy (pre-expression) parameters.
//
// All methods of DB may be called at once from many goroutines.
package table
