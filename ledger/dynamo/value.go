package dynamo

import (
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func str(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func num[N int | int64](n N) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(int64(n), 10)}
}

func millis(t time.Time) types.AttributeValue { return num(t.UnixMilli()) }

func boolean(b bool) types.AttributeValue { return &types.AttributeValueMemberBOOL{Value: b} }

func binary(b []byte) types.AttributeValue { return &types.AttributeValueMemberB{Value: b} }

func list[T any](all []T, value func(T) types.AttributeValue) types.AttributeValue {
	values := make([]types.AttributeValue, len(all))
	for i, v := range all {
		values[i] = value(v)
	}
	return &types.AttributeValueMemberL{Value: values}
}

// row is an item being written.
type row item

// setStr and setTime leave out what is empty, so an item holds only what is
// known of it.
func (r row) setStr(name, s string) {
	if s != "" {
		r[name] = str(s)
	}
}

func (r row) setTime(name string, t time.Time) {
	if !t.IsZero() {
		r[name] = millis(t)
	}
}

// reader takes an item apart. A missing attribute is a zero value, one of
// another type an error; the first error stays.
type reader struct {
	item item
	err  error
}

func (r *reader) fail(name, want string) {
	if r.err == nil {
		r.err = fmt.Errorf("attribute %s of item %s is no %s: the table was written by something else", name, keyOf(r.item), want)
	}
}

func (r *reader) str(name string) string {
	switch v := r.item[name].(type) {
	case nil:
	case *types.AttributeValueMemberS:
		return v.Value
	default:
		r.fail(name, "string")
	}
	return ""
}

func (r *reader) num(name string) int64 {
	switch v := r.item[name].(type) {
	case nil:
	case *types.AttributeValueMemberN:
		n, err := strconv.ParseInt(v.Value, 10, 64)
		if err != nil {
			r.fail(name, "integer")
		}
		return n
	default:
		r.fail(name, "number")
	}
	return 0
}

func (r *reader) time(name string) time.Time {
	if r.item[name] == nil {
		return time.Time{}
	}
	return time.UnixMilli(r.num(name)).UTC()
}

func (r *reader) boolean(name string) bool {
	switch v := r.item[name].(type) {
	case nil:
	case *types.AttributeValueMemberBOOL:
		return v.Value
	default:
		r.fail(name, "boolean")
	}
	return false
}

func (r *reader) binary(name string) []byte {
	switch v := r.item[name].(type) {
	case nil:
	case *types.AttributeValueMemberB:
		return v.Value
	default:
		r.fail(name, "binary")
	}
	return nil
}

// each reads a list of maps or of scalars; a scalar is read under the name "".
func (r *reader) each(name string, read func(*reader)) {
	switch v := r.item[name].(type) {
	case nil:
	case *types.AttributeValueMemberL:
		for _, e := range v.Value {
			part := reader{item: item{"": e}}
			if m, ok := e.(*types.AttributeValueMemberM); ok {
				part.item = m.Value
			}
			read(&part)
			if r.err == nil {
				r.err = part.err
			}
		}
	default:
		r.fail(name, "list")
	}
}

// fields reads a map, field by field.
func (r *reader) fields(name string, read func(field string, part *reader)) {
	switch v := r.item[name].(type) {
	case nil:
	case *types.AttributeValueMemberM:
		part := reader{item: v.Value}
		for field := range v.Value {
			read(field, &part)
		}
		if r.err == nil {
			r.err = part.err
		}
	default:
		r.fail(name, "map")
	}
}

func keyOf(it item) string {
	r := reader{item: item{"k": it[PartitionKey]}}
	if it[PartitionKey] == nil {
		return "(part of an item)"
	}
	return r.str("k")
}
