package where

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Row returns the value of a memory's column: a string, float64 or time.Time, depending on the column's type, or nil
// for NULL.
type Row func(column string) any

// truth is a value of SQL's three-valued logic. The order makes AND the minimum and OR the maximum.
type truth int

const (
	no truth = iota
	unknown
	yes
)

// truthOf returns the truth value of b.
func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}

// node is a node of the syntax tree.
type node interface {
	eval(Row) truth
	write(*strings.Builder)
	columns(yield func(string))
}

// Match reports whether the expression is true for a memory. Unknown counts as not true, as in SQL's WHERE.
func (e *Expr) Match(r Row) bool { return e.root.eval(r) == yes }

// Equal returns the expression that is true where a column of text has that value and, unless it is nil, e is true.
func Equal(column, value string, e *Expr) *Expr {
	equal := comparison{column, "=", value}
	if e == nil {
		return &Expr{equal}
	}
	return &Expr{logic{"AND", []node{equal, e.root}}}
}

// String returns the expression in canonical form: a LanceDB predicate that parses to the same expression.
func (e *Expr) String() string {
	var b strings.Builder
	e.root.write(&b)
	return b.String()
}

// Columns returns the names of the columns that the expression uses, sorted and without duplicates; LIKE is among them
// if it is used.
func (e *Expr) Columns() []string {
	var list []string
	e.root.columns(func(c string) { list = append(list, c) })
	slices.Sort(list)
	return slices.Compact(list)
}

// logic is two or more operands joined with AND or OR.
type logic struct {
	operator string
	operands []node
}

// eval is SQL's three-valued logic: AND is the least of the operands, OR the greatest, in the order false, unknown,
// true.
func (l logic) eval(r Row) truth {
	result := l.operands[0].eval(r)
	for _, n := range l.operands[1:] {
		if l.operator == "AND" {
			result = min(result, n.eval(r))
		} else {
			result = max(result, n.eval(r))
		}
	}
	return result
}

func (l logic) write(b *strings.Builder) {
	b.WriteByte('(')
	for i, n := range l.operands {
		if i > 0 {
			b.WriteString(" " + l.operator + " ")
		}
		n.write(b)
	}
	b.WriteByte(')')
}

func (l logic) columns(yield func(string)) {
	for _, n := range l.operands {
		n.columns(yield)
	}
}

// negation is NOT.
type negation struct{ node }

func (n negation) eval(r Row) truth { return yes - n.node.eval(r) }

func (n negation) write(b *strings.Builder) {
	b.WriteString("(NOT ")
	n.node.write(b)
	b.WriteByte(')')
}

// comparison compares a column with a literal.
type comparison struct {
	column, operator string
	value            any
}

// eval compares the column with the value; a comparison with null is unknown.
func (c comparison) eval(r Row) truth {
	field := r(c.column)
	if field == nil {
		return unknown
	}
	order := compare(field, c.value)
	switch c.operator {
	case "=":
		return truthOf(order == 0)
	case "!=":
		return truthOf(order != 0)
	case "<":
		return truthOf(order < 0)
	case "<=":
		return truthOf(order <= 0)
	case ">":
		return truthOf(order > 0)
	default:
		return truthOf(order >= 0)
	}
}

// compare orders two values of the same column. Times compare by the millisecond, the precision they are stored in.
func compare(a, b any) int {
	switch a := a.(type) {
	case string:
		return cmp.Compare(a, b.(string))
	case float64:
		return cmp.Compare(a, b.(float64))
	default:
		return a.(time.Time).Truncate(time.Millisecond).Compare(b.(time.Time))
	}
}

func (c comparison) write(b *strings.Builder) {
	b.WriteString(c.column + " " + c.operator + " ")
	writeValue(b, c.value)
}

func (c comparison) columns(yield func(string)) { yield(c.column) }

// writeValue writes a literal.
//
// SECURITY: in DataFusion's dialect the quote is the only special character in a string.
func writeValue(b *strings.Builder, value any) {
	switch v := value.(type) {
	case string:
		b.WriteString("'" + strings.ReplaceAll(v, "'", "''") + "'")
	case float64:
		b.WriteString(strconv.FormatFloat(v, 'f', -1, 64))
	case time.Time:
		b.WriteString("timestamp '" + v.Format("2006-01-02 15:04:05.000") + "'")
	}
}

// membership is column IN (values).
type membership struct {
	column string
	values []any
}

// eval is unknown for null, as in SQL.
func (m membership) eval(r Row) truth {
	field := r(m.column)
	if field == nil {
		return unknown
	}
	return truthOf(slices.ContainsFunc(m.values, func(v any) bool { return compare(field, v) == 0 }))
}

func (m membership) write(b *strings.Builder) {
	b.WriteString(m.column + " IN (")
	for i, v := range m.values {
		if i > 0 {
			b.WriteString(", ")
		}
		writeValue(b, v)
	}
	b.WriteByte(')')
}

func (m membership) columns(yield func(string)) { yield(m.column) }

// like is column LIKE pattern.
type like struct {
	column, pattern string
	matches         *regexp.Regexp
}

// newLike compiles a pattern of SQL's LIKE: % is any text, _ any character, and a backslash makes them ordinary.
func newLike(column, pattern string) like {
	var b strings.Builder
	escaped := false
	for _, r := range pattern {
		switch {
		case !escaped && r == '\\':
			escaped = true
			continue
		case !escaped && r == '%':
			b.WriteString(".*")
		case !escaped && r == '_':
			b.WriteByte('.')
		default:
			if escaped && r != '%' && r != '_' && r != '\\' {
				b.WriteString(`\\`) // it escapes nothing
			}
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
		escaped = false
	}
	if escaped {
		b.WriteString(`\\`)
	}
	// Every piece is valid, and RE2 takes linear time.
	return like{column, pattern, regexp.MustCompile("(?s)^" + b.String() + "$")}
}

// eval is unknown for null, as in SQL.
func (l like) eval(r Row) truth {
	field, ok := r(l.column).(string)
	if !ok {
		return unknown
	}
	return truthOf(l.matches.MatchString(field))
}

func (l like) write(b *strings.Builder) {
	b.WriteString(l.column + " LIKE ")
	writeValue(b, l.pattern)
}

func (l like) columns(yield func(string)) {
	yield(l.column)
	yield(likeColumn)
}

// likeColumn is in the columns of an expression with LIKE, whose escapes LanceDB may read differently.
const likeColumn = "LIKE"

// null is column IS NULL, or column IS NOT NULL if negated.
type null struct {
	column  string
	negated bool
}

func (n null) eval(r Row) truth { return truthOf((r(n.column) == nil) != n.negated) }

func (n null) write(b *strings.Builder) {
	b.WriteString(n.column + " IS ")
	if n.negated {
		b.WriteString("NOT ")
	}
	b.WriteString("NULL")
}

func (n null) columns(yield func(string)) { yield(n.column) }
