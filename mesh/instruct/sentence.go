package instruct

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is a word of a sentence, or a comma.
type token struct {
	low  string // in lower case, without punctuation around it
	name bool   // it begins with a capital and is not the first word
}

// sentences calls yield with the first sentences of a text that are the words of who wrote it: no quotation, not what
// follows "Vera said:", and nothing from where an assistant answers in the log of a conversation. It stops where yield
// returns false.
func sentences(text string, yield func(sentence string) bool) {
	text, _, _ = strings.Cut(text, "```")
	reported := false
	for range maxSentences {
		text = strings.TrimLeftFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !isQuote(r) })
		if text == "" {
			return
		}
		first, _ := utf8.DecodeRuneInString(text)
		end := sentenceEnd(text)
		sentence := strings.TrimSpace(text[:end])
		text = text[end:]
		label, labelled := strings.CutSuffix(sentence, ":")
		if labelled && assistants[strings.ToLower(label)] {
			return
		}
		reported = reported || isQuote(first)
		if !reported && !yield(sentence) {
			return
		}
		reported = labelled && reports(label)
	}
}

// sentenceEnd returns where the first sentence of a text ends.
func sentenceEnd(text string) int {
	for i := range len(text) - 1 {
		switch text[i] {
		case '\n':
			return i + 1
		case '.', '!', '?', ';', ':':
			word := text[strings.LastIndexByte(text[:i], ' ')+1 : i]
			if (text[i+1] == ' ' || text[i+1] == '\n') && (text[i] != '.' || !abbreviations[word]) {
				return i + 1
			}
		}
	}
	return len(text)
}

func isQuote(r rune) bool { return strings.ContainsRune("\"“”„«»'‘", r) }

// reports reports whether a label, before a colon, tells who says what follows: "Vera said", "The sign", "Vera".
func reports(label string) bool {
	words := strings.Fields(strings.ToLower(label))
	for _, word := range words {
		if sayings[word] {
			return true
		}
	}
	if len(words) > 0 && strings.HasSuffix(words[0], "'s") && words[0] != "user's" {
		return true
	}
	first, _ := utf8.DecodeRuneInString(label)
	if len(words) == 0 || len(words) > 2 || !unicode.IsUpper(first) {
		return false
	}
	last := words[len(words)-1]
	return !labels[last] && !openers[last] && !outputs[singular(last)] && !styles[last] && !formats[last] &&
		!mass[last] && !strings.HasSuffix(last, "s") && !strings.HasSuffix(last, "ing")
}

// contractions are ends of words, and the word that each is short for.
var contractions = []struct{ end, word string }{
	{"n't", "not"}, {"'d", "would"}, {"'re", "are"}, {"'m", "am"}, {"'ll", "will"}, {"'ve", "have"},
}

// tokens returns the words of a sentence and its commas. "Don't" is two words.
func tokens(sentence string) (list []token) {
	for word := range strings.FieldsSeq(sentence) {
		bare := strings.Trim(word, `.,!?;:"'()*_“”„«»‘’`+"`")
		if bare == "" {
			if word == "-" || word == "–" || word == "—" {
				list = append(list, token{low: ","})
			}
			continue
		}
		first, _ := utf8.DecodeRuneInString(bare)
		t := token{strings.ReplaceAll(strings.ToLower(bare), "’", "'"), len(list) > 0 && unicode.IsUpper(first)}
		t.name = t.name && t.low != "i"
		if t.low == "cannot" {
			t.low = "can't"
		}
		short := ""
		for _, c := range contractions {
			if stem, ok := strings.CutSuffix(t.low, c.end); ok && stem != "" {
				if stem == "ca" {
					stem = "can"
				}
				t.low, t.name, short = stem, false, c.word
			}
		}
		list = append(list, t)
		if short != "" {
			list = append(list, token{low: short})
		}
		if strings.HasSuffix(word, ",") {
			list = append(list, token{low: ","})
		}
	}
	return list
}

// once reports whether a sentence is for a time of which there is one: "today", "by Friday", "next week".
func once(s []token) bool {
	for i := range s {
		word := strings.TrimSuffix(s[i].low, "'s")
		if times[word] && !at(s, i-1, quantifiers) && !at(s, i+1, weekdays) || nearTimes[word] && at(s, i+1, units) ||
			word == "by" && (isNumber(low(s, i+1)) && low(s, i+1) != "a" || has(s, i+1, "noon")) {
			return true
		}
	}
	return false
}
