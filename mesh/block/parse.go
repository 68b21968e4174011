package block

import (
	"fmt"
	"strings"
)

// SyntaxError reports the line at which a text stops being a YAMO block.
type SyntaxError struct {
	Line   int // from 1
	Reason string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("yamo block: line %d: %s", e.Line, e.Reason) }

// Parse reads one block. Sections must be in the grammar's order (RFC-0011 §3.1), each at most once. Both
// forms of meta and of constraints are accepted (see the package comment), but a block must not mix the
// two forms of meta. The last newline is optional. For every text that Parse accepts, String returns the
// same bytes (with the last newline). The error is a *SyntaxError.
func Parse(text string) (Block, error) {
	p := parser{lines: strings.Split(strings.TrimSuffix(text, "\n"), "\n")}
	var b Block
	p.parse(&b)
	if p.err != nil {
		return Block{}, p.err
	}
	return b, nil
}

// parser reads a block line by line. It keeps the first error; after that every method is a no-op, so
// that parse need not check each step.
type parser struct {
	lines []string
	at    int // index of the next line
	err   *SyntaxError
}

// parse reads the sections in the fixed order of RFC-0011 §3.1. It reads on after an error, which p keeps, so that each
// section needs no check of its own.
func (p *parser) parse(b *Block) {
	b.Agent = p.named("agent")
	b.Intent = p.named("intent")
	b.Context = p.section("context")
	b.Constraints = p.section("constraints")
	if strings.HasPrefix(p.peek(), "priority:") {
		b.Priority = Level(p.named("priority"))
		if p.err == nil && !b.Priority.Valid() {
			p.failBefore("priority must be critical, high, medium or low")
		}
	}
	b.Output = p.section("output")
	b.Meta, b.MetaLines = p.meta()
	b.Log = p.fields("log")
	if handoff := p.fields("handoff"); len(handoff) == 1 {
		b.Handoff = handoff[0]
	} else if p.err == nil {
		p.failBefore("handoff must have exactly one value")
	}
	if p.err == nil && p.at < len(p.lines) {
		p.fail("unexpected text after the handoff line")
	}
}

// peek returns the next line, or "" at the end or after an error.
func (p *parser) peek() string {
	if p.err != nil || p.at >= len(p.lines) {
		return ""
	}
	return p.lines[p.at]
}

// fail reports an error in the next line.
func (p *parser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = &SyntaxError{Line: p.at + 1, Reason: fmt.Sprintf(format, args...)}
	}
}

// failBefore reports an error in the line that was consumed last.
func (p *parser) failBefore(format string, args ...any) {
	p.at--
	p.fail(format, args...)
}

// body consumes a line `header: body;` and returns the body.
func (p *parser) body(header string) string {
	rest, ok := strings.CutPrefix(p.peek(), header+": ")
	if !ok {
		p.fail("expected %q", header+": …;")
		return ""
	}
	body, ok := strings.CutSuffix(rest, ";")
	if !ok {
		p.fail("the line must end in a semicolon")
		return ""
	}
	p.at++
	return body
}

// named consumes a line whose body is a name: ASCII letters, digits and underscores.
func (p *parser) named(header string) string {
	body := p.body(header)
	if p.err == nil && !isName(body) {
		p.failBefore("%s must be letters, digits and underscores", header)
	}
	return body
}

// fields consumes a line whose body is values separated by semicolons.
func (p *parser) fields(header string) []string {
	fields := strings.Split(p.body(header), ";")
	for _, field := range fields {
		if p.err == nil && !isValue(field) {
			p.failBefore("a value contains a control character or is not UTF-8")
		}
	}
	return fields
}

// section consumes an optional section of indented pairs.
func (p *parser) section(header string) []Pair {
	if p.peek() != header+":" {
		return nil
	}
	p.at++
	var pairs []Pair
	for {
		line, ok := strings.CutPrefix(p.peek(), "  ")
		if !ok {
			break
		}
		if body, ok := strings.CutPrefix(line, "- "); ok && header == "constraints" {
			value, ok := strings.CutSuffix(body, ";")
			if !ok || !isValue(value) {
				p.fail("expected %q", "  - constraint;")
			}
			pairs = append(pairs, Pair{Value: value})
		} else {
			pairs = append(pairs, p.pair(line))
		}
		p.at++
	}
	if len(pairs) == 0 {
		p.fail("section %s is empty", header)
	}
	return pairs
}

// pair parses `key;value;`.
func (p *parser) pair(s string) Pair {
	k, rest, _ := strings.Cut(s, ";")
	value, ok := strings.CutSuffix(rest, ";")
	switch {
	case !ok || !isValue(value):
		p.fail("expected %q; the value must not contain semicolons or control characters", "key;value;")
	case !isKey(k):
		p.fail("%q is not a valid key", k)
	}
	return Pair{k, value}
}

// meta consumes the mandatory meta lines or section.
func (p *parser) meta() (pairs []Pair, lines bool) {
	if p.peek() == "meta:" {
		return p.section("meta"), false
	}
	for {
		rest, ok := strings.CutPrefix(p.peek(), "meta: ")
		if !ok {
			break
		}
		pairs = append(pairs, p.pair(rest))
		p.at++
	}
	if len(pairs) == 0 {
		p.fail("expected %q", "meta:")
	}
	return pairs, true
}
