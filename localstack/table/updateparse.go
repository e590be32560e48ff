package table

import "strings"

// parseUpdate reads an update expression.
func parseUpdate(source string, b *bindings) ([]action, error) {
	p := newParser("UpdateExpression", source, b)
	var actions []action
	seen := map[actionKind]bool{}
	for p.err == nil && p.peek().kind != tokenEnd {
		kind, ok := p.section()
		if ok && seen[kind] {
			p.fail("The %q section can only be used once in an update expression;", sectionNames[kind])
		}
		seen[kind] = true
		for p.err == nil {
			actions = append(actions, p.action(kind))
			if !p.accept(",") {
				break
			}
		}
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	paths := make([]path, len(actions))
	for i, a := range actions {
		paths[i] = a.path
	}
	return actions, checkOverlap("UpdateExpression", paths)
}

var sectionNames = [...]string{actionSet: "SET", actionRemove: "REMOVE", actionAdd: "ADD", actionDelete: "DELETE"}

func (p *parser) section() (actionKind, bool) {
	for kind, name := range sectionNames {
		if p.acceptKeyword(name) {
			return actionKind(kind), true
		}
	}
	p.failSyntax()
	return 0, false
}

func (p *parser) action(kind actionKind) action {
	a := action{kind: kind, path: p.path()}
	switch kind {
	case actionSet:
		p.expect("=")
		a.value = p.setValue()
	case actionAdd, actionDelete:
		v := p.value()
		if p.err == nil && !v.isSet() && (kind == actionDelete || v.kind != KindN) {
			p.fail("Incorrect operand type for operator or function; operator: %s, operand type: %s", sectionNames[kind], longNames[v.kind])
		}
		a.value = literalValue(v)
	}
	return a
}

// longNames are the names that errors about ADD and DELETE use.
var longNames = map[Kind]string{
	KindS: "STRING", KindN: "NUMBER", KindB: "BINARY", KindBool: "BOOLEAN", KindNull: "NULL", KindL: "LIST", KindM: "MAP",
}

// setValue reads operand, operand + operand or operand - operand.
func (p *parser) setValue() updateValue {
	left := p.setOperand()
	operator := p.peek()
	if !operator.is("+") && !operator.is("-") {
		return left
	}
	p.take()
	right := p.setOperand()
	for _, v := range []updateValue{left, right} {
		if literal, ok := v.(literalValue); ok && p.err == nil && literal.kind != KindN {
			p.failType("operator or function", operator.text, Value(literal))
		}
	}
	return sum{left, right, operator.text == "-"}
}

func (p *parser) setOperand() updateValue {
	if p.peek().kind == tokenWord && p.peekSecond().is("(") {
		return p.setFunction()
	}
	if p.peek().kind == tokenValue {
		return literalValue(p.value())
	}
	return pathValue(p.path())
}

func (p *parser) setFunction() updateValue {
	name := p.take().text
	p.expect("(")
	var v updateValue
	switch name {
	case "if_not_exists":
		target := p.path()
		p.expect(",")
		v = ifNotExists{target, p.setOperand()}
	case "list_append":
		left := p.setOperand()
		p.expect(",")
		v = listAppend{left, p.setOperand()}
	default:
		if strings.HasPrefix(name, "attribute_") || name == "begins_with" || name == "contains" || name == "size" {
			p.fail("The function is not allowed in an update expression; function: %s", name)
		} else {
			p.fail("Invalid function name; function: %s", name)
		}
	}
	p.expect(")")
	return v
}
