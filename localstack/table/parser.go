package table

import (
	"slices"
	"strconv"
	"strings"
)

// maxExpression is DynamoDB's limit for one expression, in bytes. It also
// bounds the depth of the recursive descent.
const maxExpression = 4096

// bindings are the names and values that the expressions of one request share,
// with a note of which were used: DynamoDB refuses the unused.
type bindings struct {
	names      map[string]string
	values     Item
	usedNames  map[string]bool
	usedValues map[string]bool
}

func bind(names map[string]string, values Item) *bindings {
	return &bindings{names, values, map[string]bool{}, map[string]bool{}}
}

// checkUsed refuses names and values that no expression used, and maps of none.
func (b *bindings) checkUsed() error {
	if b.names != nil && len(b.names) == 0 {
		return invalid("ExpressionAttributeNames must not be empty")
	}
	if b.values != nil && len(b.values) == 0 {
		return invalid("ExpressionAttributeValues must not be empty")
	}
	for _, name := range sortedKeys(b.names) {
		if !b.usedNames[name] {
			return invalid("Value provided in ExpressionAttributeNames unused in expressions: keys: {%s}", name)
		}
	}
	for _, value := range sortedKeys(b.values) {
		if !b.usedValues[value] {
			return invalid("Value provided in ExpressionAttributeValues unused in expressions: keys: {%s}", value)
		}
	}
	return nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// parser reads one expression. The first error sticks and moves the parser to
// the end, so that every loop stops; callers look at err once, when done.
type parser struct {
	what     string // "ConditionExpression", ... for errors
	source   string
	tokens   []token
	at       int
	bindings *bindings
	err      error
	// lastGroup are the tokens of the parenthesised group read last.
	lastGroup [2]int
}

func newParser(what, source string, b *bindings) *parser {
	p := &parser{what: what, source: source, bindings: b, lastGroup: [2]int{-1, -1}}
	if len(source) > maxExpression {
		p.tokens = lex("")
		p.fail("Expression size has exceeded the maximum allowed size; expression size: %d", len(source))
		return p
	}
	p.tokens = lex(source)
	if len(p.tokens) == 1 {
		p.fail("The expression can not be empty;")
	}
	return p
}

func (p *parser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = invalid("Invalid "+p.what+": "+format, args...)
	}
	p.at = len(p.tokens) - 1
}

// failSyntax blames the next token, with its neighbours as DynamoDB shows them.
func (p *parser) failSyntax() {
	from, to := max(p.at-1, 0), min(p.at+1, len(p.tokens)-1)
	near := p.source[p.tokens[from].start:p.tokens[to].end]
	p.fail("Syntax error; token: %q, near: %q", p.peek().text, near)
}

func (p *parser) peek() token { return p.tokens[p.at] }

func (p *parser) peekSecond() token { return p.tokens[min(p.at+1, len(p.tokens)-1)] }

// take returns the next token and moves on, staying at the end.
func (p *parser) take() token {
	t := p.tokens[p.at]
	p.at = min(p.at+1, len(p.tokens)-1)
	return t
}

func (t token) is(symbol string) bool { return t.kind == tokenSymbol && t.text == symbol }

// isKeyword tells AND, OR, SET, ... which are not case-sensitive.
func (t token) isKeyword(word string) bool {
	return t.kind == tokenWord && strings.EqualFold(t.text, word)
}

// accept takes the symbol if it is next.
func (p *parser) accept(symbol string) bool {
	if p.peek().is(symbol) {
		p.take()
		return true
	}
	return false
}

func (p *parser) acceptKeyword(word string) bool {
	if p.peek().isKeyword(word) {
		p.take()
		return true
	}
	return false
}

func (p *parser) expect(symbol string) {
	if !p.accept(symbol) {
		p.failSyntax()
	}
}

// end expects that nothing is left and returns the parser's error.
func (p *parser) end() error {
	if p.err == nil && p.peek().kind != tokenEnd {
		p.failSyntax()
	}
	return p.err
}

// name reads one attribute name, direct or as #alias.
func (p *parser) name() string {
	switch t := p.peek(); t.kind {
	case tokenName:
		name, ok := p.bindings.names[t.text]
		if !ok {
			p.fail("An expression attribute name used in the document path is not defined; attribute name: %s", t.text)
			return ""
		}
		p.bindings.usedNames[t.text] = true
		p.take()
		return name
	case tokenWord:
		if isReserved(t.text) {
			p.fail("Attribute name is a reserved keyword; reserved keyword: %s", t.text)
			return ""
		}
		p.take()
		return t.text
	}
	p.failSyntax()
	return ""
}

// path reads a document path: name, then .name or [index] any number of times.
func (p *parser) path() path {
	doc := path{{name: p.name()}}
	for p.err == nil {
		switch {
		case p.accept("."):
			doc = append(doc, step{name: p.name()})
		case p.accept("["):
			index, err := strconv.Atoi(p.peek().text)
			if p.peek().kind != tokenNumber || err != nil {
				p.failSyntax()
				return doc
			}
			p.take()
			p.expect("]")
			doc = append(doc, step{index: index, isIndex: true})
		default:
			return doc
		}
	}
	return doc
}

// value reads a :value.
func (p *parser) value() Value {
	t := p.peek()
	if t.kind != tokenValue {
		p.failSyntax()
		return Value{}
	}
	v, ok := p.bindings.values[t.text]
	if !ok {
		p.fail("An expression attribute value used in expression is not defined; attribute value: %s", t.text)
		return Value{}
	}
	p.bindings.usedValues[t.text] = true
	p.take()
	return v
}
