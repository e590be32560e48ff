package sale

import "strings"

// RehearsalPrefix begins the id of every rehearsal sale and of no other: a sale
// of candidates that do not exist, which may be deleted without a trace. The mark
// is a part of the id, so every key, item and event carries it, and nothing can
// take it off or put it on later. Only the rehearsal's own tools make such sales.
const RehearsalPrefix = "rehearsal-"

// IsRehearsal says whether the id is that of a rehearsal sale.
func IsRehearsal(id string) bool {
	return ValidName(id) && strings.HasPrefix(id, RehearsalPrefix) && len(id) > len(RehearsalPrefix)
}
