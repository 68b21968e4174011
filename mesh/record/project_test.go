package record

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestProjectName(t *testing.T) {
	t.Parallel()
	for identity, want := range map[string]string{
		"github.com/acme/mare": "mare", "mare~1f2e3d4c": "mare", "git.sr.ht/~rui/mare": "mare", "": "",
	} {
		if got := ProjectName(identity); got != want {
			t.Errorf("%q: %q, want %q", identity, got, want)
		}
	}
	r := Record{Project: "github.com/acme/Mare"}
	for name, want := range map[string]bool{
		"mare": true, "MARE": true, "github.com/acme/mare": true, "acme": false, "": false,
	} {
		if got := r.OfProject(name); got != want {
			t.Errorf("of project %q: %v", name, got)
		}
	}
}

func TestLabels(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		r    Record
		want []string
	}{
		"all": {
			Record{Project: "example.org/a/mare", Memory: Memory{Tags: []string{"ci"}, Source: "Marta"}},
			[]string{"ci", "mare", "Marta"},
		},
		"a role":         {Record{Memory: Memory{Source: "User"}}, nil},
		"who stored it":  {Record{AgentID: "kate", Memory: Memory{Source: "kate"}}, nil},
		"a lesson's tag": {Record{Memory: Memory{Tags: []string{LessonTag}}}, nil},
		"a file's passage": {
			Record{Memory: Memory{Type: FileType, Source: "notes/a.md", SessionID: "s-1", Tags: []string{"x"}}},
			[]string{"x", "s-1"},
		},
	} {
		if diff := cmp.Diff(test.want, test.r.Labels()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestIsPersonal(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"I am allergic to nuts.":                      true,
		"My sister Ana lives in Porto.":               true,
		"The user prefers short answers.":             true,
		"User's birthday is on 3 May.":                true,
		"From now on answer in Portuguese.":           true,
		"I run the tests with `make check`.":          false,
		"I start it with npm run dev -- --port 3000.": false,
		"We use pnpm here.":                           false,
		"The release is cut on Fridays.":              false,
		"Mystery bugs are tracked in the wiki.":       false,
	} {
		r := Record{Memory: Memory{Content: text}}
		if got := r.IsPersonal(); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	for content, want := range map[string]bool{
		"Ana is allergic to hazelnuts.": true, "Ana's sister comes in May": true, "Ana-lytics runs on port 80": false,
		"Analysis of the log": false, "Rui likes tea": false, "Ana set `GOFLAGS`": false,
	} {
		if got := (&Record{Memory: Memory{Content: content}}).IsPersonal("", "Ana"); got != want {
			t.Errorf("%q of Ana: %v, want %v", content, got, want)
		}
	}
	if r := (Record{Memory: Memory{Content: "Blood type A+", Tags: []string{"Personal"}}}); !r.IsPersonal() {
		t.Error("a tag is not enough")
	}
}
