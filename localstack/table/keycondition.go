package table

// parseKeyCondition reads a key condition: the hash key equals a value and, if
// wanted, one comparison of the sort key. It gives the range of storage keys.
func parseKeyCondition(source string, s schema, b *bindings) (keyRange, error) {
	c, err := parseCondition("KeyConditionExpression", source, b)
	if err != nil {
		return keyRange{}, err
	}
	parts, err := conjuncts(c)
	if err != nil {
		return keyRange{}, err
	}
	if len(parts) > 2 {
		return keyRange{}, invalid("Conditions can be of length 1 or 2 only")
	}
	var hash, sort *keyPart
	for i := range parts {
		part := &parts[i]
		switch {
		case part.name == s.hash.name && hash == nil:
			hash = part
		case part.name == s.sort.name && sort == nil:
			sort = part
		case part.name == s.hash.name || part.name == s.sort.name:
			return keyRange{}, invalid("KeyConditionExpressions must only contain one condition per key")
		}
	}
	return s.keyRange(hash, sort, len(parts))
}

// keyPart is one comparison of a key attribute with one or two values.
type keyPart struct {
	name, operator string
	low, high      Value
}

// conjuncts flattens AND; any other logic has no place in a key condition.
func conjuncts(c condition) ([]keyPart, error) {
	switch c := c.(type) {
	case andCondition:
		left, err := conjuncts(c.left)
		if err != nil {
			return nil, err
		}
		right, err := conjuncts(c.right)
		return append(left, right...), err
	case compareCondition:
		if c.operator != "<>" {
			return newKeyPart(c.operator, c.left, c.right, c.right)
		}
		return nil, wrongKeyOperator("<>")
	case betweenCondition:
		return newKeyPart("BETWEEN", c.value, c.low, c.high)
	case beginsCondition:
		return newKeyPart("begins_with", c.value, c.prefix, c.prefix)
	case orCondition:
		return nil, wrongKeyOperator("OR")
	case notCondition:
		return nil, wrongKeyOperator("NOT")
	case inCondition:
		return nil, wrongKeyOperator("IN")
	case containsCondition:
		return nil, wrongKeyOperator("contains")
	case typeCondition:
		return nil, wrongKeyOperator("attribute_type")
	}
	return nil, wrongKeyOperator("attribute_exists")
}

func wrongKeyOperator(name string) error {
	return invalid("Invalid operator used in KeyConditionExpression: %s", name)
}

func newKeyPart(operator string, attribute, low, high operand) ([]keyPart, error) {
	switch {
	case attribute.isSize || low.isSize || high.isSize:
		return nil, wrongKeyOperator("size")
	case len(attribute.path) != 1:
		return nil, invalid("Invalid KeyConditionExpression: a key attribute must come first, without any nested path")
	case low.path != nil || high.path != nil:
		return nil, invalid("Invalid condition in KeyConditionExpression: %s operator must have a value as its operand", operator)
	}
	return []keyPart{{attribute.path[0].name, operator, low.literal, high.literal}}, nil
}

func (s schema) keyRange(hash, sort *keyPart, parts int) (keyRange, error) {
	switch {
	case hash == nil:
		return keyRange{}, invalid("Query condition missed key schema element: %s", s.hash.name)
	case hash.operator != "=":
		return keyRange{}, invalid("Query key condition not supported")
	case parts == 2 && sort == nil:
		return keyRange{}, invalid("Query condition missed key schema element: %s", s.sort.name)
	}
	if err := s.hash.checkCondition(hash); err != nil {
		return keyRange{}, err
	}
	within := partition(hash.low)
	if sort == nil {
		return prefixRange(within), nil
	}
	if err := s.sort.checkCondition(sort); err != nil {
		return keyRange{}, err
	}
	return sort.rangeIn(within), nil
}

func (a keyAttribute) checkCondition(part *keyPart) error {
	if part.low.kind != a.kind || part.high.kind != a.kind || part.operator == "begins_with" && a.kind == KindN {
		return invalid("One or more parameter values were invalid: Condition parameter type does not match schema type")
	}
	if part.operator == "begins_with" {
		return nil // an empty prefix is allowed
	}
	if err := a.check(part.low); err != nil {
		return err
	}
	return a.check(part.high)
}

// rangeIn is the keys of the partition that satisfy the comparison.
func (part *keyPart) rangeIn(partition string) keyRange {
	all := prefixRange(partition)
	low, high := partition+escape(part.low.sortable()), partition+escape(part.high.sortable())
	switch part.operator {
	case "<":
		return keyRange{all.low, low}
	case "<=":
		return keyRange{all.low, afterPrefix(low)}
	case ">":
		return keyRange{afterPrefix(low), all.high}
	case ">=":
		return keyRange{low, all.high}
	case "BETWEEN":
		return keyRange{low, afterPrefix(high)}
	case "begins_with":
		return prefixRange(partition + escapePrefix(part.low.text))
	}
	return prefixRange(low) // "=": index keys go on after it
}

// keyNameIn finds a key attribute that the condition mentions, or "".
func keyNameIn(c condition, s schema) string {
	for _, p := range pathsIn(c) {
		if p != nil && s.has(p[0].name) {
			return p[0].name
		}
	}
	return ""
}

func pathsIn(c condition) []path {
	switch c := c.(type) {
	case andCondition:
		return append(pathsIn(c.left), pathsIn(c.right)...)
	case orCondition:
		return append(pathsIn(c.left), pathsIn(c.right)...)
	case notCondition:
		return pathsIn(c.inner)
	case compareCondition:
		return []path{c.left.path, c.right.path}
	case betweenCondition:
		return []path{c.value.path, c.low.path, c.high.path}
	case inCondition:
		paths := []path{c.value.path}
		for _, o := range c.list {
			paths = append(paths, o.path)
		}
		return paths
	case existsCondition:
		return []path{c.path}
	case typeCondition:
		return []path{c.path}
	case beginsCondition:
		return []path{c.value.path, c.prefix.path}
	case containsCondition:
		return []path{c.value.path, c.part.path}
	}
	return nil
}
