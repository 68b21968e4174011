package mesh

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseDefinition(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want definition
	}{
		"YAMO": {yamoSkill, definition{
			name: "RollbackPlanner", intent: "plan_a_rollback_before_deploying", description: "Writes down how to go back", tags: []string{"release", "safety"},
		}},
		"several blocks": {yamoSkill + "---\n" + yamoSkill + "\n" + yamoSkill, definition{
			name: "RollbackPlanner", intent: "plan_a_rollback_before_deploying", description: "Writes down how to go back", tags: []string{"release", "safety"},
		}},
		"rationale for a description": {"agent: A;\nintent: i;\nmeta:\n  name;Proper name;\n  rationale;Because;\nlog: x;\nhandoff: End;\n", definition{
			name: "Proper name", intent: "i", description: "Because",
		}},
		"blocks between fences": {"---\n" + yamoSkill + "---\n", definition{
			name: "RollbackPlanner", intent: "plan_a_rollback_before_deploying", description: "Writes down how to go back", tags: []string{"release", "safety"},
		}},
		"Markdown": {markdownSkill("deploy", "Release a version", "Do it."), definition{
			name: "deploy", intent: "Release a version", description: "Steps that were tried out.", tags: []string{"release", "ops"},
		}},
		"description alone": {"---\nname: pdf\ndescription: Reads e.g. forms. Use it for PDFs!\ntype: micro\n---\n", definition{
			name: "pdf", intent: "Reads e.g. forms.", description: "Reads e.g. forms. Use it for PDFs!", kind: "micro",
		}},
		"tags with commas": {"---\nname: a\nintent: b\ntags: x, y ,z\n---\nagent: not; parsed\n", definition{name: "a", intent: "b", tags: []string{"x", "y", "z"}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parseDefinition(c.text)
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(definition{})); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
	for text, want := range map[string]string{
		"# Deploy\n\nDo it.":                           "neither a YAMO block",
		"---\nname: x\n---\nbody":                      "intent is missing",
		"---\nintent: x\n---\nbody":                    "name is missing",
		"---\nname: [x\n---\n":                         "front matter:",
		"---\nname: x\ndescription: a: b\n---\n":       "quotes",
		"agent: A;\nintent: i;\n":                      "line 3",
		yamoSkill + "\nagent: B;\nintent: not a name;": "line 14",
		"agent: A": "line 1",
	} {
		if _, err := parseDefinition(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func FuzzParseDefinition(f *testing.F) {
	for _, text := range []string{yamoSkill, markdownSkill("a", "b", "c"), "---\nagent: A;\n---\n", "---\n", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := parseDefinition(text)
		if err == nil && (d.name == "" || d.intent == "") {
			t.Errorf("accepted without name or intent: %+v", d)
		}
	})
}
