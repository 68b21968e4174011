package mesh

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

func TestCaptureInteraction(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := open(t, dir, audience.DM(), new(words))
	for name, q := range map[string]Interaction{
		"empty": {Prompt: " ", Response: "\n"}, "a secret": {Prompt: "password: hunter2-Correct9"},
	} {
		if stored, err := v.CaptureInteraction(t.Context(), q); stored != nil || err != nil {
			t.Errorf("%s: kept as %+v, %v", name, stored, err)
		}
	}
	if names := tree(t, dir); len(names) > 1 {
		t.Errorf("nothing was kept in %v", names)
	}
	q := Interaction{
		Prompt: "Where is the kettle?", Response: "In the blue cupboard, says ann@example.org.",
		SessionID: "s1", Skill: "tea", Tags: []string{"kitchen"},
	}
	stored, err := v.CaptureInteraction(t.Context(), q)
	switch {
	case err != nil:
		t.Fatal(err)
	case stored == nil:
		t.Fatalf("stored = %v, must not be nil", stored)
	case !stored.Created:
		t.Fatal("stored.Created is false")
	case len(stored.Redactions) != 1:
		t.Fatalf("len(stored.Redactions) = %v, want 1", len(stored.Redactions))
	}
	hit, err := v.Get(t.Context(), stored.ID)
	if err != nil {
		t.Fatal(err)
	}
	switch want := "User: Where is the kettle?\nAssistant: In the blue cupboard, says [REDACTED:email]."; {
	case hit.Content != want:
		t.Errorf("hit.Content = %v, want %v", hit.Content, want)
	case hit.Type != "session":
		t.Errorf(`hit.Type = %v, want "session"`, hit.Type)
	case hit.SessionID != "s1":
		t.Errorf(`hit.SessionID = %v, want "s1"`, hit.SessionID)
	case hit.Skill != "tea":
		t.Errorf(`hit.Skill = %v, want "tea"`, hit.Skill)
	case !hit.HasTag("kitchen"):
		t.Error(`hit.HasTag("kitchen") is false`)
	}
	switch again, err := v.CaptureInteraction(t.Context(), q); {
	case err != nil:
		t.Fatal(err)
	case again.ID != stored.ID:
		t.Errorf("again.ID = %v, want %v", again.ID, stored.ID)
	case again.Created:
		t.Error("again.Created is true")
	}
	if half, err := v.CaptureInteraction(t.Context(), Interaction{Response: "Hello."}); err != nil || half == nil {
		t.Errorf("an answer without a question: %+v, %v", half, err)
	}
	_, err = v.CaptureInteraction(t.Context(), Interaction{Prompt: "x", SessionID: strings.Repeat("x", record.MaxField+1)})
	wantFault(t, err, "session_id:")
}

func TestRecallMemories(t *testing.T) {
	t.Parallel()
	v := open(t, t.TempDir(), audience.DM(), new(words))
	for _, skill := range []string{"", "tea", "tea", "bread"} {
		for _, kind := range []string{"event", "session"} {
			keep(t, v, record.Memory{Content: "the oven and the kettle " + skill + " " + kind, Skill: skill, Type: kind})
		}
	}
	keep(t, v, record.Memory{Content: "one more oven", Skill: "tea"})
	if _, err := v.Distill(t.Context(), record.LessonRequest{
		Situation: "s", ErrorPattern: "cold", Oversight: "o", Fix: "f", PreventativeRule: "Heat the oven first",
		Severity: "low", ApplicableScope: "kitchen",
	}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		o             RecallOptions
		hits, lessons int
	}{
		{RecallOptions{}, 5, 0},
		{RecallOptions{Limit: 3, IncludeLessons: true}, 3, 1},
		{RecallOptions{Skill: "tea", Limit: 50}, 3, 0},
		{RecallOptions{Skill: "tea", Type: "event", Limit: 50}, 1, 0},
		{RecallOptions{Skill: "nothing"}, 0, 0},
	} {
		found, err := v.RecallMemories(t.Context(), "oven", c.o)
		switch {
		case err != nil:
			t.Fatal(err)
		case len(found.Hits) != c.hits:
			t.Errorf("len(found.Hits) = %v, want %v", len(found.Hits), c.hits)
		case len(found.Lessons) != c.lessons:
			t.Errorf("len(found.Lessons) = %v, want %v", len(found.Lessons), c.lessons)
		}
		for _, hit := range found.Hits {
			if c.o.Skill != "" && hit.Skill != c.o.Skill || c.o.Type != "" && hit.Type != c.o.Type {
				t.Errorf("%+v: found %+v", c.o, hit.Record)
			}
		}
	}
	_, err := v.RecallMemories(t.Context(), "oven", RecallOptions{Limit: MaxLimit + 1})
	wantFault(t, err, "limit:")
}

func TestHealthCheck(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := new(words)
	v := open(t, dir, audience.DM(), e)
	check := func(v *View, want Health) {
		t.Helper()
		got, err := v.Maintenance().Health(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for i, problem := range got.Problems {
			if i < len(want.Problems) && strings.Contains(problem, want.Problems[i]) {
				got.Problems[i] = want.Problems[i]
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	check(v, Health{Status: Healthy, Semantic: true, Model: "words"})
	if names := tree(t, dir); len(names) > 1 {
		t.Errorf("a check left %v", names)
	}
	e.fail.Store(&embed.ErrNoAssets)
	keep(t, v, record.Memory{Content: "one"})
	ingestSkill(t, v, SkillRequest{Text: yamoSkill})
	check(v, Health{
		Status: Degraded, Memories: 1, Skills: 1, Pending: 1, Model: "words",
		Problems: []string{"yamo-mcp setup", "1 memories have no vector"},
	})
	broken := errors.New("key 1234")
	e.fail.Store(&broken)
	check(v, Health{
		Status: Degraded, Memories: 1, Skills: 1, Pending: 1, Model: "words",
		Problems: []string{"does not answer", "1 memories"},
	})
	e.fail.Store(nil)
	settle(t, v)
	check(v, Health{Status: Healthy, Memories: 1, Skills: 1, Semantic: true, Model: "words"})
	ledger := filepath.Join(dir, ".yamo", "private", "ledger.ndjson")
	if err := os.Remove(ledger); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(ledger, []byte("{no ledger\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	check(open(t, dir, audience.DM(), e), Health{
		Status: Unhealthy, Model: "words",
		Problems: []string{"damaged at line 1"},
	})
}
