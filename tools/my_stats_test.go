package tools

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/transcript"
)

// noModel acts like a machine on which the model is not installed.
type noModel struct{}

func (noModel) Embed(context.Context, []string) ([][]float32, error) { return nil, embed.ErrNoAssets }

func (noModel) Model() embed.Model { return embed.Model{Name: "none", Dim: 384} }

// memoryOf is the memory of v's audience in f.
func (f *folder) memoryOf(t *testing.T, v *workspace.View) *mesh.View {
	t.Helper()
	memory := mesh.Open(mesh.Options{
		Dir: filepath.Join(f.Dir(), ".yamo"), Audience: v.Audience(), AgentID: "kate", Embedder: noModel{},
		Logger: slog.New(slog.DiscardHandler), Now: func() time.Time { return f.now },
	})
	t.Cleanup(func() {
		if err := memory.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return memory
}

func TestMyStats(t *testing.T) {
	t.Parallel()
	f := sampleFolder(t, "kate")
	f.write(t, "MEMORY.md", "## Dreamed 2026-02-01 03:00 UTC\n- One\n- Two\n")
	logs, err := transcript.Open(filepath.Join("..", "testdata", "workspaces", "kate-transcripts"), transcript.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := logs.Close(); err != nil {
			t.Error(err)
		}
	}()
	dm, group := f.dm(), f.group(t, "hiking")
	memories, groups := f.memoryOf(t, dm), f.memoryOf(t, group)
	store := func(memory *mesh.View, content string, tags ...string) {
		if _, err := memory.Store(t.Context(), record.Memory{Content: content, Tags: tags}, ""); err != nil {
			t.Fatal(err)
		}
	}
	search := func(memory *mesh.View, times int) {
		for range times {
			if _, err := memory.Search(t.Context(), mesh.SearchRequest{Query: "the greenhouse"}); err != nil {
				t.Fatal(err)
			}
		}
	}
	f.now = valentine.AddDate(0, 0, -8)
	store(memories, "The greenhouse was painted.", "paint")
	search(memories, 5)
	f.now = valentine.AddDate(0, 0, -6)
	store(memories, "The greenhouse gets glass.", "greenhouse", "glass")
	store(memories, "The greenhouse door sticks.", "greenhouse")
	store(groups, "The walk starts at the chapel.", "walks")
	search(memories, 2)
	search(groups, 3)
	f.now = valentine

	got := answer[stats](t, MyStats(dm, memories, logs.View(dm.Audience())), `{}`)
	want := stats{
		SessionsTotal: 4, MemoriesStored: 4, MemoriesPromoted: 2,
		LastDreamTS: time.Date(2026, 2, 1, 3, 0, 0, 0, time.UTC).Unix(), RecallEvents7d: 2,
		TopConceptTags7d: []tagCount{{"greenhouse", 2}, {"glass", 1}, {"walks", 1}},
		WorkspaceFilesSeen: []string{
			"AGENTS.md", "HEARTBEAT.md", "IDENTITY.md", "MEMORY.md", "SOUL.md", "TOOLS.md",
			"USER.md",
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("DM (-want +got):\n%s", diff)
	}
	got = answer[stats](t, MyStats(group, groups, logs.View(group.Audience())), `{}`)
	want = stats{
		SessionsTotal: 1, MemoriesStored: 1, RecallEvents7d: 3, TopConceptTags7d: []tagCount{{"walks", 1}},
		WorkspaceFilesSeen: []string{"AGENTS.md", "IDENTITY.md", "SOUL.md"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("group (-want +got):\n%s", diff)
	}
	for i := range 20 {
		store(memories, fmt.Sprintf("Memory %d.", i), fmt.Sprintf("tag-%02d", i))
	}
	if got := answer[stats](t, MyStats(dm, memories, nil), `{}`); len(got.TopConceptTags7d) != 10 ||
		got.SessionsTotal != 0 {
		t.Errorf("%+v", got)
	}
	refusal(t, MyStats(dm, memories, nil), `{"days":30}`)
}
