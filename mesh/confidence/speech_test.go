package confidence

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSpeakers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"Nora: I quit sugar.":           {"nora"},
		"Ana Sousa: I moved.":           {"ana", "sousa"},
		"Zoë: Hello.":                   {"zoë"},
		"nora: I quit sugar.":           nil,
		"Nora said: I quit sugar.":      nil,
		"Nora quit sugar.":              nil,
		"Backup:3 is done.":             nil,
		"The plan is this: we go.":      nil,
		"A Very Long Name Indeed: Yes.": nil,
	} {
		if diff := cmp.Diff(want, speakers(text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

// A turn is about its speaker as far as it says "I", about the other one as far as it says "you"; without
// either, or without a speaker whom the question names, nothing is known.
func TestOther(t *testing.T) {
	t.Parallel()
	heard := []string{"Nora: Hello.", "Felix: Hello."}
	for _, test := range []struct {
		question, text string
		results        []string
		want           float64
	}{
		{"What did Nora quit?", "Nora: I quit sugar.", heard, 0},
		{"What did Felix quit?", "Nora: I quit sugar.", heard, -1},
		{"What did Nora quit?", "Felix: You quit sugar!", heard, 0},
		{"What did Felix quit?", "Felix: You quit sugar!", heard, -1},
		{"What did Felix quit?", "Nora: I think Felix quit sugar.", heard, 0},
		{"What did Felix quit?", "Nora: Felix, I quit sugar.", heard, -1},
		{"What did Felix quit?", "Nora: Hey Felix, I quit sugar.", heard, -1},
		{"What did Felix quit?", "Nora: I quit sugar, Felix!", heard, -1},
		{"What did Nora quit?", "Nora: Thanks, Felix! I quit sugar.", heard, 0},
		{"What did Felix quit?", "Nora: I am proud that Felix quit.", heard, 0},
		{"What did Felix quit?", "Nora: Nobody quit sugar.", heard, 0},
		{"What did you quit?", "Nora: I quit sugar.", heard, 0},
		{"What did Marta quit?", "Nora: I quit sugar.", heard, 0}, // Marta says nothing: she may be Nora's sister
		{"What did Felix quit?", "Correction: I quit sugar.", []string{"Correction: I quit sugar."}, 0},
		{"What did Felix quit?", "I quit sugar.", heard, 0},
	} {
		s := Sentences(test.question)[0]
		s.Hear(test.results)
		if got := s.other(plainTokens(test.question), plainTokens(test.text), test.text); got != test.want {
			t.Errorf("%s %s: %v, want %v", test.question, test.text, got, test.want)
		}
	}
}

// plainTokens are tokens of equal vectors, as the model's tokenizer splits a text of plain words.
func plainTokens(text string) (t Tokens) {
	for _, name := range plainWord.FindAllString(strings.ToLower(text), -1) {
		t.Names, t.Words = append(t.Names, name), append(t.Words, [][]float32{{1}})
	}
	return t
}

var plainWord = regexp.MustCompile(`\pL+|[^\pL\s]`)
