package table

import "github.com/holdfast/holdfast/localstack/fault"

// Capacity is the consumption that an answer reports when it was asked for it
// with ReturnConsumedCapacity TOTAL or INDEXES. It is a rough figure: one unit
// per item written, half of one per 4 KB read.
type Capacity struct {
	TableName     string
	CapacityUnits float64
}

func capacity(mode, table string, units float64) *Capacity {
	if mode == "" || mode == "NONE" {
		return nil
	}
	return &Capacity{table, units}
}

// PutItemInput writes a whole item in place of whatever has its key.
type PutItemInput struct {
	TableName                           string
	Item                                Item
	ConditionExpression                 string
	ExpressionAttributeNames            map[string]string
	ExpressionAttributeValues           Item
	ReturnValues                        string // NONE (default), ALL_OLD
	ReturnValuesOnConditionCheckFailure string // NONE (default), ALL_OLD
	ReturnConsumedCapacity              string
}

// UpdateItemInput changes attributes of an item, or creates it.
type UpdateItemInput struct {
	TableName                           string
	Key                                 Item
	UpdateExpression                    string
	ConditionExpression                 string
	ExpressionAttributeNames            map[string]string
	ExpressionAttributeValues           Item
	ReturnValues                        string // NONE (default), ALL_OLD, ALL_NEW, UPDATED_OLD, UPDATED_NEW
	ReturnValuesOnConditionCheckFailure string // NONE (default), ALL_OLD
	ReturnConsumedCapacity              string
}

// DeleteItemInput removes an item; it need not be there.
type DeleteItemInput struct {
	TableName                           string
	Key                                 Item
	ConditionExpression                 string
	ExpressionAttributeNames            map[string]string
	ExpressionAttributeValues           Item
	ReturnValues                        string // NONE (default), ALL_OLD
	ReturnValuesOnConditionCheckFailure string // NONE (default), ALL_OLD
	ReturnConsumedCapacity              string
}

// WriteOutput answers the three single-item writes.
type WriteOutput struct {
	// Attributes is what ReturnValues asked for; nil if that is nothing.
	Attributes       Item      `json:",omitzero"`
	ConsumedCapacity *Capacity `json:",omitempty"`
}

// PutItem writes one item. Errors: CodeConditionFailed (with the present item if
// asked for), CodeValidation, CodeTableNotFound.
func (db *DB) PutItem(in PutItemInput) (WriteOutput, error) {
	if err := checkChoice("returnValues", in.ReturnValues, "NONE", "ALL_OLD"); err != nil {
		return WriteOutput{}, err
	}
	return db.single("PutItem", in.ReturnConsumedCapacity, writeRequest{
		kind: writePut, table: in.TableName, item: in.Item, condition: in.ConditionExpression,
		names: in.ExpressionAttributeNames, values: in.ExpressionAttributeValues,
		returnOld: in.ReturnValuesOnConditionCheckFailure, returnWhat: in.ReturnValues,
	})
}

// UpdateItem changes one item; errors as PutItem.
func (db *DB) UpdateItem(in UpdateItemInput) (WriteOutput, error) {
	if err := checkChoice("returnValues", in.ReturnValues, "NONE", "ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"); err != nil {
		return WriteOutput{}, err
	}
	return db.single("UpdateItem", in.ReturnConsumedCapacity, writeRequest{
		kind: writeUpdate, table: in.TableName, key: in.Key, condition: in.ConditionExpression, update: in.UpdateExpression,
		names: in.ExpressionAttributeNames, values: in.ExpressionAttributeValues,
		returnOld: in.ReturnValuesOnConditionCheckFailure, returnWhat: in.ReturnValues,
	})
}

// DeleteItem removes one item; errors as PutItem.
func (db *DB) DeleteItem(in DeleteItemInput) (WriteOutput, error) {
	if err := checkChoice("returnValues", in.ReturnValues, "NONE", "ALL_OLD"); err != nil {
		return WriteOutput{}, err
	}
	return db.single("DeleteItem", in.ReturnConsumedCapacity, writeRequest{
		kind: writeDelete, table: in.TableName, key: in.Key, condition: in.ConditionExpression,
		names: in.ExpressionAttributeNames, values: in.ExpressionAttributeValues,
		returnOld: in.ReturnValuesOnConditionCheckFailure, returnWhat: in.ReturnValues,
	})
}

func (db *DB) single(op, consumed string, request writeRequest) (WriteOutput, error) {
	return call(db, op, request.table, 0, func(fault.Verdict) (WriteOutput, error) {
		w, err := db.writeOne(request)
		if err != nil {
			return WriteOutput{}, err
		}
		return WriteOutput{w.returned(), capacity(consumed, request.table, 1)}, nil
	})
}
