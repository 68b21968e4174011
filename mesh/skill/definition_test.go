package skill

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func markdownSkill(name, intent, body string) string {
	return fmt.Sprintf("---\nname: %s\nintent: %s\ntags: [release, ops]\ndescription: Steps that were tried out.\n---\n"+
		"# %s\n\n%s\n", name, intent, name, body)
}

const yamoSkill = `agent: RollbackPlanner;
intent: plan_a_rollback_before_deploying;
context:
  description;Writes down how to go back;
  tags;release, safety;
constraints:
  - name_the_last_good_version;
priority: high;
meta: rationale;A way back makes going forward cheap;
log: planned;timestamp;now;
handoff: Deployer;
`

func TestParseDefinition(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want Definition
	}{
		"YAMO": {yamoSkill, Definition{
			Name: "RollbackPlanner", Intent: "plan_a_rollback_before_deploying", Description: "Writes down how to go back",
			Tags: []string{"release", "safety"},
		}},
		"several blocks": {yamoSkill + "---\n" + yamoSkill + "\n" + yamoSkill, Definition{
			Name: "RollbackPlanner", Intent: "plan_a_rollback_before_deploying", Description: "Writes down how to go back",
			Tags: []string{"release", "safety"},
		}},
		"rationale for a description": {"agent: A;\nintent: i;\nmeta:\n  name;Proper name;\n  rationale;Because;\nlog: x;\n" +
			"handoff: End;\n", Definition{
			Name: "Proper name", Intent: "i", Description: "Because",
		}},
		"blocks between fences": {"---\n" + yamoSkill + "---\n", Definition{
			Name: "RollbackPlanner", Intent: "plan_a_rollback_before_deploying", Description: "Writes down how to go back",
			Tags: []string{"release", "safety"},
		}},
		"Markdown": {markdownSkill("deploy", "Release a version", "Do it."), Definition{
			Name: "deploy", Intent: "Release a version", Description: "Steps that were tried out.",
			Tags: []string{"release", "ops"},
		}},
		"only a description": {
			"---\nname: pdf\ndescription: Reads e.g. forms. Use it for PDFs!\ntype: micro\n---\n",
			Definition{
				Name: "pdf", Intent: "Reads e.g. forms.", Description: "Reads e.g. forms. Use it for PDFs!", Type: "micro",
			},
		},
		"tags with commas": {
			"---\nname: a\nintent: b\ntags: x, y ,z\n---\nagent: not; parsed\n",
			Definition{Name: "a", Intent: "b", Tags: []string{"x", "y", "z"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Parse(c.text)
			if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
	for text, want := range map[string]string{
		"# Deploy\n\nDo it.":                           "must be a YAMO block",
		"---\nname: x\n---\nbody":                      "intent is missing",
		"---\nintent: x\n---\nbody":                    "name is missing",
		"---\nname: [x\n---\n":                         "front matter:",
		"---\nname: x\ndescription: a: b\n---\n":       "quotes",
		"agent: A;\nintent: i;\n":                      "line 3",
		yamoSkill + "\nagent: B;\nintent: not a name;": "line 14",
		"agent: A": "line 1",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func FuzzParseDefinition(f *testing.F) {
	for _, text := range []string{yamoSkill, markdownSkill("a", "b", "c"), "---\nagent: A;\n---\n", "---\n", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := Parse(text)
		if err == nil && (d.Name == "" || d.Intent == "") {
			t.Errorf("accepted without name or intent: %+v", d)
		}
	})
}
