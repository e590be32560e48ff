package stack

import (
	"fmt"
	"strings"
)

// statement is one of a policy's.
type statement = map[string]any

// document is a policy document.
func document(s ...statement) map[string]any {
	list := make([]any, len(s))
	for i := range s {
		list[i] = s[i]
	}
	return map[string]any{"Version": "2012-10-17", "Statement": list}
}

func statements(grants []grant) []statement {
	var out []statement
	for _, g := range grants {
		resources := make([]any, len(g.resources))
		for i, r := range g.resources {
			resources[i] = *r
		}
		actions := []any{}
		for _, a := range strings.Fields(g.actions) {
			actions = append(actions, a)
		}
		out = append(out, statement{"Effect": "Allow", "Action": actions, "Resource": resources})
	}
	return out
}

// text is a scalar as CloudFormation's attribute lists want it.
func text(v any) *string {
	s := fmt.Sprint(v)
	return &s
}
