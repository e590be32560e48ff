package table

import (
	"slices"

	"github.com/holdfast/holdfast/localstack/fault"
)

// CreateTableInput describes a new table. Only on-demand tables exist here.
type CreateTableInput struct {
	TableName              string
	AttributeDefinitions   []AttributeDefinition
	KeySchema              []KeyElement
	GlobalSecondaryIndexes []IndexDefinition
	BillingMode            string // PAY_PER_REQUEST
}

// TableOutput answers the calls that create, change or delete a table.
type TableOutput struct{ TableDescription TableDescription }

// CreateTable makes a table that is ACTIVE at once. Errors: CodeTableInUse if it
// is there already, CodeValidation.
func (db *DB) CreateTable(in CreateTableInput) (TableOutput, error) {
	return call(db, "CreateTable", in.TableName, 0, func(fault.Verdict) (TableOutput, error) {
		t, err := db.newState(in)
		if err != nil {
			return TableOutput{}, err
		}
		db.mu.Lock()
		defer db.mu.Unlock()
		if db.tables[in.TableName] != nil {
			return TableOutput{}, &Error{Code: CodeTableInUse, Message: "Table already exists: " + in.TableName}
		}
		db.tables[in.TableName] = t
		return TableOutput{t.describe()}, nil
	})
}

func (db *DB) newState(in CreateTableInput) (*state, error) {
	if err := checkTableName(in.TableName); err != nil {
		return nil, err
	}
	if in.BillingMode != "PAY_PER_REQUEST" {
		return nil, invalid("BillingMode must be PAY_PER_REQUEST: the local cloud has no provisioned throughput")
	}
	types, err := definedTypes(in.AttributeDefinitions)
	if err != nil {
		return nil, err
	}
	t := &state{name: in.TableName, created: db.options.Now(), types: types, keys: in.KeySchema}
	if t.main.schema, err = newSchema(in.KeySchema, types); err != nil {
		return nil, err
	}
	if db.options.Lag != nil {
		t.stale = &view{schema: t.main.schema}
	}
	for _, definition := range in.GlobalSecondaryIndexes {
		if err := t.addIndex(definition); err != nil {
			return nil, err
		}
	}
	return t, t.checkDefinitionsUsed()
}

func checkTableName(name string) error {
	fits := len(name) >= 3 && len(name) <= 255
	for i := range len(name) {
		fits = fits && (isWordByte(name[i]) || name[i] == '-' || name[i] == '.')
	}
	if !fits {
		return invalid("Invalid table/index name.  Table/index names must be between 3 and 255 characters long, and may contain only the characters a-z, A-Z, 0-9, '_', '-', and '.'")
	}
	return nil
}

func definedTypes(definitions []AttributeDefinition) (map[string]Kind, error) {
	types := map[string]Kind{}
	for _, definition := range definitions {
		kind := kindOf(definition.AttributeType)
		if kind != KindS && kind != KindN && kind != KindB {
			return nil, invalid("1 validation error detected: Value '%s' at 'attributeDefinitions.member.attributeType' failed to satisfy constraint: Member must satisfy enum value set: [B, N, S]", definition.AttributeType)
		}
		if _, repeated := types[definition.AttributeName]; repeated {
			return nil, invalid("Cannot have two attributes with the same name")
		}
		types[definition.AttributeName] = kind
	}
	return types, nil
}

// addIndex adds an index and fills it with the rows that are there.
func (t *state) addIndex(definition IndexDefinition) error {
	if err := checkTableName(definition.IndexName); err != nil {
		return err
	}
	for _, index := range t.indexes {
		if index.name == definition.IndexName {
			return invalid("One or more parameter values were invalid: Duplicate index name: %s", index.name)
		}
	}
	index := &view{name: definition.IndexName, definition: definition}
	var err error
	if index.schema, err = newSchema(definition.KeySchema, t.types); err != nil {
		return err
	}
	if index.shown, err = t.shownBy(definition.Projection, index.schema); err != nil {
		return err
	}
	for at := (cursor{}); ; at = t.main.rows.next(at) {
		e, ok := t.main.rows.at(at)
		if !ok {
			break
		}
		if key, has := index.keyFor(e.row, e.key); has {
			index.rows.set(key, e.row)
		}
	}
	t.indexes = append(t.indexes, index)
	return nil
}

// shownBy is what an index shows: nil for all.
func (t *state) shownBy(p Projection, index schema) (*projection, error) {
	if p.ProjectionType == "ALL" && p.NonKeyAttributes == nil {
		return nil, nil
	}
	if p.ProjectionType != "KEYS_ONLY" && p.ProjectionType != "INCLUDE" || (p.ProjectionType == "INCLUDE") != (p.NonKeyAttributes != nil) {
		return nil, invalid("One or more parameter values were invalid: ProjectionType must be ALL, KEYS_ONLY, or INCLUDE with NonKeyAttributes")
	}
	names := slices.Clone(p.NonKeyAttributes)
	for _, attribute := range append(t.main.schema.attributes(), index.attributes()...) {
		names = append(names, attribute.name)
	}
	paths := make([]path, len(names))
	for i, name := range names {
		paths[i] = path{{name: name}}
	}
	return projectPaths(paths), nil
}

// checkDefinitionsUsed refuses attribute definitions that no key uses.
func (t *state) checkDefinitionsUsed() error {
	for _, name := range sortedKeys(t.types) {
		used := slices.ContainsFunc(t.views(), func(v *view) bool { return v.schema.has(name) })
		if !used {
			return invalid("One or more parameter values were invalid: Some AttributeDefinitions are not used. AttributeDefinitions: %v", sortedKeys(t.types))
		}
	}
	return nil
}
