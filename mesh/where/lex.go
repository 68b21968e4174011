package where

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Error reports where and why a filter is not valid.
type Error struct {
	Position int // in characters, from 1
	Reason   string
}

func (e *Error) Error() string { return fmt.Sprintf("at character %d: %s", e.Position, e.Reason) }

// kind is the kind of a token.
type kind int

const (
	end kind = iota // of the filter
	word
	text   // a quoted string; the token's value is unquoted
	number // a decimal number
	symbol // an operator, a parenthesis or a comma
)

// token is a word, value or symbol of a filter, with its place for errors.
type token struct {
	kind  kind
	value string
	at    int // byte offset
}

// String describes the token for errors.
func (t token) String() string {
	switch t.kind {
	case end:
		return "the end of the filter"
	case text:
		return "a string"
	default:
		return fmt.Sprintf("%q", t.value)
	}
}

// is reports whether t is the keyword, in upper or lower case.
func (t token) is(keyword string) bool { return t.kind == word && strings.EqualFold(t.value, keyword) }

func (t token) isSymbol(s string) bool { return t.kind == symbol && t.value == s }

// lexer splits a filter into tokens.
type lexer struct {
	source string
	at     int // byte offset of the next token, or of white space before it
}

// fail returns an Error for a byte offset.
func (l *lexer) fail(at int, format string, args ...any) error {
	return &Error{utf8.RuneCountInString(l.source[:at]) + 1, fmt.Sprintf(format, args...)}
}

// next returns the next token, of kind end after the last. The error names the place.
func (l *lexer) next() (token, error) {
	for l.at < len(l.source) && strings.IndexByte(" \t\r\n", l.source[l.at]) >= 0 {
		l.at++
	}
	start := l.at
	if start == len(l.source) {
		return token{end, "", start}, nil
	}
	switch c := l.source[start]; {
	case isLetter(c):
		for l.at < len(l.source) && (isLetter(l.source[l.at]) || isDigit(l.source[l.at])) {
			l.at++
		}
		return token{word, l.source[start:l.at], start}, nil
	case c == '\'':
		return l.quoted()
	case isDigit(c), c == '-' && start+1 < len(l.source) && isDigit(l.source[start+1]):
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
	return token{}, l.fail(start, "unexpected character %q", r)
}

// quoted reads a string in single quotes. Two quotes in it mean one.
func (l *lexer) quoted() (token, error) {
	start := l.at
	var value strings.Builder
	for rest := l.source[start+1:]; ; {
		before, after, found := strings.Cut(rest, "'")
		value.WriteString(before)
		if !found {
			return token{}, l.fail(start, "the string has no closing quote")
		}
		if !strings.HasPrefix(after, "'") {
			l.at = len(l.source) - len(after)
			return token{text, value.String(), start}, nil
		}
		value.WriteByte('\'')
		rest = after[1:]
	}
}

// number reads digits with an optional sign and fraction, at most maxNumber characters. Exponents are not supported.
func (l *lexer) number() (token, error) {
	start := l.at
	if l.source[l.at] == '-' {
		l.at++
	}
	for point := false; l.at < len(l.source); l.at++ {
		c := l.source[l.at]
		if c == '.' && !point {
			point = true
		} else if !isDigit(c) {
			break
		}
	}
	adjoined := l.at < len(l.source) && (isLetter(l.source[l.at]) || l.source[l.at] == '.')
	if adjoined || l.source[l.at-1] == '.' || l.at-start > maxNumber {
		return token{}, l.fail(start, notANumber)
	}
	return token{number, l.source[start:l.at], start}, nil
}

func isLetter(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
