package table

// Put is the action of a transaction that writes a whole item.
type Put struct {
	TableName                           string
	Item                                Item
	ConditionExpression                 string
	ExpressionAttributeNames            map[string]string
	ExpressionAttributeValues           Item
	ReturnValuesOnConditionCheckFailure string // NONE (default), ALL_OLD
}

// Update is the action that changes attributes of an item.
type Update struct {
	TableName                           string
	Key                                 Item
	UpdateExpression                    string
	ConditionExpression                 string
	ExpressionAttributeNames            map[string]string
	ExpressionAttributeValues           Item
	ReturnValuesOnConditionCheckFailure string // NONE (default), ALL_OLD
}

// Delete is the action that removes an item.
type Delete struct {
	TableName                           string
	Key                                 Item
	ConditionExpression                 string
	ExpressionAttributeNames            map[string]string
	ExpressionAttributeValues           Item
	ReturnValuesOnConditionCheckFailure string // NONE (default), ALL_OLD
}

// ConditionCheck is the action that writes nothing, but must hold.
type ConditionCheck struct {
	TableName                           string
	Key                                 Item
	ConditionExpression                 string
	ExpressionAttributeNames            map[string]string
	ExpressionAttributeValues           Item
	ReturnValuesOnConditionCheckFailure string // NONE (default), ALL_OLD
}

// TransactWriteItem is one action; exactly one field is set.
type TransactWriteItem struct {
	Put            *Put
	Update         *Update
	Delete         *Delete
	ConditionCheck *ConditionCheck
}

// TransactWriteItemsInput is up to 100 actions on different items.
type TransactWriteItemsInput struct {
	TransactItems []TransactWriteItem
	// ClientRequestToken makes the same call succeed without effect for 10
	// minutes after it succeeded. Empty: no such protection.
	ClientRequestToken     string
	ReturnConsumedCapacity string
}

// TransactWriteItemsOutput answers a transaction that was applied.
type TransactWriteItemsOutput struct {
	ConsumedCapacity []Capacity `json:",omitempty"`
}

func (a TransactWriteItem) request() (writeRequest, error) {
	var all []writeRequest
	if p := a.Put; p != nil {
		all = append(all, writeRequest{kind: writePut, table: p.TableName, item: p.Item, condition: p.ConditionExpression,
			names: p.ExpressionAttributeNames, values: p.ExpressionAttributeValues, returnOld: p.ReturnValuesOnConditionCheckFailure})
	}
	if u := a.Update; u != nil {
		if u.UpdateExpression == "" {
			return writeRequest{}, invalid("1 validation error detected: Value null at 'updateExpression' failed to satisfy constraint: Member must not be null")
		}
		all = append(all, writeRequest{kind: writeUpdate, table: u.TableName, key: u.Key, update: u.UpdateExpression, condition: u.ConditionExpression,
			names: u.ExpressionAttributeNames, values: u.ExpressionAttributeValues, returnOld: u.ReturnValuesOnConditionCheckFailure})
	}
	if d := a.Delete; d != nil {
		all = append(all, writeRequest{kind: writeDelete, table: d.TableName, key: d.Key, condition: d.ConditionExpression,
			names: d.ExpressionAttributeNames, values: d.ExpressionAttributeValues, returnOld: d.ReturnValuesOnConditionCheckFailure})
	}
	if c := a.ConditionCheck; c != nil {
		all = append(all, writeRequest{kind: writeCheck, table: c.TableName, key: c.Key, condition: c.ConditionExpression,
			names: c.ExpressionAttributeNames, values: c.ExpressionAttributeValues, returnOld: c.ReturnValuesOnConditionCheckFailure})
	}
	if len(all) != 1 {
		return writeRequest{}, invalid("TransactItems can only contain one of Check, Put, Update or Delete")
	}
	return all[0], nil
}
