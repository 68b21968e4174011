package forget

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
)

// A unit is what is erased as a whole: an item, an entry of a log, a paragraph of prose. Lines without a blank line
// between them are a paragraph only if they look wrapped; otherwise each is an entry, perhaps about somebody else.

// units splits adjacent lines, of which only the first may begin an item, into units. About reports whether a text is
// surely about the subject: lines are one unit if that is only in them together, as where a name is in two lines.
func units(lines []string, about func(string) bool) (list [][]string) {
	prose := wrapped(lines)
	for i, line := range lines {
		if n := len(list) - 1; i > 0 {
			spans := func() bool {
				last := lines[i-1]
				return !about(content(last)) && !about(content(line)) && about(joined([]string{last, line}))
			}
			if prose || continues(list[n], line) || spans() {
				list[n] = append(list[n], line)
				continue
			}
		}
		list = append(list, []string{line})
	}
	return list
}

// minWidth is the minimum width of the lines of a paragraph that is taken for wrapped, in characters.
const minWidth = 50

// wrapped reports whether lines are one paragraph of prose: the first word of no line had room in the line before it,
// and a line ends within a sentence.
func wrapped(lines []string) bool {
	width := 0
	for _, line := range lines {
		width = max(width, utf8.RuneCountInString(content(line)))
	}
	if width < minWidth {
		return false
	}
	within := false
	for i, line := range lines[1:] {
		before, next := content(lines[i]), content(line)
		word, _, _ := strings.Cut(next, " ")
		if stamp.MatchString(lines[0]) && stamp.MatchString(line) ||
			utf8.RuneCountInString(before)+1+utf8.RuneCountInString(word) <= width-width/10 {
			return false
		}
		within = within || goesOn(lines[0], next) || strings.HasSuffix(before, ",") ||
			leading[before[strings.LastIndex(before, " ")+1:]]
	}
	return within
}

// leading are words that end no sentence.
var leading = text.Set(`
	a an the and or but nor of in on at to for with from by that which who because when where if as than is are was were
	has had will would my our your his her its their this`)

// continues reports whether a line belongs to the unit before it, by its indentation or its small first letter.
func continues(unit []string, line string) bool {
	return indent(line) > indent(unit[0]) || goesOn(unit[0], content(line))
}

// goesOn reports whether text begins with a small letter, and first, which is before it, with a large one: some people
// write logs without any large letter.
func goesOn(first, next string) bool {
	begin, _ := utf8.DecodeRuneInString(next)
	return unicode.IsLower(begin) && unicode.IsUpper(firstLetter(first))
}

func firstLetter(line string) rune {
	for _, r := range line {
		if unicode.IsLetter(r) {
			return r
		}
	}
	return 0
}

// content returns a line without its indentation and the marks of a quotation.
func content(line string) string { return strings.TrimSpace(strings.TrimLeft(line, " \t>")) }

// joined returns the text of a unit in one line, so that a name is found that is in two lines of it.
func joined(unit []string) string {
	list := []string{strings.TrimSpace(unit[0])}
	for _, line := range unit[1:] {
		list = append(list, content(line))
	}
	return strings.Join(list, " ")
}

// field begins a line that has one field of several: "**Timezone:** Europe/Lisbon".
var field = regexp.MustCompile(`^\*\*[^*]{1,40}(?::\*\*|\*\*:)`)

// stamp begins an entry of a log: a date or a time.
var stamp = regexp.MustCompile(
	`(?i)^[\s*_\[(]*(?:\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{1,2}[:h]\d\d|\d{1,2} ?[ap]m)\b`)

var pronouns = text.Set(`he she they his her their him them`)

// refersBack reports whether a line begins with a pronoun, so that it may be about whom the line before it names.
func refersBack(line string) bool {
	word, _, _ := strings.Cut(strings.TrimLeftFunc(line, func(r rune) bool { return !unicode.IsLetter(r) }), " ")
	word, _, _ = strings.Cut(strings.ReplaceAll(word, "’", "'"), "'")
	return pronouns[strings.ToLower(word)]
}

// startsItem reports whether a line begins an item of a list.
func startsItem(line string) bool {
	for _, mark := range []string{"- ", "* ", "+ ", "• ", "– ", "— ", "◦ ", "▪ ", "→ "} {
		if strings.HasPrefix(line, mark) {
			return true
		}
	}
	digits := strings.TrimLeft(line, "0123456789")
	return digits != line && (strings.HasPrefix(digits, ". ") || strings.HasPrefix(digits, ") "))
}

// indent returns the width of a line's indentation, in characters, a tab being four.
func indent(line string) (n int) {
	for _, r := range line {
		switch r {
		case ' ':
			n++
		case '\t':
			n += 4
		default:
			return n
		}
	}
	return n
}
