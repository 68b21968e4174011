package where

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Error says where a filter cannot be understood, and why.
type Error struct {
	Position int // the character, counted from 1
	Reason   string
}

func (e *Error) Error() string { return fmt.Sprintf("at character %d: %s", e.Position, e.Reason) }

type kind int

const (
	end kind = iota
	word
	text   // a quoted string, its value without quotes
	number // a decimal number
	symbol // an operator, a parenthesis or a comma
)

type token struct {
	kind  kind
	value string
	at    int // byte offset
}

func (t token) String() string {
	switch t.kind {
	case end:
		return "the end"
	case text:
		return "a string"
	default:
		return fmt.Sprintf("%q", t.value)
	}
}

// is reports whether t is this keyword, in any case.
func (t token) is(keyword string) bool { return t.kind == word && strings.EqualFold(t.value, keyword) }

func (t token) isSymbol(s string) bool { return t.kind == symbol && t.value == s }

// lexer takes a filter apart.
type lexer struct {
	source string
	at     int
}

// fail is an error at a byte offset.
func (l *lexer) fail(at int, format string, args ...any) error {
	return &Error{utf8.RuneCountInString(l.source[:at]) + 1, fmt.Sprintf(format, args...)}
}

func (l *lexer) next() (token, error) {
	for l.at < len(l.source) && strings.IndexByte(" \t\r\n", l.source[l.at]) >= 0 {
		l.at++
	}
	start := l.at
	if start == len(l.source) {
		return token{end, "", start}, nil
	}
	switch c := l.source[start]; {
	case letter(c):
		for l.at < len(l.source) && (letter(l.source[l.at]) || digit(l.source[l.at])) {
			l.at++
		}
		return token{word, l.source[start:l.at], start}, nil
	case c == '\'':
		return l.quoted()
	case digit(c), c == '-' && start+1 < len(l.source) && digit(l.source[start+1]):
		return l.number()
	case strings.IndexByte("(),=", c) >= 0:
		l.at++
		return token{symbol, string(c), start}, nil
	}
	for _, op := range []string{"!=", "<>", "<=", ">=", "<", ">"} {
		if strings.HasPrefix(l.source[start:], op) {
			l.at += len(op)
			return token{symbol, op, start}, nil
		}
	}
	r, _ := utf8.DecodeRuneInString(l.source[start:])
	return token{}, l.fail(start, "%q has no meaning here", r)
}

// quoted reads a string in single quotes; a quote in it is written twice.
func (l *lexer) quoted() (token, error) {
	start := l.at
	var value strings.Builder
	for rest := l.source[start+1:]; ; {
		before, after, found := strings.Cut(rest, "'")
		value.WriteString(before)
		if !found {
			return token{}, l.fail(start, "the string does not end")
		}
		if !strings.HasPrefix(after, "'") {
			l.at = len(l.source) - len(after)
			return token{text, value.String(), start}, nil
		}
		value.WriteByte('\'')
		rest = after[1:]
	}
}

func (l *lexer) number() (token, error) {
	start := l.at
	if l.source[l.at] == '-' {
		l.at++
	}
	for point := false; l.at < len(l.source); l.at++ {
		c := l.source[l.at]
		if c == '.' && !point {
			point = true
		} else if !digit(c) {
			break
		}
	}
	if l.at < len(l.source) && (letter(l.source[l.at]) || l.source[l.at] == '.') || l.source[l.at-1] == '.' || l.at-start > 30 {
		return token{}, l.fail(start, "give a decimal number like 0.5")
	}
	return token{number, l.source[start:l.at], start}, nil
}

func letter(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func digit(c byte) bool { return c >= '0' && c <= '9' }
