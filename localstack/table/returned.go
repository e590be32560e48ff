package table

// returned is what ReturnValues asks for.
func (w *write) returned() Item {
	var before, after Item
	if w.old != nil {
		before = w.old.item
	}
	if w.now != nil {
		after = w.now.item
	}
	switch w.returnWhat {
	case "ALL_OLD":
		return before
	case "ALL_NEW":
		return after
	case "UPDATED_OLD":
		return w.updated(before)
	case "UPDATED_NEW":
		return w.updated(after)
	}
	return nil
}

func (w *write) updated(item Item) Item {
	paths := make([]path, len(w.actions))
	for i, a := range w.actions {
		paths[i] = a.path
	}
	if kept := projectPaths(paths).of(item); len(kept) > 0 {
		return kept
	}
	return nil
}

// checkChoice refuses a parameter that is set to none of the choices.
func checkChoice(name, value string, choices ...string) error {
	if value == "" {
		return nil
	}
	for _, choice := range choices {
		if value == choice {
			return nil
		}
	}
	return invalid("1 validation error detected: Value '%s' at '%s' failed to satisfy constraint: Member must satisfy enum value set: %v", value, name, choices)
}
