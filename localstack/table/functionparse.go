package table

import (
	"slices"
	"strings"
)

// arguments reads the operands of a function, which must be count.
func (p *parser) arguments(name string, count int) []operand {
	p.expect("(")
	var list []operand
	for p.err == nil {
		list = append(list, p.operand())
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	if p.err == nil && len(list) != count {
		p.fail("Incorrect number of operands for operator or function; operator or function: %s, number of operands: %d", name, len(list))
	}
	return append(list, make([]operand, 2)...) // callers may index after an error
}

func (p *parser) function() condition {
	switch name := p.take().text; name {
	case "attribute_exists", "attribute_not_exists":
		return existsCondition{p.pathOnly(name, p.arguments(name, 1)[0]), name == "attribute_exists"}
	case "attribute_type":
		list := p.arguments(name, 2)
		return typeCondition{p.pathOnly(name, list[0]), p.kindLiteral(list[1])}
	case "begins_with":
		list := p.arguments(name, 2)
		for _, o := range list[:2] {
			if o.path == nil && p.err == nil && o.literal.kind != KindS && o.literal.kind != KindB {
				p.failType("operator or function", name, o.literal)
			}
		}
		p.checkDistinct(name, list[0], list[1])
		return beginsCondition{list[0], list[1]}
	case "contains":
		list := p.arguments(name, 2)
		p.checkDistinct(name, list[0], list[1])
		return containsCondition{list[0], list[1]}
	default:
		if slices.Contains([]string{"if_not_exists", "list_append"}, name) {
			p.fail("The function is not allowed in a condition expression; function: %s", name)
		} else {
			p.fail("Invalid function name; function: %s", name)
		}
	}
	return nil
}

func (p *parser) pathOnly(name string, o operand) path {
	if p.err == nil && (o.path == nil || o.isSize) {
		p.fail("Operator or function requires a document path; operator or function: %s", name)
	}
	return o.path
}

func (p *parser) kindLiteral(o operand) Kind {
	if p.err != nil {
		return KindNone
	}
	kind := kindOf(o.literal.text)
	switch {
	case o.path != nil || o.literal.kind != KindS:
		p.failType("operator or function", "attribute_type", o.literal)
	case kind == KindNone:
		p.fail("Invalid attribute type name found; type: %s, valid types: {%s}", o.literal.text, strings.Join(kindNames[1:], ","))
	}
	return kind
}
