package block

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseGrammarForm(t *testing.T) {
	t.Parallel()
	const text = `agent: Planner_1;
intent: plan_release;
context:
  since;2026-01-02;
  empty;;
constraints:
  - never on a Friday;
  hypothesis;both forms may be mixed;
priority: critical;
output:
  plan;docs/plan.md;
meta: rationale;grammar of section 3.1;
meta: confidence;0.9;
log: planned;by;Planner_1;
handoff: Executor 2;
`
	want := Block{
		Agent: "Planner_1", Intent: "plan_release",
		Context:     []Pair{{"since", "2026-01-02"}, {"empty", ""}},
		Constraints: []Pair{{"", "never on a Friday"}, {"hypothesis", "both forms may be mixed"}},
		Priority:    Critical,
		Output:      []Pair{{"plan", "docs/plan.md"}},
		Meta:        []Pair{{"rationale", "grammar of section 3.1"}, {"confidence", "0.9"}},
		MetaLines:   true,
		Log:         []string{"planned", "by", "Planner_1"},
		Handoff:     "Executor 2",
	}
	for _, text := range []string{text, strings.TrimSuffix(text, "\n")} {
		got, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	if diff := cmp.Diff(text, want.String()); diff != "" {
		t.Errorf("String (-want +got):\n%s", diff)
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	const good = "agent: A;\nintent: b;\nmeta:\n  k;v;\nlog: l;\nhandoff: End;\n"
	if _, err := Parse(good); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, text string
		line       int
	}{
		{"empty", "", 1},
		{"no agent", strings.Replace(good, "agent: A;\n", "", 1), 1},
		{"agent with a dash", strings.Replace(good, "A;", "A-1;", 1), 1},
		{"no semicolon", strings.Replace(good, "b;", "b", 1), 2},
		{"empty section", strings.Replace(good, "meta:\n", "context:\nmeta:\n", 1), 4},
		{"sections out of order", strings.Replace(good, "meta:\n", "output:\n  a;b;\ncontext:\n  a;b;\nmeta:\n", 1), 5},
		{"section twice", strings.Replace(good, "meta:\n", "context:\n  a;b;\ncontext:\n  a;b;\nmeta:\n", 1), 5},
		{"unknown priority", strings.Replace(good, "meta:\n", "priority: urgent;\nmeta:\n", 1), 3},
		{"no meta", strings.Replace(good, "meta:\n  k;v;\n", "", 1), 3},
		{"both forms of meta", strings.Replace(good, "log", "meta: k;v;\nlog", 1), 5},
		{"third field in a pair", strings.Replace(good, "k;v;", "k;v;w;", 1), 4},
		{"pair without value", strings.Replace(good, "k;v;", "k;", 1), 4},
		{"key with a space", strings.Replace(good, "k;v;", "k k;v;", 1), 4},
		{"three spaces", strings.Replace(good, "  k;v;", "   k;v;", 1), 4},
		{"bare constraint in meta", strings.Replace(good, "  k;v;", "  - v;", 1), 4},
		{"semicolon in a bare constraint", strings.Replace(good, "meta:\n", "constraints:\n  - a;b;\nmeta:\n", 1), 4},
		{"control character", strings.Replace(good, "v;", "v\x00;", 1), 4},
		{"carriage return", strings.ReplaceAll(good, "\n", "\r\n"), 1},
		{"control character in the log", strings.Replace(good, "l;", "l\t;", 1), 5},
		{"not UTF-8", strings.Replace(good, "End", "\xff", 1), 6},
		{"two handoffs", strings.Replace(good, "End;", "End;End;", 1), 6},
		{"text after the end", good + "agent: B;\n", 7},
		{"empty line at the end", good + "\n", 7},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Parse(tc.text)
			var syntax *SyntaxError
			if !errors.As(err, &syntax) {
				t.Fatalf("error %v, want a *SyntaxError", err)
			}
			if syntax.Line != tc.line {
				t.Errorf("line %d, want %d: %v", syntax.Line, tc.line, err)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add("agent: A;\nintent: b;\ncontext:\n  k;v;\nconstraints:\n  - c;\n  k;v;\npriority: low;\n" +
		"output:\n  k;v;\nmeta: k;v;\nlog: l;m;\nhandoff: End;\n")
	f.Add(retain().Block().String())
	f.Add(recall().Block().String())
	f.Add(reflect().Block().String())
	f.Fuzz(func(t *testing.T, text string) {
		b, err := Parse(text)
		if err != nil {
			return
		}
		if got, want := b.String(), strings.TrimSuffix(text, "\n")+"\n"; got != want {
			t.Fatalf("String(Parse(text)) = %q, want %q", got, want)
		}
		again, err := Parse(b.String())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(b, again); diff != "" {
			t.Fatalf("Parse(String(b)) (-want +got):\n%s", diff)
		}
	})
}

// Any values in a block come back escaped and in the same fields.
func FuzzString(f *testing.F) {
	f.Add("A", "k", "v", "c", "l", "h", true)
	f.Add("a;\n", "- k", "v;\nhandoff: x;\n", "- c;\n", "l;m", "\xff", false)
	f.Fuzz(func(t *testing.T, agent, k, value, constraint, log, handoff string, lines bool) {
		b := Block{
			Agent: agent, Intent: agent,
			Context:     []Pair{{k, value}, {value, k}},
			Constraints: []Pair{{"", constraint}, {"c" + k, constraint}},
			Priority:    Low,
			Output:      []Pair{{k, log}},
			Meta:        []Pair{{k, handoff}}, MetaLines: lines,
			Log: []string{log, value}, Handoff: handoff,
		}
		want := Block{
			Agent: name(agent), Intent: name(agent),
			Context:     []Pair{{key(k), Escape(value)}, {key(value), Escape(k)}},
			Constraints: []Pair{{"", Escape(constraint)}, {key("c" + k), Escape(constraint)}},
			Priority:    Low,
			Output:      []Pair{{key(k), Escape(log)}},
			Meta:        []Pair{{key(k), Escape(handoff)}}, MetaLines: lines,
			Log: []string{Escape(log), Escape(value)}, Handoff: Escape(handoff),
		}
		got, err := Parse(b.String())
		if err != nil {
			t.Fatalf("%v\n%s", err, b.String())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("Parse(String(b)) (-want +got):\n%s", diff)
		}
	})
}
