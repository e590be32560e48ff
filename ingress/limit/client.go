package limit

import (
	"net/http"
	"net/netip"
	"strings"
)

// Client finds the address that a request came from.
type Client struct {
	// Trusted are the hops that append to X-Forwarded-For truthfully: the load
	// balancers in front of us and nobody else. Without them the header, which
	// anyone can send, is not read at all.
	Trusted []netip.Prefix
}

// Key is the client as a limit counts it: an IPv4 address, or the /64 of an
// IPv6 address, since one subscriber has all of that. It walks
// X-Forwarded-For from the right, where trusted hops write, and stops at the
// first address that is none of them: what stands further left is hearsay.
func (c Client) Key(r *http.Request) string {
	var text [48]byte
	return string(c.AppendKey(text[:0], r))
}

// AppendKey appends what Key returns: the hot path asks for each request.
func (c Client) AppendKey(dst []byte, r *http.Request) []byte {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return append(dst, "unknown"...)
	}
	client := at.Addr().Unmap().WithZone("")
	if c.trusts(client) {
		client = c.behind(client, r)
	}
	if client.Is6() {
		if p, err := client.Prefix(64); err == nil {
			return p.AppendTo(dst)
		}
	}
	return client.AppendTo(dst)
}

// behind is the first client, from the right, that no trusted hop is.
func (c Client) behind(client netip.Addr, r *http.Request) netip.Addr {
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0; i-- {
		hop, err := parseHop(hops[i])
		if err != nil {
			break // what a trusted hop wrote can be read; this was written by nobody we know
		}
		client = hop
		if !c.trusts(hop) {
			break
		}
	}
	return client
}

func (c Client) trusts(a netip.Addr) bool {
	for _, p := range c.Trusted {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// parseHop reads an address with or without a port.
func parseHop(s string) (netip.Addr, error) {
	s = strings.TrimSpace(s)
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return ap.Addr().Unmap().WithZone(""), nil
	}
	a, err := netip.ParseAddr(strings.Trim(s, "[]"))
	return a.Unmap().WithZone(""), err
}
