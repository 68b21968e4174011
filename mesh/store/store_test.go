package store

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/vector"
)

var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// projection returns an empty projection whose lessons are active for a year.
func projection(t *testing.T) *Projection {
	t.Helper()
	p := NewProjection(record.Private, vector.Open(filepath.Join(t.TempDir(), "vectors.f32"), "none", 2))
	p.Retention = 365 * 24 * time.Hour
	return p
}

// process opens the compartment in dir as another process would.
func process(dir string) *Compartment {
	l := ledger.New(ledger.Options{
		Path: filepath.Join(dir, "ledger.ndjson"), Name: "private", Lock: filepath.Join(dir, "lock"),
		Key: func(bool) ([]byte, error) { return make([]byte, 32), nil },
	})
	return New(record.Private, l, vector.Open(filepath.Join(dir, "vectors.f32"), "none", 2), time.Hour)
}

// drafts is a Prepare that always drafts the same.
func drafts(list ...ledger.Draft) Prepare {
	return func(*Snapshot, time.Time) ([]ledger.Draft, error) { return list, nil }
}

func retain(id, content string) ledger.Draft {
	return ledger.Draft{Op: OpRetain, ID: id, Data: &record.Record{ID: id, Memory: record.Memory{Content: content}}}
}

// contents are the live memories' contents, in order.
func contents(p *Projection) (list []string) {
	s := p.Snapshot()
	defer s.Release()
	for r := range s.Memories() {
		list = append(list, r.Content)
	}
	return list
}

func TestAppendIsSeenByEveryProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one, two := process(dir), process(dir)
	if err := one.Append(t.Context(), drafts(retain("mem_1_a", "first"), retain("mem_2_b", "second"))); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"first", "second"}, contents(one.Projection)); diff != "" {
		t.Errorf("the writer (-want +got):\n%s", diff)
	}
	if got := contents(two.Projection); got != nil {
		t.Errorf("before Sync, another process has %q", got)
	}
	if err := two.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"first", "second"}, contents(two.Projection)); diff != "" {
		t.Errorf("another process (-want +got):\n%s", diff)
	}
}

// Prepare decides with everything that other processes wrote, even if its own process has not read it before.
func TestPrepareSeesWhatOthersWrote(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one, two := process(dir), process(dir)
	if err := one.Append(t.Context(), drafts(retain("mem_1_a", "the same text"))); err != nil {
		t.Fatal(err)
	}
	err := two.Append(t.Context(), func(s *Snapshot, _ time.Time) ([]ledger.Draft, error) {
		if s.Twin(&record.Record{Memory: record.Memory{Content: "the same text"}}) == nil {
			t.Error("the memory of the other process is not seen")
		}
		return nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestNothingDraftedNothingWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := process(dir)
	failure := errors.New("refused")
	if err := c.Append(t.Context(), drafts()); err != nil {
		t.Errorf("without drafts: %v", err)
	}
	refuse := func(*Snapshot, time.Time) ([]ledger.Draft, error) { return nil, failure }
	if err := c.Append(t.Context(), refuse); !errors.Is(err, failure) {
		t.Errorf("a refusal: %v", err)
	}
	if info, err := os.Stat(filepath.Join(dir, "ledger.ndjson")); err == nil && info.Size() > 0 {
		t.Errorf("the ledger has %d bytes", info.Size())
	}
}

// Erase removes the text from the file and from memory, and the id can be told from one that never was.
func TestErase(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := process(dir)
	if err := c.Append(t.Context(), drafts(retain("mem_1_a", "to be erased"), retain("mem_2_b", "kept"))); err != nil {
		t.Fatal(err)
	}
	if err := c.Erase(t.Context(), drafts(ledger.Draft{Op: ledger.OpDelete, ID: "mem_1_a"})); err != nil {
		t.Fatal(err)
	}
	other := process(dir)
	if err := other.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]*Projection{"the eraser": c.Projection, "another process": other.Projection} {
		if diff := cmp.Diff([]string{"kept"}, contents(p)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		s := p.Snapshot()
		if !s.ErasedSince("mem_1_a", record.Moment{}) {
			t.Errorf("%s does not know that it was erased", name)
		}
		if s.ErasedSince("mem_2_b", record.Moment{}) {
			t.Errorf("%s takes the kept memory for erased", name)
		}
		s.Release()
	}
	raw, err := os.ReadFile(filepath.Join(dir, "ledger.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(raw), "to be erased") {
		t.Error("the text is still in the file")
	}
}

func TestDamageLeavesWhatIsBefore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := process(dir).Append(t.Context(), drafts(retain("mem_1_a", "one"), retain("mem_2_b", "two"))); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "ledger.ndjson")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(raw), `"two"`, `"2wo"`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	c := process(dir)
	var corrupt *ledger.CorruptError
	if err := c.Sync(t.Context()); !errors.As(err, &corrupt) {
		t.Fatalf("Sync: %v, want a CorruptError", err)
	}
	if corrupt.Line != 2 {
		t.Errorf("damage in line %d, want 2", corrupt.Line)
	}
	if diff := cmp.Diff([]string{"one"}, contents(c.Projection)); diff != "" {
		t.Errorf("before the damage (-want +got):\n%s", diff)
	}
}

// A later version may add operations: they are skipped, and what follows is applied.
func TestUnknownOperationIsSkipped(t *testing.T) {
	t.Parallel()
	c := process(t.TempDir())
	err := c.Append(t.Context(), drafts(ledger.Draft{Op: "of_the_future", ID: "x"}, retain("mem_1_a", "after")))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"after"}, contents(c.Projection)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRecallsAreCounted(t *testing.T) {
	t.Parallel()
	c := process(t.TempDir())
	recall := ledger.Draft{Op: OpRecall, Data: Recall{Found: []string{"mem_1_a", "elsewhere"}}}
	if err := c.Append(t.Context(), drafts(retain("mem_1_a", "one"), retain("mem_2_b", "two"))); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := c.AppendRelaxed(t.Context(), drafts(recall)); err != nil {
			t.Fatal(err)
		}
	}
	s := c.Snapshot()
	for id, want := range map[string]int32{"mem_1_a": 3, "elsewhere": 3, "mem_2_b": 0} {
		a := s.Accesses(id)
		if a.Count != want {
			t.Errorf("%s was found %d times, want %d", id, a.Count, want)
		}
		if a.Last.IsZero() != (want == 0) {
			t.Errorf("%s was found last at %v", id, a.Last)
		}
	}
	s.Release()
	// Only what has a row in this compartment's table is revised.
	if diff := cmp.Diff(map[string]struct{}{"mem_1_a": {}}, c.TakeRevised()); diff != "" {
		t.Errorf("revised (-want +got):\n%s", diff)
	}
	if again := c.TakeRevised(); len(again) > 0 {
		t.Errorf("taken twice: %v", again)
	}
}

