package mesh

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub"
)

func sampleLesson() record.LessonRequest {
	return record.LessonRequest{
		Situation: "a deployment was rolled back by hand", ErrorPattern: "missing_rollback_plan",
		Oversight: "nobody wrote the down migration",
		Fix:       "added one", PreventativeRule: "write the rollback plan before migrations run", Severity: "high",
		ApplicableScope: "database migrations",
	}
}

func TestStoreKeepsEveryField(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := open(t, dir, audience.DM(), new(words))
	s := keep(t, v, record.Memory{
		Content: "Ada prefers the train to Lyon.", Type: "event", Source: "chat", Tags: []string{"travel", "Travel", "ada"},
		Importance: new(float32(.5)),
		SessionID:  "s1", Skill: "planning", Rationale: "trips", Hypothesis: "helps booking",
		Metadata: map[string]any{"seat": map[string]any{"row": 7.}},
	})
	switch {
	case !s.Created:
		t.Error("s.Created is false")
	case s.Visibility != record.Private:
		t.Errorf("s.Visibility = %v, want %v", s.Visibility, record.Private)
	case len(s.Redactions) != 0:
		t.Errorf("len(s.Redactions) = %v, want 0", len(s.Redactions))
	}
	want := &record.Record{
		ID: s.ID,
		Memory: record.Memory{
			Content: "Ada prefers the train to Lyon.", Type: "event", Source: "chat",
			Tags: []string{"travel", "ada"}, Importance: new(float32(.5)), SessionID: "s1", Skill: "planning",
			Rationale: "trips", Hypothesis: "helps booking", Metadata: map[string]any{"seat": map[string]any{"row": 7.}},
		},
		AgentID:   "tester",
		CreatedAt: s.CreatedAt,
		Seq:       1,
	}
	for _, view := range []*View{v, open(t, dir, audience.DM(), new(words))} {
		got, err := view.Get(t.Context(), s.ID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got.Record); diff != "" || got.Visibility != record.Private {
			t.Errorf("record in %s (-want +got):\n%s", got.Visibility, diff)
		}
	}
}

func TestStoreRefuses(t *testing.T) {
	t.Parallel()
	dm, team := audience.DM(), group(t, "team")
	deep := map[string]any{"a": []any{map[string]any{"__proto__": 1}}}
	for name, test := range map[string]struct {
		audience audience.Audience
		memory   record.Memory
		to       record.Visibility
		want     []string
	}{
		"nothing": {dm, record.Memory{Content: " \n\t"}, "", []string{"content:"}},
		"too long": {
			dm,
			record.Memory{Content: strings.Repeat("x", record.MaxContent+1)},
			"",
			[]string{fmt.Sprintf("content: %d bytes", record.MaxContent+1), fmt.Sprint(record.MaxContent, " bytes")},
		},
		"only a secret": {
			dm,
			record.Memory{Content: "my password is hunter2-Xy9!kLm"},
			"",
			[]string{"content:", "secret"},
		},
		"unknown type": {
			dm,
			record.Memory{Content: "x", Type: "note"},
			"",
			[]string{"type: use one of global, session"},
		},
		"importance": {
			dm,
			record.Memory{Content: "x", Importance: new(float32(1.5))},
			"",
			[]string{"importance:", "between 0 and 1"},
		},
		"long field": {
			dm,
			record.Memory{Content: "x", Rationale: strings.Repeat("é", record.MaxField+1)},
			"",
			[]string{"rationale: 2001 characters", "2000"},
		},
		"field not UTF-8": {dm, record.Memory{Content: "x", Source: "\xff"}, "", []string{"source:", "UTF-8"}},
		"too many tags": {
			dm,
			record.Memory{Content: "x", Tags: make([]string, record.MaxTags+1)},
			"",
			[]string{"tags: 33"},
		},
		"long tag": {
			dm,
			record.Memory{Content: "x", Tags: []string{strings.Repeat("t", record.MaxTag+1)}},
			"",
			[]string{"tags:", "64"},
		},
		"empty tag": {dm, record.Memory{Content: "x", Tags: []string{" "}}, "", []string{"tags:", "empty"}},
		"metadata too large": {dm, record.Memory{
			Content:  "x",
			Metadata: map[string]any{"k": strings.Repeat("x", record.MaxMetadata)},
		}, "", []string{"metadata:", "16384"}},
		"__proto__": {
			dm,
			record.Memory{Content: "x", Metadata: map[string]any{"__proto__": 1}},
			"",
			[]string{`"__proto__"`, "metadata"},
		},
		"constructor": {
			dm,
			record.Memory{Content: "x", Metadata: map[string]any{"constructor": 1}},
			"",
			[]string{`"constructor"`},
		},
		"prototype deep": {
			dm,
			record.Memory{Content: "x", Metadata: map[string]any{"a": map[string]any{"prototype": 1}}},
			"",
			[]string{`"prototype"`, "metadata.a"},
		},
		"in a list":         {dm, record.Memory{Content: "x", Metadata: deep}, "", []string{`"__proto__"`, "metadata.a[0]"}},
		"DM into a group":   {dm, record.Memory{Content: "x"}, "group:team", []string{"visibility:", "private", "shared"}},
		"group private":     {team, record.Memory{Content: "x"}, record.Private, []string{"visibility:", "its own"}},
		"group shared":      {team, record.Memory{Content: "x"}, record.Shared, []string{"visibility:", "its own"}},
		"group other group": {team, record.Memory{Content: "x"}, "group:other", []string{"visibility:", "its own"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			_, err := open(t, dir, test.audience, new(words)).Store(t.Context(), test.memory, test.to)
			wantFault(t, err, test.want...)
			if names := tree(t, dir); len(names) != 1 {
				t.Errorf("a refused memory left %v", names[1:])
			}
		})
	}
}

