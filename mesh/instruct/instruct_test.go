package instruct

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sentencesOf returns the sentences of a file by what is known of them: "+" for instructions, "-" for others.
func sentencesOf(t *testing.T, file string) map[string][]string {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	list := map[string][]string{}
	for line := range strings.Lines(string(raw)) {
		sign, sentence, _ := strings.Cut(strings.TrimSpace(line), " ")
		list[sign] = append(list[sign], sentence)
	}
	return list
}

// wrong returns the sentences of a list that are told the other way.
func wrong(list []string, want bool) (failed []string) {
	for _, sentence := range list {
		if In(sentence) != want {
			failed = append(failed, sentence)
		}
	}
	return failed
}

func TestChosenSentences(t *testing.T) {
	t.Parallel()
	chosen := sentencesOf(t, "testdata/chosen.txt")
	if diff := cmp.Diff([]string(nil), wrong(chosen["+"], true)); diff != "" {
		t.Errorf("no instructions (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string(nil), wrong(chosen["-"], false)); diff != "" {
		t.Errorf("instructions (-want +got):\n%s", diff)
	}
}

// At least 85 % of instructions are recognized among sentences that were held back, and at most 3 % of others.
func TestHeldBackSentences(t *testing.T) {
	t.Parallel()
	held := sentencesOf(t, "testdata/held.txt")
	missed, taken := wrong(held["+"], true), wrong(held["-"], false)
	t.Logf("%d of %d instructions are missed: %q", len(missed), len(held["+"]), missed)
	t.Logf("%d of %d others are taken for one: %q", len(taken), len(held["-"]), taken)
	if 100*len(missed) > 15*len(held["+"]) || 100*len(taken) > 3*len(held["-"]) {
		t.Error("too many are wrong")
	}
}

// Of instructions in every form that people use most are missed; hardly any other sentence is taken for one.
func TestUnusualSentences(t *testing.T) {
	t.Parallel()
	unusual := sentencesOf(t, "testdata/unusual.txt")
	missed, taken := wrong(unusual["+"], true), wrong(unusual["-"], false)
	t.Logf("%d of %d instructions are recognized", len(unusual["+"])-len(missed), len(unusual["+"]))
	t.Logf("%d of %d others are taken for one: %q", len(taken), len(unusual["-"]), taken)
	if 4*len(missed) > 3*len(unusual["+"]) || 100*len(taken) > 3*len(unusual["-"]) {
		t.Error("too many are wrong")
	}
}

// The clause that instructs need not come first, and a text is not read to its end.
func TestWhereInTheText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"We spoke about formats. Use UTC in all reports.":                       true,
		"Use it. In the logs.\nAll reports":                                     false,
		"- **Always** use metric units":                                         true,
		"User: Keep answers short.\nAssistant: Of course.":                      true,
		"User: What is a port?\nAssistant: A number. Always use ports above 9.": false,
		"Vera said: never use tabs. Use UTC in all reports.":                    true,
		"Rui: never use tabs.":                                                  false,
		"Reviews: never use tabs.":                                              true,
		"Dr. Costa said so. Don’t use emojis in replies.":                       true,
		"The schema:\n```\ntype text\nalways use it\n```":                       false,
		strings.Repeat("It rained. ", 6) + "Always use metric units.":           false,
		"":    false,
		"?!":  false,
		"No":  false,
		"Use": false,
	} {
		if got := In(text); got != want {
			t.Errorf("In(%q) = %v, want %v", text, got, want)
		}
	}
}

// What is read is text of any kind, also what ends in the middle.
func TestParts(t *testing.T) {
	t.Parallel()
	var words []string
	for _, list := range sentencesOf(t, "testdata/chosen.txt") {
		for _, sentence := range list {
			for i, r := range sentence {
				if r == ' ' {
					In(sentence[:i])
					In(sentence[i:])
				}
			}
			words = append(words, strings.Fields(sentence)...)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var text strings.Builder
		for range 1 + random.IntN(8) {
			text.WriteString(words[random.IntN(len(words))] + " ")
		}
		In(text.String())
	}
}

func FuzzIn(f *testing.F) {
	f.Add("Please, don't — \"use\" all the, when")
	f.Add("If you")
	f.Fuzz(func(_ *testing.T, text string) { In(text) })
}
