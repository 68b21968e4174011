package confidence

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A turn of a conversation may begin with who says it: "Nora: I quit sugar." What Nora says of herself answers no
// question about Felix, however similar it is, nor does what Felix says to Nora about hers. Who a turn is about is told
// by its pronouns, in English only.

var speech = regexp.MustCompile(`^(\p{Lu}[\p{L}\p{N}]*(?: \p{Lu}[\p{L}\p{N}]*){0,2}):\s`)

// speakers returns the names of who says a text, in lower case, nil if it does not begin with that.
func speakers(text string) []string {
	if m := speech.FindStringSubmatch(text); m != nil {
		return strings.Fields(strings.ToLower(m[1]))
	}
	return nil
}

// names returns the words of a sentence that look like names, in lower case: those with a capital but the first.
func names(sentence string) (list []string) {
	for i, w := range words(sentence) {
		first, _ := utf8.DecodeRuneInString(w)
		if lower := strings.ToLower(w); i > 0 && unicode.IsUpper(first) && lower != "i" && !moments[lower] {
			list = append(list, lower)
		}
	}
	return list
}

// Hear notes which of the people that the sentence names say one of the texts, the results of a query. Only then is it
// known that a name before a colon is a person's: the one in "Correction: I moved" is not.
func (s *Sentence) Hear(texts []string) {
	s.people = nil
	for _, name := range names(s.Text) {
		if slices.ContainsFunc(texts, func(text string) bool { return slices.Contains(speakers(text), name) }) {
			s.people = append(s.people, name)
		}
	}
}

// other returns how much a turn is about another person than those that the sentence names: from -1, all of it, to 0,
// none of it or not known. Each of the turn's sentences counts by how much it resembles the question.
func (s Sentence) other(sentence, memory Tokens, text string) float64 {
	by := speakers(text)
	if len(s.people) == 0 || len(by) == 0 {
		return 0
	}
	named := names(s.Text)
	asked := slices.DeleteFunc(s.content(sentence.Names), func(word int) bool {
		return slices.Contains(named, sentence.Names[word])
	})
	var me, you, name float64
	for from := len(by) + 1; from < len(memory.Names); {
		to := from
		for to < len(memory.Names) && !slices.Contains(sentenceEnds, memory.Names[to]) {
			to++
		}
		weight := math.Exp(8 * coverage(sentence, asked, memory.Words[from:to]))
		for i, word := range memory.Names[from:to] {
			switch {
			case firstPerson[word]:
				me += weight
			case secondPerson[word]:
				you += weight
			case slices.Contains(named, word) && !addressed(memory.Names[from:to], i):
				name += weight
			}
		}
		from = to + 1
	}
	if me+you+name == 0 {
		return 0
	}
	about := me - you
	if !slices.ContainsFunc(by, func(name string) bool { return slices.Contains(s.people, name) }) {
		about = -about
	}
	return min(0, (about+name)/(me+you+name))
}

var sentenceEnds = []string{".", "?", "!"}

// addressed reports whether the name at position i of a sentence is of whom it is said to, as in "Hey Nora, I moved" or
// "How was it, Nora?": the sentence is not about Nora then.
func addressed(sentence []string, i int) bool {
	if before := sentence[:i]; len(before) > 0 {
		if last := before[len(before)-1]; last != "," && !callings[last] {
			return false
		}
	}
	return i+1 == len(sentence) || slices.Contains([]string{",", "-", "–", "—", ":", ";"}, sentence[i+1])
}

// coverage returns the mean similarity of some words of a question with the nearest of words.
func coverage(question Tokens, asked []int, words [][][]float32) float64 {
	if len(asked) == 0 || len(words) == 0 {
		return 0
	}
	sum := 0.
	for _, word := range asked {
		sum += similarity(question.Words[word], words)
	}
	return sum / float64(len(asked))
}
