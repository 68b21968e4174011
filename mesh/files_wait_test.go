package mesh_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// stuck is a bag that embeds no text with the word "waterfall" before release is closed.
type stuck struct {
	bag

	release chan struct{}
}

func (s *stuck) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if strings.Contains(strings.Join(texts, " "), "waterfall") {
		select {
		case <-s.release:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return s.bag.Embed(ctx, texts)
}

// A DM's search waits for the DM's own files, and not for what a group has written into its log. The group waits for
// its own.
func TestSearchDoesNotWaitForGroupsLogs(t *testing.T) {
	t.Parallel()
	files := &shelf{texts: map[string]string{}}
	files.put("memory/2026-02-14-group-hiking.md", "Walk\nthe waterfall path floods\n\nTent\nunder the waterfall")
	files.put("notes/tea.md", "Tea\noolong in the morning\n\nPump\nthe pump leaks")
	model := &stuck{release: make(chan struct{})}
	var once sync.Once
	let := func() { once.Do(func() { close(model.release) }) }
	t.Cleanup(let)
	v := openWith(t, filepath.Join(t.TempDir(), ".yamo"), audience.DM(), model, files)
	found, err := v.Search(t.Context(), mesh.SearchRequest{Query: "oolong"})
	if err != nil {
		t.Fatal(err)
	}
	if found.Pending != 2 {
		t.Errorf("%d are pending, want the two of the group, after the DM's own", found.Pending)
	}
	// The work on the group's passages goes on; what the DM writes meanwhile comes before the rest of them.
	start := time.Now()
	if _, err := v.Search(t.Context(), mesh.SearchRequest{Query: "morning"}); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("a search took %v while a group's log was embedded", took)
	}
	// Neither does it wait for the vectors of what the group has changed to be removed.
	files.put("memory/2026-02-14-group-hiking.md", "Walk\nthe waterfall path is dry\n\nTent\nunder the waterfall")
	start = time.Now()
	if found, err = v.Search(t.Context(), mesh.SearchRequest{Query: "oolong"}); err != nil || len(found.Hits) == 0 {
		t.Fatalf("found %+v, %v", found, err)
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("a search took %v after a group's log had changed", took)
	}

	who, err := audience.Group("hiking")
	if err != nil {
		t.Fatal(err)
	}
	g := openWith(t, filepath.Join(t.TempDir(), ".yamo"), who, model, files)
	time.AfterFunc(100*time.Millisecond, let)
	if found, err = g.Search(t.Context(), mesh.SearchRequest{Query: "tent"}); err != nil || found.Pending != 0 {
		t.Errorf("a group's search of its own log: %d pending, %v", found.Pending, err)
	}
}

// A DM's search does not wait after a group has replaced so much of its log that the projection is compacted, although
// the group's passages are still being embedded.
func TestSearchDoesNotWaitForAReplacedLog(t *testing.T) {
	t.Parallel()
	files := &shelf{texts: map[string]string{}}
	files.put("notes/tea.md", "Tea\noolong in the morning\n\nPump\nthe pump leaks")
	model := &stuck{release: make(chan struct{})}
	t.Cleanup(func() { close(model.release) })
	v := openWith(t, filepath.Join(t.TempDir(), ".yamo"), audience.DM(), model, files)
	if found, err := v.Search(t.Context(), mesh.SearchRequest{Query: "oolong"}); err != nil || found.Pending != 0 {
		t.Fatalf("%d are pending, %v", found.Pending, err)
	}
	for edit := range 5 {
		var entries []string
		for i := range 600 {
			entries = append(entries, fmt.Sprintf("Walk %d\nthe waterfall path floods, edit %d", i, edit))
		}
		files.put("memory/2026-02-14-group-hiking.md", strings.Join(entries, "\n\n"))
		start := time.Now()
		found, err := v.Search(t.Context(), mesh.SearchRequest{Query: "oolong"})
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("edit %d: the search took %v", edit, took)
		}
		if found.Pending != 600 {
			t.Errorf("edit %d: %d are pending, want the group's 600", edit, found.Pending)
		}
	}
}

// What a group writes into its log does not take all places of a DM's answer.
func TestFloodOfALog(t *testing.T) {
	t.Parallel()
	files := &shelf{texts: map[string]string{}}
	v := openWith(t, filepath.Join(t.TempDir(), ".yamo"), audience.DM(), &bag{}, files)
	const fact = "The second key is with the neighbour."
	if _, err := v.Store(t.Context(), record.Memory{Content: fact}, ""); err != nil {
		t.Fatal(err)
	}
	var entries []string
	const asides = "boots maps tea song chess dog tent frost goats novel ferry rain snow sun wind fog"
	for aside := range strings.FieldsSeq(asides) {
		const entry = "%s\nwhere is the spare key of the hut %[1]s %[1]sing %[1]sed with %[1]sers"
		entries = append(entries, fmt.Sprintf(entry, aside))
	}
	files.put("memory/2026-02-14-group-hiking.md", strings.Join(entries, "\n\n"))
	for _, limit := range []int{3, 4, 10} {
		found, err := v.Search(t.Context(), mesh.SearchRequest{Query: "where is the spare key of the hut", Limit: limit})
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(found.Hits, func(h record.Hit) bool { return h.Content == fact })
		if at < 0 || at > 3 || len(found.Hits) < limit {
			t.Errorf("limit %d: the fact has place %d of %d", limit, at, len(found.Hits))
		}
	}
}

// A DM's search of skills waits for the DM's own, and not for those that a group has made.
func TestSearchDoesNotWaitForGroupsSkills(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), ".yamo")
	who, err := audience.Group("hiking")
	if err != nil {
		t.Fatal(err)
	}
	model := &stuck{release: make(chan struct{})}
	t.Cleanup(func() { close(model.release) })
	v, g := openWith(t, dir, audience.DM(), model, nil), openWith(t, dir, who, model, nil)
	for view, text := range map[*mesh.View]string{
		g: "---\nname: cross\nintent: cross the waterfall\ndescription: d\n---\nSlowly.\n",
		v: "---\nname: brew\nintent: brew oolong\ndescription: d\n---\nTwice.\n",
	} {
		if _, err := view.Skills().Ingest(t.Context(), mesh.SkillRequest{Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	start := time.Now()
	found, err := v.Skills().Search(t.Context(), "brew oolong", 0)
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("the search took %v", took)
	}
	if found.Pending != 1 || len(found.Skills) == 0 || found.Skills[0].Name != "brew" || found.Skills[0].Vector == 0 {
		t.Errorf("%d are pending, want that of the group; found %+v", found.Pending, found.Skills)
	}
	if found, err = v.Skills().Search(t.Context(), "cross", 0); err != nil || len(found.Skills) != 1 {
		t.Errorf("by its name: %+v, %v", found.Skills, err)
	}
}
