package cite

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// Proves reports whether an item of evidence says what one of the texts that it cites says, and nothing else:
//
//   - It is one quotation. Outside of it are at most its references, who said it and when: up to two names, and dates.
//   - A text has the quote, white space and letter case aside.
//   - The quote has at least three words, or is a whole sentence of the text.
//   - It leaves out no negation that is before it in its sentence, or right after it.
//
// An item without a quotation proves nothing.
func Proves(item string, sources []string) bool {
	said := tokens.ReplaceAllString(item, "")
	quotes := grammar.Quotes(said)
	if len(quotes) != 1 {
		return false
	}
	before, after, _ := strings.Cut(said, quotes[0])
	return isFrame(before+" "+after) && slices.ContainsFunc(sources, func(source string) bool {
		return says(source, quotes[0])
	})
}

// names is the maximum number of names outside of a quotation.
const names = 2

// frame are the words that are no names and add no claim to a quotation.
var frame = map[string]bool{
	"user": true, "assistant": true, "agent": true, "owner": true, "said": true, "says": true, "wrote": true, "on": true,
	"at": true,
}

// isFrame reports whether a text outside of a quotation only tells who said it and when. Names begin with a capital
// letter; in scripts without capitals they have up to four characters. A word next to a number is of a date.
func isFrame(text string) bool {
	list, count := words(text), 0
	number := func(i int) bool { return i >= 0 && i < len(list) && strings.ContainsFunc(list[i], unicode.IsDigit) }
	for i, word := range list {
		first, _ := utf8.DecodeRuneInString(word)
		caseless := !unicode.IsUpper(first) && !unicode.IsLower(first) && utf8.RuneCountInString(word) <= 4
		switch {
		case isNegation(strings.ToLower(word)):
			return false
		case unicode.IsDigit(first), frame[strings.ToLower(word)]:
		case !unicode.IsUpper(first) && !caseless:
			return false
		case number(i - 1), number(i + 1):
		default:
			count++
		}
	}
	return count <= names
}

// minWords is the number of words from which a quote that is no whole sentence proves something.
const minWords = 3

// says reports whether source has the quote in one place where it means the same as in the quote.
func says(source, quote string) bool {
	quote = trimmed(quote)
	text, strict := sentences(source, abbreviated)
	_, loose := sentences(source, 0)
	for _, at := range occurrences(text, quote) {
		end := at + len(quote)
		before, after := text[strict.before(at):at], words(text[end:strict.after(end, len(text))])
		if slices.ContainsFunc(words(before), isNegation) || ends(before, negatingEnds) ||
			len(after) > 0 && isNegation(after[0]) || begins(text[end:], negatingStarts) {
			continue
		}
		whole := len(words(text[loose.before(at):at])) == 0 && len(words(text[end:loose.after(end, len(text))])) == 0
		if whole || length(quote) >= minWords {
			return true
		}
	}
	return false
}

// length returns the number of words in a text. Of scripts that write words without spaces two characters count as one.
func length(text string) int {
	n, characters := 0, 0
	for _, word := range words(text) {
		if unspaced := strings.IndexFunc(word, isUnspaced); unspaced >= 0 {
			characters += utf8.RuneCountInString(word)
		} else {
			n++
		}
	}
	return n + characters/2
}

func isUnspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer,
		unicode.Myanmar)
}

// starts are the places in a text at which sentences begin, in order.
type starts []int

// before returns the beginning of the sentence with the place at.
func (s starts) before(at int) (from int) {
	for _, start := range s {
		if start <= at {
			from = start
		}
	}
	return from
}

// after returns the end of the sentence that ends at the place at or later, in a text of size bytes.
func (s starts) after(at, size int) int {
	for _, start := range s {
		if start >= at {
			return start
		}
	}
	return size
}

var (
	// paragraphEnd matches the end of a paragraph or list item.
	paragraphEnd = regexp.MustCompile(`\n\s*(?:\n\s*|(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)`)
	sentenceEnd  = regexp.MustCompile(`([.!?…]+["”’)]*\s)|[。！？]+`)
)

// abbreviated is the number of letters up to which a word before a full stop may be an abbreviation.
const abbreviated = 3

// sentences returns a text as plain returns it, and where its sentences begin. A full stop after a number or a word of
// up to short letters ends none.
func sentences(source string, short int) (text string, begin starts) {
	var out strings.Builder
	add := func(part string) {
		if part = plain(part); part == "" {
			return
		}
		if out.Len() > 0 && !strings.HasSuffix(out.String(), "。") {
			out.WriteByte(' ')
		}
		begin = append(begin, out.Len())
		out.WriteString(part)
	}
	for _, paragraph := range paragraphEnd.Split(source, -1) {
		from := 0
		for _, end := range sentenceEnd.FindAllStringIndex(paragraph, -1) {
			said := words(paragraph[from:end[0]])
			if paragraph[end[0]] == '.' && short > 0 && len(said) > 0 {
				last := said[len(said)-1]
				if utf8.RuneCountInString(last) <= short || strings.ContainsFunc(last, unicode.IsDigit) {
					continue
				}
			}
			add(paragraph[from:end[1]])
			from = end[1]
		}
		add(paragraph[from:])
	}
	return out.String(), begin
}

// words returns the words of a text, with their apostrophes.
func words(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Mn, r) && r != '\'' && r != '’'
	})
}

// negations are words that turn a statement into its opposite.
var negations = func() map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(`
		not never no none nobody nothing neither nor cannot without hardly barely
		nicht nie niemals kein keine keinen keinem keiner keines weder ohne kaum nichts niemand
		ne pas jamais aucun aucune sans ni non rien personne nunca jamás ningún ninguna nadie nada sin
		não nao nem nenhum nenhuma sem ninguém mai nessuno senza né niente
		niet nooit geen zonder inte aldrig ingen inget ikke aldri nie nigdy bez żaden
		не никогда нет без ні ніколи değil hiç asla nem soha ei koskaan 不 没 沒`) {
		set[word] = true
	}
	return set
}()

// Of scripts without spaces: what negates the word after it, and the word before it.
var (
	negatingEnds   = []string{"不", "没", "沒", "没有", "沒有", "未", "无", "無", "ไม่"}
	negatingStarts = []string{"ない", "なかった", "ません", "ず", "지 않"}
)

// isNegation reports whether a word in lower case is a negation, such as "never", "don't" or the beginning of "n'ai".
func isNegation(word string) bool {
	word = strings.ReplaceAll(word, "’", "'")
	return negations[strings.Trim(word, "'")] || strings.HasSuffix(word, "n't") || strings.HasSuffix(word, "n'") ||
		strings.HasPrefix(word, "n'")
}

func ends(text string, list []string) bool {
	return slices.ContainsFunc(list, func(end string) bool { return strings.HasSuffix(strings.TrimSpace(text), end) })
}

func begins(text string, list []string) bool {
	return slices.ContainsFunc(list, func(start string) bool {
		return strings.HasPrefix(strings.TrimSpace(text), start)
	})
}
