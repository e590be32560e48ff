package table

import "slices"

// parseCondition reads a condition, filter or key condition.
func parseCondition(what, source string, b *bindings) (condition, error) {
	p := newParser(what, source, b)
	c := p.or()
	return c, p.end()
}

func (p *parser) or() condition {
	left := p.and()
	for p.acceptKeyword("OR") {
		left = orCondition{left, p.and()}
	}
	return left
}

func (p *parser) and() condition {
	left := p.not()
	for p.acceptKeyword("AND") {
		left = andCondition{left, p.not()}
	}
	return left
}

func (p *parser) not() condition {
	if p.acceptKeyword("NOT") {
		return notCondition{p.not()}
	}
	if p.peek().is("(") {
		return p.group()
	}
	if p.peek().kind == tokenWord && p.peekSecond().is("(") && p.peek().text != "size" {
		return p.function()
	}
	return p.comparison()
}

// group reads ( condition ). DynamoDB refuses a pair right inside another.
func (p *parser) group() condition {
	open := p.at
	p.expect("(")
	inner := p.or()
	closing := p.at
	p.expect(")")
	if p.err == nil && p.lastGroup == [2]int{open + 1, closing - 1} {
		p.fail("The expression has redundant parentheses;")
	}
	p.lastGroup = [2]int{open, closing}
	return inner
}

func (p *parser) comparison() condition {
	left := p.operand()
	t := p.peek()
	switch {
	case t.kind == tokenSymbol && slices.Contains([]string{"=", "<>", "<", "<=", ">", ">="}, t.text):
		p.take()
		right := p.operand()
		p.checkDistinct(t.text, left, right)
		if t.text != "=" && t.text != "<>" {
			p.checkOrdered(t.text, left, right)
		}
		return compareCondition{t.text, left, right}
	case p.acceptKeyword("BETWEEN"):
		return p.between(left)
	case p.acceptKeyword("IN"):
		return p.in(left)
	}
	p.failSyntax()
	return nil
}

func (p *parser) between(value operand) condition {
	low := p.operand()
	if !p.acceptKeyword("AND") {
		p.failSyntax()
	}
	high := p.operand()
	p.checkOrdered("BETWEEN", value, low, high)
	if low.path == nil && high.path == nil && !low.isSize && !high.isSize && p.err == nil {
		if order, ok := low.literal.compare(high.literal); !ok {
			p.fail("The BETWEEN operator requires same data type for lower and upper bounds; lower bound operand: AttributeValue: {%s:%s}, upper bound operand: AttributeValue: {%s:%s}",
				low.literal.kind, low.literal.text, high.literal.kind, high.literal.text)
		} else if order > 0 {
			p.fail("The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound operand: AttributeValue: {%s:%s}, upper bound operand: AttributeValue: {%s:%s}",
				low.literal.kind, low.literal.text, high.literal.kind, high.literal.text)
		}
	}
	return betweenCondition{value, low, high}
}

// maxInList is DynamoDB's limit on the operands of IN.
const maxInList = 100

func (p *parser) in(value operand) condition {
	p.expect("(")
	list := []operand{p.operand()}
	for p.accept(",") {
		list = append(list, p.operand())
	}
	p.expect(")")
	if len(list) > maxInList {
		p.fail("Invalid number of operands for operator or function; operator or function: IN, number of operands: %d", len(list))
	}
	return inCondition{value, list}
}

// operand reads a literal, a path or size(...).
func (p *parser) operand() operand {
	if p.peek().kind == tokenWord && p.peekSecond().is("(") {
		if t := p.take(); t.text != "size" {
			p.fail("The function is not allowed to be used this way in an expression; function: %s", t.text)
		}
		p.expect("(")
		inner := p.operand()
		p.expect(")")
		if inner.isSize {
			p.fail("The function is not allowed to be used this way in an expression; function: size")
		}
		if inner.path == nil && p.err == nil {
			if _, ok := inner.literal.length(); !ok {
				p.failType("operator or function", "size", inner.literal)
			}
		}
		inner.isSize = true
		return inner
	}
	if p.peek().kind == tokenValue {
		return operand{literal: p.value()}
	}
	return operand{path: p.path()}
}

func (p *parser) failType(label, operator string, v Value) {
	p.fail("Incorrect operand type for operator or function; %s: %s, operand type: %s", label, operator, v.kind)
}

// checkDistinct refuses "a = a", which DynamoDB takes for a mistake.
func (p *parser) checkDistinct(operator string, left, right operand) {
	if p.err == nil && left.path != nil && left.isSize == right.isSize && slices.Equal(left.path, right.path) {
		p.fail("The first operand must be distinct from the remaining operands for this operator or function; operator: %s, first operand: [%s]",
			operator, left.path.listed())
	}
}

// checkOrdered refuses literals that have no order.
func (p *parser) checkOrdered(operator string, operands ...operand) {
	for _, o := range operands {
		v := o.literal
		if o.path == nil && !o.isSize && p.err == nil && v.kind != KindS && v.kind != KindN && v.kind != KindB {
			p.failType("operator or function", operator, v)
		}
	}
}
