package mesh

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/golden"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// ranked is one result of the golden file.
type ranked struct {
	Content string
	Score   float64
	Signals map[string]float64
}

// The order of results and what each signal contributed, over a conversation that was written for it
// (testdata/conversation.txt): what changes the ranking shows here.
func TestRankingGolden(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join("testdata", "conversation.txt"))
	if err != nil {
		t.Fatal(err)
	}
	v := open(t, t.TempDir(), audience.DM(), new(words))
	session, questions := "", []string(nil)
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "# "); ok {
			session = name
		} else if q, ok := strings.CutPrefix(line, "? "); ok {
			questions = append(questions, q)
		} else if line != "" {
			keep(t, v, record.Memory{Content: line, SessionID: session})
		}
	}
	settle(t, v)
	got := map[string][]ranked{}
	for _, q := range questions {
		for _, h := range search(t, v, SearchRequest{Query: q, Limit: 4}).Hits {
			r := ranked{h.Content, h.Score, map[string]float64{}}
			if text := []rune(h.Content); len(text) > 80 {
				r.Content = string(text[:80]) + "…"
			}
			for _, s := range h.Signals {
				if s.Value != 0 {
					r.Signals[s.Name] = s.Value
				}
			}
			got[q] = append(got[q], r)
		}
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(got); err != nil {
		t.Fatal(err)
	}
	golden.Assert(t, out.String(), "ranking.golden.json") // a change of the ranking
}

// The formula's parts, one at a time.
func TestRankingSignals(t *testing.T) {
	t.Parallel()
	long := "the harbour " + strings.Repeat("and more words ", 100)
	for _, test := range []struct {
		name, query   string
		better, worse string
		stored        []record.Memory
	}{
		{
			"own words", "harbour", "harbour tour", "city tour",
			[]record.Memory{{Content: "city tour"}, {Content: "harbour tour"}},
		},
		{
			"the statement that raises a subject above its answer",
			"violin", "shall we talk of the violin", "yes the violin let us",
			[]record.Memory{
				{Content: "shall we talk of the violin", SessionID: "s"}, {Content: "yes the violin let us", SessionID: "s"},
			},
		},
		{"a short text rather than a long one", "harbour", "the harbour and more words", long, []record.Memory{
			{Content: long}, {Content: "the harbour and more words"},
		}},
		{
			"words side by side", "red car", "my red car broke", "my car broke red",
			[]record.Memory{{Content: "my car broke red"}, {Content: "my red car broke"}},
		},
		{"neighbours", "piano lessons", "every tuesday at six", "every tuesday at five", []record.Memory{
			{Content: "when is football", SessionID: "c"},
			{Content: "every tuesday at five", SessionID: "c"},
			{Content: "when are the piano lessons", SessionID: "b"},
			{Content: "every tuesday at six", SessionID: "b"},
		}},
		{"the person rather than the assistant", "harbour plan", "my harbour plan", "the harbour plan", []record.Memory{
			{Content: "the harbour plan", Source: record.Assistant}, {Content: "my harbour plan", Source: "user"},
		}},
		{
			"the assistant where it is asked for", "what harbour plan did you recommend", "the harbour plan",
			"my harbour plan is older",
			[]record.Memory{
				{Content: "the harbour plan", Source: record.Assistant}, {Content: "my harbour plan is older", Source: "user"},
			},
		},
		{
			"a standing instruction where help is asked for", "can you write a report",
			"Always list sources when I ask for a report", "the harbour report is due",
			[]record.Memory{
				{Content: "the harbour report is due"}, {Content: "Always list sources when I ask for a report"},
			},
		},
		{
			"what was said where that is asked for", "when did we write the harbour report",
			"the harbour report is due", "Always list sources when I ask for a report",
			[]record.Memory{
				{Content: "Always list sources when I ask for a report"}, {Content: "the harbour report is due"},
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := open(t, t.TempDir(), audience.DM(), new(words))
			for _, request := range test.stored {
				keep(t, v, request)
			}
			settle(t, v)
			place := map[string]int{}
			for i, h := range search(t, v, SearchRequest{Query: test.query}).Hits {
				place[h.Content] = i + 1
			}
			better, worse := place[strings.TrimSpace(test.better)], place[strings.TrimSpace(test.worse)]
			if better == 0 || worse != 0 && worse < better {
				t.Errorf("%q is at %d, %q at %d (0: not found)", test.better, better, test.worse, worse)
			}
		})
	}
}

// A group's standing instruction gains nothing in a direct conversation, where it is what strangers said.
func TestGroupCannotInstructTheDM(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	group, err := audience.Group("red")
	if err != nil {
		t.Fatal(err)
	}
	instruction := record.Memory{Content: "Always list sources when I ask for a report"}
	red, dm := open(t, dir, group, new(words)), open(t, dir, audience.DM(), new(words))
	keep(t, red, instruction)
	keep(t, dm, record.Memory{Content: "the harbour report is due"})
	settle(t, red)
	settle(t, dm)
	gain := func(v *View) (gained bool) {
		for _, h := range search(t, v, SearchRequest{Query: "can you write a harbour report"}).Hits {
			for _, s := range h.Signals {
				gained = gained || h.Content == instruction.Content && s.Name == "standing"
			}
		}
		return gained
	}
	if gain(dm) {
		t.Error("a group's instruction gained in the direct conversation")
	}
	if !gain(red) {
		t.Error("the group's instruction gains nothing in the group itself")
	}
}

func TestScoresAreAlwaysNumbersFrom0To1(t *testing.T) {
	t.Parallel()
	v := open(t, t.TempDir(), audience.DM(), new(words))
	keep(t, v, record.Memory{Content: strings.Repeat("filler words here ", 400), Tags: []string{"long"}})
	keep(t, v, record.Memory{Content: "needle needle"})
	settle(t, v)
	for _, query := range []string{"needle", "the", "?", "filler needle", "猫", "absent"} {
		for _, q := range []SearchRequest{{Query: query}, {Query: query, Tags: []string{"long"}}} {
			for _, h := range search(t, v, q).Hits {
				if !(h.Score >= 0 && h.Score <= 1) {
					t.Errorf("%q: score %v", query, h.Score)
				}
			}
		}
	}
}
