// Bench measures admission against other ways to sell the last seat, on servers
// that it starts itself:
//
//	go run ./bench                 all contests, at least five interleaved rounds
//	go run ./bench -only postgres  the contests whose name has the word
//
// On a shared machine only ratios mean something. So every contest runs its two
// sides one after the other in each round, the result is the median of the
// rounds' ratios, and each contest says how much of the machine others used
// meanwhile. It exits with 1 if a ratio misses its floor, and appends every run
// to a history file. docs/benchmarks.md explains the figures.
package main