func TestStoringAgainReturnsTheFirst(t *testing.T) {
	t.Parallel()
	v := open(t, t.TempDir(), audience.DM(), new(words))
	first := keep(t, v, record.Memory{Content: "Tea at four.", SessionID: "a"})
	for name, test := range map[string]struct {
		memory record.Memory
		to     record.Visibility
		same   bool
	}{
		"again":         {record.Memory{Content: "Tea at four.", SessionID: "a", Tags: []string{"later"}}, "", true},
		"other session": {record.Memory{Content: "Tea at four.", SessionID: "b"}, "", false},
		"other type":    {record.Memory{Content: "Tea at four.", SessionID: "a", Type: "event"}, "", false},
		"other place":   {record.Memory{Content: "Tea at four.", SessionID: "a"}, record.Shared, false},
		"other text":    {record.Memory{Content: "Tea at five.", SessionID: "a"}, "", false},
	} {
		s := keep(t, v, test.memory, test.to)
		if (s.ID == first.ID) != test.same || s.Created == test.same {
			t.Errorf("%s: id %s (first %s), created %v", name, s.ID, first.ID, s.Created)
		}
	}
}

// What is redacted must not reach the disk in any form, nor the embedder.
func TestRedactionComesBeforeTheDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := new(recorder)
	v := open(t, dir, audience.DM(), e)
	const mail, card = "grace.hopper@navy.example.org", "4111 1111 1111 1111"
	s := keep(t, v, record.Memory{
		Content: "Grace answers at " + mail + " and pays with " + card + ".", Source: mail, Tags: []string{"contact " + mail},
		Rationale: "asked " + mail, Metadata: map[string]any{"to": []any{mail}, mail: "key"},
	})
	if diff := cmp.Diff([]scrub.Redaction{{Kind: scrub.Card, Count: 1}, {Kind: scrub.Email, Count: 6}},
		s.Redactions); diff != "" {
		t.Errorf("redactions (-want +got):\n%s", diff)
	}
	search(t, v, SearchRequest{Query: "how do I reach " + mail + "?"})
	settle(t, v)
	for _, secret := range []string{mail, card, "4111111111111111", "grace.hopper"} {
		if files := onDisk(t, dir, secret); len(files) > 0 {
			t.Errorf("%q is in %v", secret, files)
		}
		if e.saw(secret) {
			t.Errorf("the embedder got %q", secret)
		}
	}
	if files := onDisk(t, filepath.Join(dir, ".yamo", "private", "lance"), "Grace answers at"); len(files) == 0 {
		t.Error("the search of raw files does not even find what must be there")
	}
}