// A heritage that comes later does not change the record that a reader already has.
func TestHeritageReplacesTheRecord(t *testing.T) {
	t.Parallel()
	c := process(t.TempDir())
	if err := c.Append(t.Context(), drafts(retain("mem_1_a", "one"))); err != nil {
		t.Fatal(err)
	}
	find := func() *record.Record {
		s := c.Snapshot()
		defer s.Release()
		return s.Find("mem_1_a")
	}
	before := find()
	want := record.Heritage{IntentChain: []string{"why"}}
	err := c.Append(t.Context(), drafts(
		ledger.Draft{Op: OpHeritage, ID: "mem_1_a", Data: want},
		ledger.Draft{Op: OpHeritage, ID: "unknown", Data: want},
	))
	if err != nil {
		t.Fatal(err)
	}
	if before.Heritage != nil {
		t.Error("the reader's record has changed")
	}
	if diff := cmp.Diff(&want, find().Heritage); diff != "" {
		t.Errorf("heritage (-want +got):\n%s", diff)
	}
}

// A snapshot does not change while another goroutine syncs; what that has read is there after the release.
func TestWritersWaitForSnapshots(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := process(dir).Append(t.Context(), drafts(retain("mem_1_a", "one"))); err != nil {
		t.Fatal(err)
	}
	c := process(dir)
	s := c.Snapshot()
	done := make(chan error)
	go func() { done <- c.Sync(context.WithoutCancel(t.Context())) }()
	if s.Live != 0 || len(s.Docs) != 0 {
		t.Error("a snapshot has changed")
	}
	s.Release()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"one"}, contents(c.Projection)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What an earlier version kept with invisible characters is read without them, in every kind of entry.
func TestFieldsAreReadClean(t *testing.T) {
	t.Parallel()
	const dirty = "a\u202eb\U000e0041c\u200bd\ne"
	memory := record.Memory{
		Content: "text", Source: dirty, SessionID: dirty, Rationale: dirty, Hypothesis: dirty, Skill: dirty,
		Tags: []string{dirty}, Metadata: map[string]any{dirty: []any{map[string]any{dirty: dirty}}},
	}
	c := process(t.TempDir())
	err := c.Append(t.Context(), drafts(
		ledger.Draft{Op: OpRetain, ID: "mem_1", Data: &record.Record{ID: "mem_1", Memory: memory}},
		ledger.Draft{Op: OpRetain, ID: "mem_2", Data: &record.Record{ID: "mem_2", Memory: record.Memory{Content: "x"}}},
		ledger.Draft{Op: OpUpdate, ID: "mem_2", Data: memory},
		ledger.Draft{Op: OpLesson, ID: "mem_3", Data: &record.Record{
			ID: "mem_3", Memory: memory, Lesson: &record.Lesson{PreventativeRule: dirty, ApplicableScope: dirty, Fix: dirty},
		}},
		ledger.Draft{Op: OpSkill, ID: "skill_1", Data: &record.Skill{ID: "skill_1", Name: dirty, Intent: dirty, Text: dirty}},
		ledger.Draft{Op: OpHeritage, ID: "mem_1", Data: &record.Heritage{IntentChain: []string{dirty}}},
	))
	if err != nil {
		t.Fatal(err)
	}
	s := c.Snapshot()
	defer s.Release()
	var shown []any
	for r := range s.Memories() {
		shown = append(shown, r, r.Heritage)
	}
	shown = append(shown, s.Skills.Named("abcd e"))
	data, err := json.Marshal(shown)
	if err != nil {
		t.Fatal(err)
	}
	if found := strings.ContainsAny(string(data), "\u202e\U000e0041\u200b"); found {
		t.Errorf("invisible characters: %+q", data)
	}
	// Source, session, rationale, hypothesis, skill, tag, two keys of three memories; lesson, skill and heritage.
	if n := strings.Count(string(data), `"abcd e"`); n != 3*8+3+2+1 {
		t.Errorf("%d fields in one line, want 30: %s", n, data)
	}
}
