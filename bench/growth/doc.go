// Command growth measures how the cost of an operator's acts and of the passes
// grows with the sale: import, sweep, diff, audit, rebuild, status and export, at
// sizes that are ten times apart, on the local cloud with real Redis. Time is what
// a machine makes of it; calls to the table and commands of Redis are exact, and
// processor time is nearly so: they show growth also where the machine is busy.
//
//	go run ./bench/growth -sizes 10000,100000,1000000
package main
