package record

import (
	"slices"
	"strings"
	"unicode"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
)

// An instruction without "always" or "when" also holds from now on if it is for all of something that is made again and
// again: "Use UTC in all reports", "Write dates as 2026-11-24 everywhere", "Keep answers under five lines". A request
// is for one thing, or for all of a certain set: "Use UTC in this report", "Delete every file in the temp folder".

var (
	// styleVerbs begin an instruction about the way in which something is made.
	styleVerbs = text.Set("add address answer ask avoid begin call check cite end explain format give include keep " +
		"label list make mention name number prefer prefix put quote refer reply respond round run say show sign sort " +
		"spell start state summarize translate use write")
	// quantifiers come before what an instruction is for.
	quantifiers = text.Set("all any each every")
	// places come before a quantifier: "in all reports".
	places = text.Set("about after at before by for from in of on to under with within")
	// made is what an assistant makes again and again, in the plural and in the singular.
	made = text.Set("amounts amount answers answer branches branch code comments comment commits commit conversations " +
		"conversation dates date descriptions description documents document drafts draft emails email explanations " +
		"explanation functions function headings heading invoices invoice letters letter lists list mails mail messages " +
		"message names name notes note numbers number offers offer paragraphs paragraph plans plan posts post prices " +
		"price replies reply reports report responses response sentences sentence sessions session sums sum summaries " +
		"summary tables table texts text times time titles title translations translation units unit variables variable")
	// manners come after what is made, and say how: "answers under five lines", "every letter with my name".
	manners = text.Set("after and as at before below brief briefly by concise consistent formal friendly in informal " +
		"like lowercase neutral plain polite short shorter simple under uppercase using with within without")
	// certain are words of a request for one thing, or for all of a certain set.
	certain = text.Set("the this these those that today tonight tomorrow now yesterday last next current it them week " +
		"monday tuesday wednesday thursday friday saturday sunday january february april june july august september " +
		"october november december")
	// idioms come after a quantifier, and count nothing.
	idioms = text.Set("but case cost costs event except kinds means more of other rate sorts things time way")
	// owners may come between a quantifier and what it is for: "in all my reports".
	owners = text.Set("my our your single new")
)

// maxSentences is the number of sentences that are looked at: an instruction comes first.
const maxSentences = 6

// instructs reports whether a sentence of a text is an instruction for all of something.
func instructs(text string) bool {
	for range maxSentences {
		text = strings.TrimLeftFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
		if text == "" {
			return false
		}
		first := text[:len(text)-len(strings.TrimLeftFunc(text, unicode.IsLetter))]
		end := sentenceEnd(text)
		if begins(first) && general(wordsOf(text[:end])) {
			return true
		}
		text = text[end:]
	}
	return false
}

// begins reports whether a word can begin an instruction. Most sentences of most memories end here.
func begins(word string) bool {
	low := strings.ToLower(word)
	return styleVerbs[low] || places[low] || low == "please" || low == "don" || low == "do" || low == "never" ||
		low == "no" || low == "everywhere"
}

// sentenceEnd returns where the first sentence of a text ends.
func sentenceEnd(text string) int {
	for i := range len(text) - 1 {
		switch text[i] {
		case '\n':
			return i + 1
		case '.', '!', '?', ';', ':':
			if text[i+1] == ' ' || text[i+1] == '\n' {
				return i + 1
			}
		}
	}
	return len(text)
}

// wordsOf returns the words of a sentence in lower case, and its commas.
func wordsOf(sentence string) (list []string) {
	for word := range strings.FieldsSeq(strings.ToLower(sentence)) {
		bare := strings.Trim(word, `.,!?;:"'()`+"`")
		if bare != "" {
			list = append(list, bare)
		}
		if strings.HasSuffix(word, ",") {
			list = append(list, ",")
		}
	}
	return list
}

