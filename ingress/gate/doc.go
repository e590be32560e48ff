// Package gate is what an ingress process knows by itself: an immutable plan of
// each sale, refreshed every few seconds, and marks of what was full a moment
// ago. It refuses only what it can be sure of; everything else goes to the
// script (protocol.md 3.12).
package gate
