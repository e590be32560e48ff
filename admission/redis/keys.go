package redis

import "github.com/holdfast/holdfast/admission/redis/resp"

// keys builds every key of a sale. Its value is the prefix "{sale}:".
type keys string

func saleKeys(sale string) keys { return keys("{" + sale + "}:") }

func (k keys) cfg() string     { return string(k) + "adm:cfg" }
func (k keys) seen() string    { return string(k) + "adm:seen" }
func (k keys) bk() string      { return string(k) + "adm:bk" }
func (k keys) pending() string { return string(k) + "adm:pending" }
func (k keys) dead() string    { return string(k) + "adm:dead" }
func (k keys) total() string   { return string(k) + "adm:total" }
func (k keys) seat() string    { return string(k) + "adm:seat" }
func (k keys) roster() string  { return string(k) + "adm:roster" }
func (k keys) last() string    { return string(k) + "adm:last" }

func (k keys) level(l string) string { return string(k) + "adm:level:" + l }
func (k keys) free(l string) string  { return string(k) + "adm:free:" + l }
func (k keys) soft(l string) string  { return string(k) + "soft:" + l }
func (k keys) owner(l string) string { return string(k) + "adm:owner:" + l }

func (k keys) was(bid string) string     { return string(k) + "hold:was:" + bid }
func (k keys) execute(pid string) string { return string(k) + "hold:execute:" + pid }

// admitKeys is how many keys admit lists.
const admitKeys = 13

// admit lists the keys of admit, undo and reseed, in their order.
func (k keys) admit(level string) []string {
	return []string{k.cfg(), k.seen(), k.bk(), k.pending(), k.dead(), k.total(),
		k.level(level), k.free(level), k.seat(), k.roster(), k.last(), k.soft(level), k.owner(level)}
}

// packAdmitKeys adds what admit lists, without making the strings.
func packAdmitKeys(out *resp.Writer, sale, level string) {
	for _, name := range [...]string{"cfg", "seen", "bk", "pending", "dead", "total"} {
		out.Concat("{", sale, "}:adm:", name)
	}
	out.Concat("{", sale, "}:adm:level:", level)
	out.Concat("{", sale, "}:adm:free:", level)
	for _, name := range [...]string{"seat", "roster", "last"} {
		out.Concat("{", sale, "}:adm:", name)
	}
	out.Concat("{", sale, "}:soft:", level)
	out.Concat("{", sale, "}:adm:owner:", level)
}

// all lists every key that may hold old state of a sale with these levels,
// cfg first.
func (k keys) all(levels []string) []string {
	list := []string{k.cfg(), k.seen(), k.bk(), k.pending(), k.dead(), k.total(), k.seat(), k.roster(), k.last()}
	for _, l := range levels {
		list = append(list, k.level(l), k.free(l), k.soft(l), k.owner(l))
	}
	return list
}

// tokenKey is the shared token of a gateway. It belongs to no sale, and its
// scripts use no other key, so it needs no hash tag.
func tokenKey(gateway string) string { return "gw:" + gateway + ":token" }
