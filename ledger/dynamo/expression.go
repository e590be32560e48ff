package dynamo

import (
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// expression collects an update and its condition. Every name goes through a
// placeholder, so none can be a reserved word.
type expression struct {
	sets, removes, conditions []string
	names                     map[string]string
	values                    item
}

func newExpression() *expression {
	return &expression{names: map[string]string{}, values: item{}}
}

func (e *expression) name(n string) string {
	e.names["#"+n] = n
	return "#" + n
}

func (e *expression) value(v types.AttributeValue) string {
	placeholder := ":v" + strconv.Itoa(len(e.values))
	e.values[placeholder] = v
	return placeholder
}

func (e *expression) set(n string, v types.AttributeValue) {
	e.sets = append(e.sets, e.name(n)+" = "+e.value(v))
}

// setOnce keeps the value that the item has.
func (e *expression) setOnce(n string, v types.AttributeValue) {
	e.sets = append(e.sets, e.name(n)+" = if_not_exists("+e.name(n)+", "+e.value(v)+")")
}

// add raises a number that the item has.
func (e *expression) add(n string, by int) {
	e.sets = append(e.sets, e.name(n)+" = "+e.name(n)+" + "+e.value(num(by)))
}

// append puts one entry at the end of a list that the item has.
func (e *expression) append(n string, entry types.AttributeValue) {
	one := &types.AttributeValueMemberL{Value: []types.AttributeValue{entry}}
	e.sets = append(e.sets, e.name(n)+" = list_append("+e.name(n)+", "+e.value(one)+")")
}

func (e *expression) remove(names ...string) {
	for _, n := range names {
		e.removes = append(e.removes, e.name(n))
	}
}

// compare is a comparison for a condition.
func (e *expression) compare(n, operator string, v types.AttributeValue) string {
	return e.name(n) + " " + operator + " " + e.value(v)
}

func (e *expression) equal(n, s string) string { return e.compare(n, "=", str(s)) }

func (e *expression) absent(n string) string { return "attribute_not_exists(" + e.name(n) + ")" }

// require adds a condition; all of them have to hold.
func (e *expression) require(condition string) { e.conditions = append(e.conditions, condition) }

func (e *expression) condition() *string {
	if len(e.conditions) == 0 {
		return nil
	}
	return aws.String(strings.Join(e.conditions, " AND "))
}

func (e *expression) update() *string {
	var parts []string
	if len(e.sets) > 0 {
		parts = append(parts, "SET "+strings.Join(e.sets, ", "))
	}
	if len(e.removes) > 0 {
		parts = append(parts, "REMOVE "+strings.Join(e.removes, ", "))
	}
	return aws.String(strings.Join(parts, " "))
}

// placeholders are the names and values as the SDK wants them: nil, not empty.
func (e *expression) placeholders() (map[string]string, item) {
	if len(e.values) == 0 {
		return e.names, nil
	}
	return e.names, e.values
}

func either(a, b string) string { return "(" + a + " OR " + b + ")" }

func both(a, b string) string { return "(" + a + " AND " + b + ")" }
