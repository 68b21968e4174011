// Package stated finds what a person stated in a conversation that a memory may keep: facts about themselves, decisions
// and corrections. It asks no language model: a few patterns decide, which would rather miss a statement than take a
// remark for one (docs/distilling.md has the measured precision).
//
// The invariant: only the person's own turns are read, a statement is a part of such a turn word for word, and nothing
// is remembered by itself. Offer makes proposals of edits, which a person accepts or rejects.
package stated

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
)

// Kind is the kind of a statement.
type Kind string

// The kinds of statements.
const (
	About      Kind = "about"      // a fact about the person: name, health, home, work, family, preference, habit
	Decision   Kind = "decision"   // what the person decided, alone or with others
	Correction Kind = "correction" // what the person corrected, or wants to be done from now on
)

// Statement is a part of what a person said.
type Statement struct {
	Kind Kind   `json:"kind"`
	Text string `json:"text"` // as it was said, on one line, without the full stop at its end
}

const (
	// MaxRead is how much of a turn is read, in characters. What is pasted below is rarely the person's own, and the
	// daily log has no more of a turn either.
	MaxRead = 400
	// maxInTurn is the maximum number of statements of a turn. More are a text, not remarks.
	maxInTurn = 3
	// Lengths of a statement: less says nothing by itself, more is not one statement.
	minWords, maxChars = 4, 240
)

// Find returns the statements in a person's turn, in their order. said is what they typed, without what the host added.
func Find(said string) (list []Statement) {
	said = text.Plain(said)
	if request := text.First(said, MaxRead); others.MatchString(request) {
		return nil // the words are meant for a text, or are somebody else's
	}
	if at := pasted.FindStringIndex(said); at != nil {
		said = said[:at[0]]
	}
	cut := utf8.RuneCountInString(said) > MaxRead
	said = text.First(said, MaxRead)
	lines := strings.Split(codeBlock.ReplaceAllString(said, "\n"), "\n")
	for i, line := range lines {
		line = strings.TrimSpace(line)
		if quoted.MatchString(line) || label.MatchString(line) {
			continue
		}
		sentences := split(line)
		for j, sentence := range sentences {
			if cut && i == len(lines)-1 && j == len(sentences)-1 {
				break // not whole
			}
			if j > 0 && denial.MatchString(sentences[j-1]) {
				sentence = "No, " + sentence
			}
			if s, ok := statement(sentence); ok && len(list) < maxInTurn {
				list = append(list, s)
			}
		}
	}
	return list
}

// split returns the sentences of a line, each with the mark that ends it.
func split(line string) (sentences []string) {
	for {
		at := sentenceEnd.FindStringIndex(line)
		if at == nil {
			return append(sentences, line)
		}
		sentences = append(sentences, strings.TrimSpace(line[:at[1]]))
		line = line[at[1]:]
	}
}

// statement returns the statement in a sentence: from where a pattern begins to where the sentence turns to something
// else, such as a question.
func statement(sentence string) (Statement, bool) {
	for _, p := range patterns {
		at := p.begins.FindStringSubmatchIndex(sentence)
		if at == nil {
			continue
		}
		start := at[2] // the first group is the statement's beginning
		before, rest := sentence[:start], sentence[start:]
		if turn := elsewhere.FindStringIndex(rest); turn != nil {
			rest = rest[:turn[0]] + "."
		}
		if strings.Count(before, `"`)%2 == 1 || dependent.MatchString(before) || strings.HasSuffix(rest, "?") {
			continue
		}
		rest = text.OneLine(strings.TrimRight(rest, " .,;:!-–—…"))
		if hedged.MatchString(rest) || pointing.MatchString(rest) || p.not != nil && p.not.MatchString(rest) {
			continue
		}
		if len(strings.Fields(rest)) < minWords || utf8.RuneCountInString(rest) > maxChars || !closed(rest) {
			continue
		}
		return Statement{p.kind, rest}, true
	}
	return Statement{}, false
}

// closed reports whether s has no quotation, which would be somebody's words, and brackets in pairs.
func closed(s string) bool {
	return !strings.ContainsAny(s, "\"“”") && strings.Count(s, "(") == strings.Count(s, ")") &&
		strings.Count(s, "`")%2 == 0 && strings.ContainsFunc(s, unicode.IsLetter)
}

var (
	codeBlock   = regexp.MustCompile("(?s)```.*?(```|$)")
	sentenceEnd = regexp.MustCompile(`[.!?]+["')\]]*(\s+|$)|[;]\s+|\s*[-–—]{1,2}\s+`)
	// denial is a sentence that the next one corrects, as one after a comma would.
	denial = regexp.MustCompile(`(?i)^\W*(?:no|nope|wrong|that['’]s (?:wrong|not right)|not quite)[.!\s–—-]*$`)
	// quoted are lines that are somebody else's words, code or a table.
	quoted = regexp.MustCompile(`^(>|\||"|“|#|//|[$%] |[-*+] \*\*|<)`)
	// label begins a line of a conversation that was pasted: "Ana: I live in Oslo".
	label = regexp.MustCompile(`^\W*[\p{Lu}\d][\w.'-]*( [\p{Lu}\d][\w.'-]*){0,2}( \([^)]*\))?\s*(:|>)\s`)
	// pasted begins what somebody else wrote: a mail, a log.
	pasted = regexp.MustCompile(`(?mi)^\s*(from|to|subject|date|sent)\s*:\s|^.{0,60}\bwrote\s*:\s*$|^-{3,}|^={3,}|` +
		`^\s*\d{4}-\d\d-\d\d[ T]\d\d:\d\d`)
)
