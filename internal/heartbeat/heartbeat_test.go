package heartbeat

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/dream"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// noModel is the embedder of a machine without a model.
type noModel struct{}

func (noModel) Model() embed.Model { return embed.Model{Name: "none", Dim: 8} }
func (noModel) Embed(context.Context, []string) ([][]float32, error) {
	return nil, embed.ErrNoAssets
}

// fixture is a heartbeat over an empty workspace, whose time is now.
type fixture struct {
	Heartbeat
	dir string
	now time.Time
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{dir: t.TempDir(), now: time.Date(2026, 4, 20, 3, 0, 0, 0, time.UTC)}
	clock := func() time.Time { return f.now }
	w, err := workspace.Open(f.dir, workspace.WithClock(clock))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	private := filepath.Join(f.dir, ".yamo")
	f.Workspace = w.View(audience.DM())
	f.Memory = mesh.Open(mesh.Options{
		Dir: private, Audience: audience.DM(), AgentID: "kate", Embedder: noModel{}, Now: clock,
	})
	t.Cleanup(func() { _ = f.Memory.Close(context.Background()) })
	if f.Editor, err = edit.Open(edit.Options{View: f.Workspace, Dir: private, Now: clock}); err != nil {
		t.Fatal(err)
	}
	f.Dreams, err = dream.Open(dream.Options{
		Memory: f.Memory, Workspace: f.Workspace, Editor: f.Editor, Dir: private, AgentID: "kate",
		Thresholds: dream.Thresholds{Score: .1, Hits: 3, Days: 3},
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *fixture) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(f.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// beat is a beat whose checks are due after a day.
func (f *fixture) beat(t *testing.T) Beat {
	t.Helper()
	b, err := f.Beat(t.Context(), 24*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// store keeps a memory.
func (f *fixture) store(t *testing.T, m record.Memory) {
	t.Helper()
	if _, err := f.Memory.Store(t.Context(), m, ""); err != nil {
		t.Fatal(err)
	}
}

// recall finds what the query is about once a day for three days.
func (f *fixture) recall(t *testing.T, query string) {
	t.Helper()
	for range 3 {
		if _, err := f.Memory.Search(t.Context(), mesh.SearchRequest{Query: query}); err != nil {
			t.Fatal(err)
		}
		f.now = f.now.Add(24 * time.Hour)
	}
}

func TestChecksAreDue(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	last := f.now.Add(-5 * time.Hour)
	f.write(t, "HEARTBEAT.md", "# Heartbeat\n\n- [ ] Look at the mail\n")
	f.write(t, "memory/heartbeat-state.json", fmt.Sprintf(`{"lastChecks":{"email":%d,"weather":null}}`, last.Unix()))
	for _, test := range []struct {
		every time.Duration
		email bool
	}{
		{0, true},
		{5*time.Hour - time.Second, true},
		{5 * time.Hour, true},
		{5*time.Hour + time.Second, false},
	} {
		b, err := f.Beat(t.Context(), test.every)
		if err != nil {
			t.Fatal(err)
		}
		due := map[string]bool{}
		for _, c := range b.Checks {
			due[c.Name] = c.Due
		}
		if due["email"] != test.email {
			t.Errorf("every %v: email due is %v", test.every, due["email"])
		}
		if !due["weather"] {
			t.Errorf("every %v: weather, which was never done, is not due", test.every)
		}
		if len(b.Tasks) != 1 {
			t.Errorf("every %v: tasks are %v", test.every, b.Tasks)
		}
	}
}

func TestBeatRefusesUnreadableState(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write(t, "memory/heartbeat-state.json", `{"lastChecks": "x"}`)
	if _, err := f.Beat(t.Context(), time.Hour); !errors.Is(err, workspace.ErrHeartbeatState) {
		t.Errorf("error is %v", err)
	}
}

// Both of a beat's own checks run at the first beat, and again after their intervals.
func TestBeatRunsItsOwnChecks(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	type ran struct{ Cycle, Sweep bool }
	start := f.now
	for _, test := range []struct {
		after time.Duration // the first beat
		want  ran
	}{
		{0, ran{Cycle: true, Sweep: true}},
		{DistillInterval - time.Second, ran{}},
		{DistillInterval, ran{Cycle: true}},
		{DreamInterval - time.Second, ran{Cycle: true}},
		{DreamInterval, ran{Sweep: true}},
	} {
		f.now = start.Add(test.after)
		b := f.beat(t)
		if diff := cmp.Diff(test.want, ran{Cycle: b.Cycle != nil, Sweep: b.Sweep != nil}); diff != "" {
			t.Errorf("after %v: %s", test.after, diff)
		}
		names := []string{}
		for _, c := range b.Checks {
			names = append(names, c.Name)
			if c.Due || c.Every != ownIntervals[c.Name] {
				t.Errorf("after %v: listed as %+v", test.after, c)
			}
		}
		if diff := cmp.Diff([]string{DistillCheck, DreamCheck}, names); diff != "" {
			t.Errorf("after %v: recorded checks: %s", test.after, diff)
		}
	}
	f.Dreams, f.now = nil, start.Add(365*24*time.Hour)
	if b := f.beat(t); b.Sweep != nil {
		t.Errorf("a beat that does not dream swept: %+v", b.Sweep)
	}
}

// A time in the future, which a wrong clock has left, keeps a beat's own checks from nothing.
func TestBeatAfterAWrongClock(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	now := f.now
	f.now = now.AddDate(1, 0, 0)
	f.beat(t)
	f.now = now
	if b := f.beat(t); b.Cycle == nil || b.Sweep == nil {
		t.Errorf("the beat is %+v", b)
	}
	if b := f.beat(t); b.Cycle != nil || b.Sweep != nil {
		t.Errorf("the beat after it is %+v", b)
	}
}

func TestBeatDistills(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.store(t, record.Memory{Content: "It failed", Metadata: map[string]any{
		"status": "error", "error_pattern": "p", "oversight": "o", "fix": "f",
		"preventative_rule": "Look first", "severity": "high", "applicable_scope": "s",
	}})
	b := f.beat(t)
	if b.Cycle == nil || len(b.Cycle.Candidates) != 1 {
		t.Fatalf("cycle is %+v", b.Cycle)
	}
	if got := b.Cycle.Candidates[0].Rule; got != "Look first" {
		t.Errorf("rule is %q", got)
	}
	text, err := f.Memory.Constraints(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text, "Look first") {
		t.Errorf("active lessons are %q", text)
	}
}

func TestBeatSweeps(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.store(t, record.Memory{Content: "The zebra pump is blue"})
	f.store(t, record.Memory{Content: "Always send the zebra report to Eve"})
	f.recall(t, "blue zebra pump")
	f.recall(t, "send zebra report Eve")
	b := f.beat(t)
	if b.Sweep == nil {
		t.Fatal("no sweep")
	}
	if len(b.Sweep.Promote) != 1 || b.Sweep.Promote[0].Text != "The zebra pump is blue" {
		t.Errorf("promoted %+v", b.Sweep.Promote)
	}
	if len(b.Sweep.Held) != 1 { // it reads like an instruction
		t.Errorf("held %+v", b.Sweep.Held)
	}
	if b.Sweep.Problem != "" {
		t.Errorf("problem is %q", b.Sweep.Problem)
	}

	// A locked MEMORY.md is the sweep's problem; the rest of the beat is done, and the sweep is tried a day later.
	if _, err := f.Editor.SetPin(t.Context(), "MEMORY.md", edit.OpLock, "operator"); err != nil {
		t.Fatal(err)
	}
	f.store(t, record.Memory{Content: "The walrus pump is red"})
	f.recall(t, "red walrus pump")
	b = f.beat(t)
	if b.Sweep == nil || !strings.Contains(b.Sweep.Problem, "locked") {
		t.Errorf("sweep of a locked file: %+v", b.Sweep)
	}
	if b.Cycle == nil {
		t.Error("the cycle did not run")
	}
	if b = f.beat(t); b.Sweep != nil {
		t.Errorf("swept again at once: %+v", b.Sweep)
	}
}

func TestBeatCountsPendingProposals(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	proposed, err := f.Editor.Edit(t.Context(), edit.Request{
		File: workspace.MemoryFile, Actor: "kate", Propose: true,
		Edit: grammar.Edit{
			Op: grammar.AppendItem, Section: "Sayings", Items: []string{"Measure twice."}, Create: true,
			Rationale: "r",
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if b := f.beat(t); b.PendingProposals != 1 {
		t.Errorf("%d proposals are pending, want 1", b.PendingProposals)
	}
	if _, err := f.Editor.RejectProposal(t.Context(), proposed.Event.ID, "operator", ""); err != nil {
		t.Fatal(err)
	}
	if b := f.beat(t); b.PendingProposals != 0 {
		t.Errorf("%d proposals are pending after the decision", b.PendingProposals)
	}
	f.Editor = nil
	if b := f.beat(t); b.PendingProposals != 0 {
		t.Errorf("%d proposals are pending without an editor", b.PendingProposals)
	}
}
