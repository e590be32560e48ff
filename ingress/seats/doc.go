// Package seats shows who may still choose what: one map of a sale's named seats
// per process, read from Redis at most every quarter of a second however many
// people look, with a version that grows with each change. Viewers get a snapshot
// and then deltas that chain from version to version, so that whoever joins late
// or misses one knows it (protocol.md 4, 3.13).
//
// A map is at most MaxAge old. It is for looking: what a hold answers comes from
// the script alone. Nobody's id is in it.
package seats
