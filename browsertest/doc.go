// Package browsertest drives the pages in a real browser, against all of
// Holdfast: Redis with a replica, queue, table, gateway, ingress, worker and
// reaper. It has tests alone.
package browsertest
