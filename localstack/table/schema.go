package table

// KeyElement is one attribute of a key: KeyType is "HASH" or "RANGE".
type KeyElement struct {
	AttributeName, KeyType string
}

// AttributeDefinition types a key attribute: AttributeType is "S", "N" or "B".
type AttributeDefinition struct {
	AttributeName, AttributeType string
}

// Projection says what an index shows of an item: ProjectionType is "ALL",
// "KEYS_ONLY" or "INCLUDE" (with NonKeyAttributes).
type Projection struct {
	ProjectionType   string
	NonKeyAttributes []string `json:",omitempty"`
}

// IndexDefinition describes a global secondary index.
type IndexDefinition struct {
	IndexName  string
	KeySchema  []KeyElement
	Projection Projection
}

// keyAttribute is a typed key attribute; the zero value means "none".
type keyAttribute struct {
	name string
	kind Kind
}

// schema is the key of a table or an index.
type schema struct{ hash, sort keyAttribute }

func newSchema(elements []KeyElement, types map[string]Kind) (schema, error) {
	var s schema
	for i, element := range elements {
		kind, ok := types[element.AttributeName]
		if !ok {
			return s, invalid("One or more parameter values were invalid: Some index key attributes are not defined in AttributeDefinitions. Keys: [%s]", element.AttributeName)
		}
		attribute := keyAttribute{element.AttributeName, kind}
		switch {
		case i == 0 && element.KeyType == "HASH":
			s.hash = attribute
		case i == 1 && element.KeyType == "RANGE" && attribute.name != s.hash.name:
			s.sort = attribute
		default:
			return s, invalid("Invalid KeySchema: the first element must be a HASH key type, a second one a RANGE key type of another attribute")
		}
	}
	if len(elements) == 0 {
		return s, invalid("1 validation error detected: Value '[]' at 'keySchema' failed to satisfy constraint: Member must have length greater than or equal to 1")
	}
	return s, nil
}

func (s schema) attributes() []keyAttribute {
	if s.sort.name == "" {
		return []keyAttribute{s.hash}
	}
	return []keyAttribute{s.hash, s.sort}
}

func (s schema) has(name string) bool { return name == s.hash.name || name == s.sort.name }

// DynamoDB's limits on key values, in bytes.
const (
	maxHashKey = 2048
	maxSortKey = 1024
)

// check refuses a value that can't be this key attribute.
func (a keyAttribute) check(v Value) error {
	switch {
	case v.kind != a.kind:
		return invalid("One or more parameter values were invalid: Type mismatch for key %s expected: %s actual: %s", a.name, a.kind, v.kind)
	case v.kind != KindN && v.text == "":
		return invalid("One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty %s value. Key: %s", emptyNames[v.kind], a.name)
	}
	return nil
}

var emptyNames = map[Kind]string{KindS: "string", KindB: "binary"}

func (s schema) check(item Item) error {
	for _, attribute := range s.attributes() {
		v, ok := item[attribute.name]
		if !ok {
			return invalid("One or more parameter values were invalid: Missing the key %s in the item", attribute.name)
		}
		if err := attribute.check(v); err != nil {
			return err
		}
	}
	if len(item[s.hash.name].text) > maxHashKey {
		return invalid("One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of2048 bytes")
	}
	if len(item[s.sort.name].text) > maxSortKey {
		return invalid("One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size limit of 1024 bytes")
	}
	return nil
}

// checkKey refuses a Key parameter that is not exactly the key.
func (s schema) checkKey(key Item) error {
	attributes := s.attributes()
	if len(key) != len(attributes) {
		return keyMismatch
	}
	for _, attribute := range attributes {
		if key[attribute.name].kind != attribute.kind {
			return keyMismatch
		}
	}
	return s.check(key)
}

// storageKey is the item's place in the ordered map; ok is false if the item
// lacks a key attribute (a sparse index then has no entry for it).
func (s schema) storageKey(item Item) (key string, ok bool) {
	hash := item[s.hash.name]
	if hash.kind != s.hash.kind {
		return "", false
	}
	key = partition(hash)
	if s.sort.name == "" {
		return key, true
	}
	sortValue := item[s.sort.name]
	if sortValue.kind != s.sort.kind {
		return "", false
	}
	return key + escape(sortValue.sortable()), true
}

// keyOf is the key attributes of the item.
func (s schema) keyOf(item Item) Item {
	key := Item{}
	for _, attribute := range s.attributes() {
		key[attribute.name] = item[attribute.name]
	}
	return key
}
