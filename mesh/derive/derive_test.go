package derive

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/mesh/block"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// A sentence does not reach into the next line, and loses its list marker.
func TestSentences(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"One is here. Two is there! Three?":           {"One is here.", "Two is there!", "Three?"},
		"- a list item\n- another":                    {"a list item", "another"},
		"It costs 4.50 euros, e.g. in May.":           {"It costs 4.50 euros, e.g. in May."},
		"Rui's dentist is Dr. Falcao. Ana's is near.": {"Rui's dentist is Dr. Falcao.", "Ana's is near."},
		"Ask Mrs. J. Nunes (Prof. Lima is away).":     {"Ask Mrs. J. Nunes (Prof. Lima is away)."},
		"So do I. Ask the Dr.":                        {"So do I.", "Ask the Dr."},
		"# Title\n\ntext without an end":              {"Title", "text without an end"},
		"彼は来た。彼女も来た。":                                 {"彼は来た。", "彼女も来た。"},
		" \n ":                                        nil,
	} {
		if diff := cmp.Diff(want, sentences(text)); diff != "" {
			t.Errorf("%q:\n%s", text, diff)
		}
	}
}

// FuzzAnswer looks for an answer of a model that breaks out of its memory.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		"Sand fills the filter [1]. It was changed [2, 1][9].", "- a\n- b [0]", "[1]", "[[1]]", "[1;2]", "[ 1 ,2 ]x",
		"NONE", "\u2028[1]\u0085x", "a.\x00b [99]",
	} {
		f.Add(seed)
	}
	s := NewSources("reflect", "pump", record.Private, []record.Hit{
		{Record: &record.Record{ID: "mem_1_aaaaaa"}, Visibility: record.Private},
		{Record: &record.Record{ID: "mem_2_bbbbbb"}, Visibility: "group:hiking"},
	})
	f.Fuzz(func(t *testing.T, answer string) {
		if !utf8.ValidString(answer) {
			return
		}
		for _, line := range sentences(answer) {
			switch {
			case line == "":
				t.Error("an empty sentence")
			case strings.ContainsAny(line, "\n\r"):
				t.Errorf("the sentence %q has a line break", line)
			case strings.TrimSpace(line) != line:
				t.Errorf("the sentence %q has space around it", line)
			}
		}
		text := s.attribute(answer)
		if !strings.Contains(text, "said in the group hiking") {
			t.Errorf("%q became %q, which hides what a group said", answer, text)
		}
		definition := s.Definition(Derivation{Text: text, Method: record.ByModel}, "learned: pump", "tester",
			time.Now()).String()
		parsed, err := block.Parse(definition)
		switch {
		case err != nil:
			t.Fatal(err)
		case parsed.Handoff != "End":
			t.Errorf(`parsed.Handoff = %v, want "End"`, parsed.Handoff)
		case len(parsed.Constraints) > maxRules:
			t.Errorf("len(parsed.Constraints) = %v, must not be > maxRules", len(parsed.Constraints))
		}
	})
}

// INTENT_ID has ASCII letters only, so a topic without any gets the general intent.
func TestIntent(t *testing.T) {
	t.Parallel()
	for topic, want := range map[string]string{
		"":                          "apply_what_was_learned",
		"насос":                     "apply_what_was_learned",
		"The irrigation pump":       "apply_what_was_learned_about_the_irrigation_pump",
		"a b c d e f g h i":         "apply_what_was_learned_about_a_b_c_d_e_f_g_h",
		"Straße 12: pump's filter!": "apply_what_was_learned_about_stra_e_12_pump_s_filter",
	} {
		if got := intent(topic); got != want {
			t.Errorf("intent(%q) = %q, want %q", topic, got, want)
		}
	}
}
