// Package where parses and evaluates the filter expressions of RFC-0011 §9 (--filter): a subset of SQL over the
// promoted columns of memory_entries.
//
//	filter    = and { OR and }
//	and       = not { AND not }
//	not       = NOT not | "(" filter ")" | predicate
//	predicate = column ( "=" | "!=" | "<>" | "<" | "<=" | ">" | ">=" ) value
//	          | column [ NOT ] IN "(" value { "," value } ")"
//	          | column [ NOT ] BETWEEN value AND value
//	          | column [ NOT ] LIKE 'pattern'
//	          | column IS [ NOT ] NULL
//	value     = 'text' | number | [ TIMESTAMP ] 'time'
//
// A quote in a text is written twice. In a pattern % is any text, _ any character, and a backslash before either means
// the character itself. A value must have its column's type. As in SQL, a comparison with NULL is
// neither true nor false.
//
// Written by hand: a grammar for participle v2.1.4 was tried. It would replace the lexer and half of the parser, some
// 250 lines, by 30 and a conversion; the columns, types, times and limits stay. Its errors name grammar rules instead
// of what a person can write ("expected \"IN\" \"(\" Val"), and it does not limit the depth: 4,000 parentheses take
// 277 ms.
//
// Invariant: the predicate for LanceDB is written from the parsed expression, never copied from the caller's text.
package where

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	maxLength = 4096 // of a filter, in bytes
	maxDepth  = 50   // of nested parentheses and NOTs
	maxValues = 1000 // of one IN
	maxNumber = 30   // of a number, in characters
)

const notANumber = "use a decimal number such as 0.5"

// columnType is the type of the values that a column is compared with.
type columnType int

const (
	textColumn columnType = iota
	numberColumn
	timeColumn
)

var columns = map[string]columnType{
	"id": textColumn, "session_id": textColumn, "agent_id": textColumn, "memory_type": textColumn,
	"lesson_pattern_id": textColumn, "source_skill_id": textColumn,
	"importance_score": numberColumn, "access_count": numberColumn,
	"created_at": timeColumn, "updated_at": timeColumn, "last_accessed": timeColumn,
}

// columnNames lists the columns for error messages, the most used first.
const columnNames = "id, session_id, agent_id, memory_type, importance_score, created_at, updated_at, access_count, " +
	"last_accessed, lesson_pattern_id, source_skill_id"

// Expr is a parsed filter. It is immutable and safe for concurrent use.
type Expr struct{ root node }

// Parse parses a filter of at most 4,096 bytes. The error is an *Error.
func Parse(source string) (*Expr, error) {
	p := &parser{lexer: lexer{source: source}}
	switch {
	case len(source) > maxLength:
		return nil, &Error{1, fmt.Sprintf("the filter has %d bytes; the maximum is %d", len(source), maxLength)}
	case !utf8.ValidString(source):
		return nil, &Error{1, "the filter is not valid UTF-8"}
	case strings.ContainsRune(source, 0):
		return nil, p.fail(strings.IndexByte(source, 0), "NUL is not allowed")
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	root, err := p.or()
	if err != nil {
		return nil, err
	}
	if p.token.kind != end {
		return nil, p.expected("AND, OR or the end of the filter")
	}
	return &Expr{root}, nil
}

// parser is a recursive-descent parser with one method per rule of the grammar.
type parser struct {
	lexer
	token token // the current one
	depth int
}

// advance reads the next token.
func (p *parser) advance() (err error) {
	p.token, err = p.next()
	return err
}

func (p *parser) expected(what string) error {
	return p.fail(p.token.at, "expected %s, found %s", what, p.token)
}

func (p *parser) or() (node, error)  { return p.chain("OR", p.and) }
func (p *parser) and() (node, error) { return p.chain("AND", p.not) }

// chain parses operands separated by the keyword.
func (p *parser) chain(keyword string, operand func() (node, error)) (node, error) {
	first, err := operand()
	if err != nil || !p.token.is(keyword) {
		return first, err
	}
	operands := []node{first}
	for p.token.is(keyword) {
		if err := p.advance(); err != nil {
			return nil, err
		}
		n, err := operand()
		if err != nil {
			return nil, err
		}
		operands = append(operands, n)
	}
	return logic{keyword, operands}, nil
}

// not parses the operand of AND and OR: a negation, a filter in parentheses, or a condition. The depth bounds
// recursion.
func (p *parser) not() (node, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.fail(p.token.at, "nested too deeply; the maximum is %d levels", maxDepth)
	}
	defer func() { p.depth-- }()
	switch {
	case p.token.is("NOT"):
		if err := p.advance(); err != nil {
			return nil, err
		}
		n, err := p.not()
		return negation{n}, err
	case p.token.isSymbol("("):
		if err := p.advance(); err != nil {
			return nil, err
		}
		n, err := p.or()
		if err != nil {
			return nil, err
		}
		return n, p.symbol(")")
	}
	return p.predicate()
}