// general reports whether a sentence is an instruction for all of something.
func general(s []string) bool {
	if len(s) > 0 && s[0] == "please" {
		s = s[1:]
	}
	if rest, ok := fronted(s); ok {
		return slices.ContainsFunc(rest[:min(3, len(rest))], func(w string) bool { return styleVerbs[w] })
	}
	negated := len(s) > 1 && (s[0] == "don't" || s[0] == "don’t" || s[0] == "never" || s[0] == "no")
	if len(s) > 2 && s[0] == "do" && s[1] == "not" {
		negated, s = true, s[1:]
	}
	if len(s) < 3 {
		return false
	}
	switch {
	case !negated:
		if !styleVerbs[s[0]] || s[1] == "of" || s[1] == "with" { // "Start of each shift is at 8."
			return false
		}
	case s[0] == "no":
		if !made[s[1]] && !strings.HasPrefix(s[1], "emoji") || s[2] == "from" { // "No reply from any supplier so far."
			return false
		}
	case !styleVerbs[s[1]]: // "Never been to any country in Asia."
		return false
	}
	if at := slices.IndexFunc(s, func(w string) bool { return w == "everywhere" || w == "anywhere" }); at > 0 {
		return !slices.ContainsFunc(s, isCertainTime)
	}
	for i := 1; i < len(s); i++ {
		if !quantifiers[s[i]] {
			continue
		}
		noun, rest := counted(s[i+1:])
		switch {
		case noun == "" || slices.ContainsFunc(rest, isCertainTime):
		case i == 1 && (made[noun] && said(rest) || (s[0] == "address" || s[0] == "round") && len(rest) > 1):
			return true
		case places[s[i-1]] && !slices.Contains(rest, "the"):
			return true
		}
	}
	return !negated && bare(s)
}

// fronted returns what follows "in all reports," and "everywhere".
func fronted(s []string) (rest []string, ok bool) {
	if len(s) > 2 && s[0] == "everywhere" {
		return s[1:], true
	}
	if len(s) < 4 || !places[s[0]] || !quantifiers[s[1]] {
		return nil, false
	}
	noun, rest := counted(s[2:])
	if noun == "" {
		return nil, false
	}
	if at := slices.Index(rest, ","); at >= 0 && !slices.ContainsFunc(rest[:at], isCertain) {
		return rest[at+1:], true
	}
	return rest, made[noun]
}

// counted returns the noun after a quantifier and what follows, "" if what it counts is a certain set, or nothing.
func counted(s []string) (noun string, rest []string) {
	for len(s) > 0 && owners[s[0]] {
		s = s[1:]
	}
	if len(s) == 0 || idioms[s[0]] || certain[s[0]] || s[0] == "," {
		return "", nil
	}
	if len(s) > 1 && !made[s[0]] && made[s[1]] { // "in all monthly reports"
		s = s[1:]
	}
	return s[0], s[1:]
}

// said reports whether what follows a noun says how it is to be made.
func said(rest []string) bool {
	return len(rest) > 0 && manners[rest[0]] ||
		len(rest) > 1 && rest[0] != "for" && rest[0] != "from" && manners[rest[1]]
}

// bare reports whether a sentence without a quantifier is for everything of a kind: "Keep answers short", "Write commit
// messages in English".
func bare(s []string) bool {
	for i := 1; i < min(4, len(s)); i++ {
		if certain[s[i]] || quantifiers[s[i]] || !unicode.IsLetter([]rune(s[i])[0]) {
			return false
		}
		plural := made[s[i]] && (strings.HasSuffix(s[i], "s") || s[i] == "code")
		if plural && i+1 < len(s) && manners[s[i+1]] {
			return !slices.ContainsFunc(s[i+1:], isCertain)
		}
	}
	return false
}

func isCertain(word string) bool { return certain[word] }

// isCertainTime is isCertain without "the": "Use the metric system everywhere".
func isCertainTime(word string) bool { return word != "the" && word != "it" && certain[word] }
