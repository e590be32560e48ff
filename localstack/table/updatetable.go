package table

import (
	"slices"

	"github.com/holdfast/holdfast/localstack/fault"
)

// UpdateTableInput adds and removes indexes.
type UpdateTableInput struct {
	TableName                   string
	AttributeDefinitions        []AttributeDefinition
	GlobalSecondaryIndexUpdates []IndexUpdate
}

// IndexUpdate is one change; exactly one field is set.
type IndexUpdate struct {
	Create *IndexDefinition
	Delete *IndexDeletion
}

// IndexDeletion names an index.
type IndexDeletion struct{ IndexName string }

// UpdateTable adds an index (filled at once) or removes one.
func (db *DB) UpdateTable(in UpdateTableInput) (TableOutput, error) {
	return call(db, "UpdateTable", in.TableName, 0, func(fault.Verdict) (TableOutput, error) {
		t, err := db.table(in.TableName)
		if err != nil {
			return TableOutput{}, err
		}
		types, err := definedTypes(in.AttributeDefinitions)
		if err != nil {
			return TableOutput{}, err
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		for name, kind := range types {
			if known, ok := t.types[name]; ok && known != kind {
				return TableOutput{}, invalid("One or more parameter values were invalid: the type of attribute %s is %s", name, known)
			}
			t.types[name] = kind
		}
		for _, update := range in.GlobalSecondaryIndexUpdates {
			if err := t.updateIndex(update); err != nil {
				return TableOutput{}, err
			}
		}
		return TableOutput{t.describe()}, nil
	})
}

func (t *state) updateIndex(update IndexUpdate) error {
	switch {
	case update.Create != nil && update.Delete == nil:
		return t.addIndex(*update.Create)
	case update.Delete != nil && update.Create == nil:
		n := len(t.indexes)
		t.indexes = slices.DeleteFunc(t.indexes, func(v *view) bool { return v.name == update.Delete.IndexName })
		if len(t.indexes) < n {
			return nil
		}
		return &Error{Code: CodeTableNotFound, Message: "Requested resource not found: Index: " + update.Delete.IndexName + " not found"}
	}
	return invalid("One or more parameter values were invalid: an index update is a Create or a Delete")
}
