// Package fifo is a small, pure engine for SQS FIFO queues: the semantics of protocol.md 1.5 without HTTP, without goroutines and without a clock of its own.
//
// Everything happens under the injected clock. Each call first lets the past happen (messages whose visibility ran out come back, retention removes what is too old, polls time out) and then does its own work. A simulator asks NextEvent when something will happen by itself, moves its clock there and calls Advance; a process in real time leaves that to Run. The same source of randomness, clock and order of calls give the same ids, the same handles and the same deliveries.
//
// What it keeps, because production code must live with it: a message waits only for earlier in-flight messages of its group, so a group is no exclusive lock; a delete after the visibility time-out fails; a deduplication id is remembered for five minutes even when its message is deleted; a dead-letter queue and a redrive break the order between messages, not within what they move.
//
// Plain (not FIFO) queues are not implemented and are refused by name.
package fifo