func TestDistill(t *testing.T) {
	t.Parallel()
	v := open(t, t.TempDir(), audience.DM(), new(words))
	first, err := v.Distill(t.Context(), sampleLesson())
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case !first.Created:
		t.Error("first.Created is false")
	case first.RuleConfidence != record.DefaultConfidence:
		t.Errorf("first.RuleConfidence = %v, want %v", first.RuleConfidence, record.DefaultConfidence)
	case first.PatternID != record.PatternID("missing_rollback_plan", "database migrations"):
		t.Errorf("first.PatternID = %v, want %v", first.PatternID,
			record.PatternID("missing_rollback_plan", "database migrations"))
	}
	if !strings.Contains(first.WireFormat, "intent: distill_wisdom_from_execution;") ||
		!strings.Contains(first.WireFormat, first.LessonID) {
		t.Errorf("wire format:\n%s", first.WireFormat)
	}
	less := sampleLesson()
	less.Confidence = new(.6)
	switch again, err := v.Distill(t.Context(), less); {
	case err != nil:
		t.Fatal(err)
	case again.Created:
		t.Error("again.Created is true")
	case again.LessonID != first.LessonID:
		t.Errorf("again.LessonID = %v, want %v", again.LessonID, first.LessonID)
	}
	more := sampleLesson()
	more.Confidence, more.PreventativeRule = new(.9), "no migration without a rollback plan"
	better, err := v.Distill(t.Context(), more)
	switch {
	case err != nil:
		t.Fatal(err)
	case !better.Created:
		t.Error("better.Created is false")
	case better.Supersedes != first.LessonID:
		t.Errorf("better.Supersedes = %v, want %v", better.Supersedes, first.LessonID)
	}
	weak := sampleLesson()
	weak.ErrorPattern, weak.Confidence = "other_pattern", new(.2)
	if _, err := v.Distill(t.Context(), weak); err != nil {
		t.Fatal(err)
	}
	rules := func() (rules []string) {
		for _, h := range search(t, v, SearchRequest{Query: "migrations and rollback", IncludeLessons: true}).Lessons {
			rules = append(rules, h.Lesson.PreventativeRule)
		}
		return rules
	}
	if diff := cmp.Diff([]string{more.PreventativeRule}, rules()); diff != "" {
		t.Errorf("active lessons (-want +got):\n%s", diff)
	}
	// Without the better one the one before it is active again.
	if err := v.Delete(t.Context(), better.MemoryID, ""); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{sampleLesson().PreventativeRule}, rules()); diff != "" {
		t.Errorf("active lessons after a deletion (-want +got):\n%s", diff)
	}
}

func TestDistillRefuses(t *testing.T) {
	t.Parallel()
	v := open(t, t.TempDir(), audience.DM(), new(words))
	for field, change := range map[string]func(*record.LessonRequest){
		"situation":         func(q *record.LessonRequest) { q.Situation = " " },
		"error_pattern":     func(q *record.LessonRequest) { q.ErrorPattern = "" },
		"oversight":         func(q *record.LessonRequest) { q.Oversight = "" },
		"fix":               func(q *record.LessonRequest) { q.Fix = "" },
		"preventative_rule": func(q *record.LessonRequest) { q.PreventativeRule = "" },
		"applicable_scope":  func(q *record.LessonRequest) { q.ApplicableScope = "" },
		"severity":          func(q *record.LessonRequest) { q.Severity = "urgent" },
		"confidence":        func(q *record.LessonRequest) { q.Confidence = new(1.1) },
		"inverse_lesson":    func(q *record.LessonRequest) { q.InverseLesson = strings.Repeat("x", record.MaxField+1) },
	} {
		q := sampleLesson()
		change(&q)
		_, err := v.Distill(t.Context(), q)
		wantFault(t, err, field+":")
	}
}

func TestClosedViewRefuses(t *testing.T) {
	t.Parallel()
	v := Open(Options{Dir: t.TempDir() + "/.yamo", Audience: audience.DM(), Embedder: new(words)})
	keep(t, v, record.Memory{Content: "before"})
	if err := v.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, storeErr := v.Store(t.Context(), record.Memory{Content: "after"}, "")
	_, searchErr := v.Search(t.Context(), SearchRequest{Query: "before"})
	_, distillErr := v.Distill(t.Context(), sampleLesson())
	_, getErr := v.Get(t.Context(), "mem_1_000000")
	for name, err := range map[string]error{
		"store": storeErr, "search": searchErr, "distill": distillErr, "get": getErr,
		"delete": v.Delete(t.Context(), "mem_1_000000", ""), "rebuild": v.Maintenance().Rebuild(t.Context(), nil),
	} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s after close: %v, want ErrClosed", name, err)
		}
	}
	if err := v.Close(t.Context()); err != nil {
		t.Errorf("second close: %v", err)
	}
}
