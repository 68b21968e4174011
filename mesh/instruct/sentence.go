package instruct

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is a word of a sentence, or a comma.
type token struct {
	low  string // in lower case, without punctuation around it
	name bool   // it begins with a capital and is not the first word, or has no small letters
}

// sentences calls yield with the first sentences of a text and whether they are somebody else's words: a quotation, or
// what follows "Vera said:". It stops where yield returns false.
func sentences(text string, yield func(sentence string, reported bool) bool) {
	reported := false
	for range maxSentences {
		text = strings.TrimLeftFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !isQuote(r) })
		if text == "" {
			return
		}
		first, _ := utf8.DecodeRuneInString(text)
		reported = reported || isQuote(first) && first != '`'
		end := sentenceEnd(text)
		if answers(text[:end]) {
			return
		}
		if !yield(text[:end], reported) {
			return
		}
		// Who is quoted after a colon is named before it.
		sentence := strings.TrimSpace(text[:end])
		reported = strings.HasSuffix(sentence, ":") && reports(sentence)
		text = text[end:]
	}
}

// answers reports whether what an assistant said begins, in the log of a conversation.
func answers(label string) bool {
	who, ok := strings.CutSuffix(strings.TrimSpace(label), ":")
	return ok && (strings.EqualFold(who, "assistant") || strings.EqualFold(who, "agent") || strings.EqualFold(who, "ai"))
}

// sentenceEnd returns where the first sentence of a text ends.
func sentenceEnd(text string) int {
	for i := range len(text) - 1 {
		switch text[i] {
		case '\n':
			return i + 1
		case '.', '!', '?', ';', ':':
			if text[i+1] == ' ' || text[i+1] == '\n' {
				if text[i] == '.' && abbreviated(text[:i]) {
					continue
				}
				return i + 1
			}
		}
	}
	return len(text)
}

// abbreviated reports whether what ends at a full stop is a title: "Dr."
func abbreviated(before string) bool {
	word := before[strings.LastIndexByte(before, ' ')+1:]
	return word == "Dr" || word == "Mr" || word == "Mrs" || word == "Ms" || word == "St" || word == "e.g" || word == "i.e"
}

func isQuote(r rune) bool { return strings.ContainsRune("\"“”„«»'‘`", r) }

// reports reports whether what ends with a colon tells who says what follows.
func reports(label string) bool {
	for word := range strings.FieldsSeq(strings.ToLower(strings.TrimSuffix(label, ":"))) {
		switch word {
		case "said", "says", "say", "told", "tells", "asked", "wrote", "writes", "replied", "answered", "shouted", "reads",
			"read", "motto", "slogan", "quote", "quoted", "title", "titled", "song", "lyrics", "warned", "insisted", "goes",
			"assistant", "agent", "advice", "poster", "sign", "label", "caption", "headline", "error", "output":
			return true
		}
	}
	return false
}

// tokens returns the words of a sentence and its commas.
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
		list = append(list, token{
			low:  strings.ReplaceAll(strings.ToLower(bare), "’", "'"),
			name: len(list) > 0 && unicode.IsUpper(first) && bare != "I",
		})
		if strings.HasSuffix(word, ",") {
			list = append(list, token{low: ","})
		}
	}
	return list
}

// has reports whether the words of a phrase come at place i.
func has(s []token, i int, phrase ...string) bool {
	if i < 0 || len(s) < i+len(phrase) {
		return false
	}
	for k, word := range phrase {
		if s[i+k].low != word {
			return false
		}
	}
	return true
}

// at reports whether the word at place i is in one of the sets.
func at(s []token, i int, sets ...map[string]bool) bool {
	if i < 0 || i >= len(s) {
		return false
	}
	for _, set := range sets {
		if set[s[i].low] {
			return true
		}
	}
	return false
}

// anyOf reports whether a word of a sentence is in one of the sets.
func anyOf(s []token, sets ...map[string]bool) bool {
	for i := range s {
		if at(s, i, sets...) {
			return true
		}
	}
	return false
}

// find returns the first place of a phrase, -1 if there is none.
func find(s []token, phrase ...string) int {
	for i := range s {
		if has(s, i, phrase...) {
			return i
		}
	}
	return -1
}

// once reports whether a sentence is for a time of which there is one: "today", "by Friday", "next week".
func once(s []token) bool {
	for i := range s {
		word := strings.TrimSuffix(s[i].low, "'s")
		if times[word] && !at(s, i-1, quantifiers) && !at(s, i+1, weekdays) ||
			(word == "next" || word == "last" || word == "this" || word == "current") && at(s, i+1, units) {
			return true
		}
	}
	return false
}
