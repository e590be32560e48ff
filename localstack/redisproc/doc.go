// Package redisproc runs real redis-server processes on free loopback ports: a
// single server, a primary with its replica, a cluster, a Sentinel trio. Tests
// and the local cloud use it, because what Holdfast relies on (WAIT, scripts
// under memory pressure, failover) can't be learned from a fake (protocol.md 1).
//
// A child never outlives its parent, even one that was killed: on Linux by
// Pdeathsig, elsewhere by Stop. A primary is never restarted empty over a
// directory that had data: its replicas would be emptied too (protocol.md 1.2).
package redisproc
