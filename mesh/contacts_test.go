package mesh

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// The operator can let private memories keep contact details. Nothing else keeps them, and credentials never stay.
func TestKeepContacts(t *testing.T) {
	t.Parallel()
	const content = "Marta's phone is +351 912 345 678, marta.dias@example.org, " +
		"api key sk-proj-Zq3v8Lw1Xy7Tn5Rk2Mb9Hc4Jd6Pf0Gs1"
	const phone, email, key = "+351 912 345 678", "marta.dias@example.org", "sk-proj-"
	dir := t.TempDir()
	keeping := func(a audience.Audience) *View {
		v := Open(Options{
			Dir: filepath.Join(dir, ".yamo"), Audience: a, AgentID: "tester", Embedder: new(words), Logger: testLog(t),
			KeepContacts: true,
		})
		t.Cleanup(func() {
			if err := v.Close(context.Background()); err != nil {
				t.Error(err)
			}
		})
		return v
	}
	dm, club := keeping(audience.DM()), keeping(group(t, "club"))
	store := func(v *View, to record.Visibility) string {
		t.Helper()
		kept, err := v.Store(t.Context(), record.Memory{
			Content: content, Source: "card of " + email, Metadata: map[string]any{"phone": phone},
		}, to)
		if err != nil {
			t.Fatal(err)
		}
		hit, err := v.Get(t.Context(), kept.ID)
		if err != nil {
			t.Fatal(err)
		}
		return hit.Whole()
	}
	for name, test := range map[string]struct {
		view *View
		to   record.Visibility
		kept bool
	}{
		"private": {dm, record.Private, true},
		"default": {dm, "", true},
		"shared":  {dm, record.Shared, false},
		"group's": {club, "", false},
	} {
		got := store(test.view, test.to)
		for _, contact := range []string{phone, email} {
			if kept := strings.Contains(got, contact); kept != test.kept {
				t.Errorf("%s: keeps %s: %t, want %t in %q", name, contact, kept, test.kept, got)
			}
		}
		if strings.Contains(got, key) {
			t.Errorf("%s: keeps the key in %q", name, got)
		}
	}
	// What was scrubbed for the private memory goes nowhere else.
	private, err := dm.Scrub(record.Memory{Content: content}, record.Private)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dm.Remember(t.Context(), private, Intent{To: record.Shared}); err == nil {
		t.Error("a memory that was scrubbed for the private compartment is kept in the shared one")
	}
	lesson, err := dm.Distill(t.Context(), record.LessonRequest{
		Situation: "Call " + phone, ErrorPattern: "Wrong number", Oversight: "o", Fix: "Write to " + email,
		PreventativeRule: "Check " + phone + " first", Severity: "high", ApplicableScope: "calls", InverseLesson: "i",
	})
	if err == nil && (strings.Contains(lesson.PreventativeRule, phone) || strings.Contains(lesson.Fix, email)) {
		t.Errorf("a lesson keeps contact details: %+v", lesson)
	}
	if err != nil {
		t.Error(err)
	}
}
