//go:build race

package sim

// raced: the race detector makes a sale five to ten times as slow, and one step
// at a time is all that happens in it.
const raced = true