// symbol consumes a symbol.
func (p *parser) symbol(s string) error {
	if !p.token.isSymbol(s) {
		return p.expected(strconv.Quote(s))
	}
	return p.advance()
}

// predicate parses one condition: a column, an operator and what it is compared with.
func (p *parser) predicate() (node, error) {
	keywords := []string{"AND", "OR", "IN", "IS", "NULL", "BETWEEN", "LIKE"}
	if p.token.kind != word || slices.ContainsFunc(keywords, p.token.is) {
		return nil, p.expected("a column")
	}
	column := strings.ToLower(p.token.value)
	if _, ok := columns[column]; !ok {
		return nil, p.fail(p.token.at, "unknown column %q; use one of %s", p.token.value, columnNames)
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	switch {
	case p.token.is("IS"):
		return p.isNull(column)
	case p.token.is("NOT"):
		if err := p.advance(); err != nil {
			return nil, err
		}
		n, err := p.set(column)
		if n == nil && err == nil {
			return nil, p.expected("IN, BETWEEN or LIKE")
		}
		return negation{n}, err
	}
	n, err := p.set(column)
	switch {
	case n != nil || err != nil:
		return n, err
	case p.token.kind != symbol || !slices.Contains([]string{"=", "!=", "<>", "<", "<=", ">", ">="}, p.token.value):
		return nil, p.expected("=, !=, <, <=, >, >=, IN, BETWEEN, LIKE or IS")
	}
	operator := strings.ReplaceAll(p.token.value, "<>", "!=")
	if err := p.advance(); err != nil {
		return nil, err
	}
	v, err := p.value(column)
	return comparison{column, operator, v}, err
}

// set parses the conditions that may have a NOT before them: IN, BETWEEN and LIKE. It returns nil before anything else.
func (p *parser) set(column string) (node, error) {
	switch {
	case p.token.is("IN"):
		return p.in(column)
	case p.token.is("BETWEEN"):
		return p.between(column)
	case p.token.is("LIKE"):
		return p.like(column)
	}
	return nil, nil
}

// between parses the rest of BETWEEN value AND value, which includes both.
func (p *parser) between(column string) (node, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	from, err := p.value(column)
	if err != nil {
		return nil, err
	}
	if !p.token.is("AND") {
		return nil, p.expected("AND")
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	to, err := p.value(column)
	return logic{"AND", []node{comparison{column, ">=", from}, comparison{column, "<=", to}}}, err
}

// like parses the rest of LIKE 'pattern'.
func (p *parser) like(column string) (node, error) {
	if columns[column] != textColumn {
		return nil, p.fail(p.token.at, "LIKE is for text, and %s has none; use BETWEEN or a comparison", column)
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	pattern, err := p.value(column)
	if err != nil {
		return nil, err
	}
	return newLike(column, pattern.(string)), nil
}

// isNull parses the rest of IS NULL and IS NOT NULL.
func (p *parser) isNull(column string) (node, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	negated := p.token.is("NOT")
	if negated {
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	if !p.token.is("NULL") {
		return nil, p.expected("NULL")
	}
	return null{column, negated}, p.advance()
}

// in parses the rest of IN (value, …), with up to maxValues values.
func (p *parser) in(column string) (node, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if err := p.symbol("("); err != nil {
		return nil, err
	}
	n := membership{column: column}
	for {
		v, err := p.value(column)
		if err != nil {
			return nil, err
		}
		if n.values = append(n.values, v); len(n.values) > maxValues {
			return nil, p.fail(p.token.at, "too many values; the maximum is %d", maxValues)
		}
		if p.token.isSymbol(")") {
			return n, p.advance()
		}
		if !p.token.isSymbol(",") {
			return nil, p.expected(`"," or ")"`)
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
}

// value parses a value of the column's type: a string, a float64, or a time.Time in UTC, truncated to milliseconds.
func (p *parser) value(column string) (any, error) {
	t := p.token
	switch columns[column] {
	case textColumn:
		if t.kind != text {
			return nil, p.expected("a string in single quotes")
		}
		return t.value, p.advance()
	case numberColumn:
		if t.kind != number {
			return nil, p.expected("a number")
		}
		x, err := strconv.ParseFloat(t.value, 64)
		if err != nil {
			return nil, p.fail(t.at, notANumber)
		}
		return x, p.advance()
	}
	if t.is("TIMESTAMP") {
		if err := p.advance(); err != nil {
			return nil, err
		}
		t = p.token
	}
	if t.kind != text {
		return nil, p.expected("a time in single quotes")
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999", time.DateOnly} {
		at, err := time.Parse(layout, t.value)
		// LanceDB keeps nanoseconds in 64 bits, which hold the years 1678 to 2262 only.
		if year := at.UTC().Year(); err == nil && year >= 1700 && year <= 2200 {
			return at.UTC().Truncate(time.Millisecond), p.advance()
		}
	}
	return nil, p.fail(t.at, "use a time such as '2026-01-31T15:04:05Z' or '2026-01-31'")
}
