package session

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/workspace"
)

// A MEMORY.md that has grown too large to be read as a resource is still searched, from its beginning.
func TestLargeFilesAreSearched(t *testing.T) {
	dir := t.TempDir()
	text := "# Memory\n\nThe first fact.\n\n## Much\n\n" + strings.Repeat("- é\n", workspace.MaxFileSize/4) +
		"\n## Late\n\nThe last fact.\n"
	if err := os.WriteFile(filepath.Join(dir, workspace.MemoryFile), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	folder, err := workspace.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close() //nolint:errcheck // it was only read
	content, err := searchedFiles{folder.View(audience.DM())}.Read(t.Context(), workspace.MemoryFile)
	passages := content.Passages
	if err != nil || len(passages) != 2 || len(passages[1].Text) < workspace.MaxFileSize/2 {
		t.Fatalf("%d passages, %v", len(passages), err)
	}
	if first := passages[0]; !strings.Contains(first.Text, "The first fact.") {
		t.Errorf("the first passage is %.200q", first.Text)
	}
	if last := passages[len(passages)-1]; last.Heading != "Much" {
		t.Errorf("the last passage is of %q", last.Heading)
	}
}

// noModel is an embedder without a model.
type noModel struct{}

func (noModel) Embed(context.Context, []string) ([][]float32, error) { return nil, embed.ErrNoAssets }

func (noModel) Model() embed.Model { return embed.Model{Name: "none", Dim: 2} }

// Files are found by their text whatever they are called, and filtered by their front matter; a group has none of them.
func TestFilesAreFound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	names := map[string]string{ // by a word of the file
		"oolong": "USER.md", "quokka": "TOOLS.md", "zephyr": "notes/100% done.md", "isthmus": "notes/My%20Notes.md",
		"marzipan": "notes/cafe\u0301.md", "tundra": "notes/\U0001F469\u200D\U0001F4BB at work.md",
		"walrus": "notes/ What next?.md", "yarrow": "notes/10:30 \"standup\".md", "nimbus": "memory/2026-02-05-pump-log.md",
	}
	for word, name := range names {
		text := "Something about " + word + "."
		if word == "nimbus" {
			text = "---\ndate: 2026-02-05\nsession_id: s-77\ntags: [irrigation]\n" +
				"links: [\"[[notes/cafe|the cafe]]\"]\n---\n" + text
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	folder, err := workspace.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close() //nolint:errcheck // it was only read
	find := func(who audience.Audience, q mesh.SearchRequest) (found []string) {
		t.Helper()
		memory := mesh.Open(mesh.Options{
			Dir: filepath.Join(dir, ".yamo"), Audience: who, Embedder: noModel{}, Files: searched(folder.View(who)),
		})
		defer memory.Close(t.Context()) //nolint:errcheck // it has no files
		answer, err := memory.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, hit := range answer.Hits {
			found = append(found, hit.Source)
		}
		return found
	}
	hiking, err := audience.Group("hiking")
	if err != nil {
		t.Fatal(err)
	}
	for word, name := range names {
		if diff := cmp.Diff([]string{name}, find(audience.DM(), mesh.SearchRequest{Query: word})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", word, diff)
		}
		if found := find(hiking, mesh.SearchRequest{Query: word}); found != nil {
			t.Errorf("a group finds %q", found)
		}
	}
	want := []string{names["nimbus"]}
	for name, q := range map[string]mesh.SearchRequest{
		"tag":     {Query: "something", Tags: []string{"Irrigation"}},
		"session": {Query: "something", SessionID: "s-77"},
		"link":    {Query: "something", Tags: []string{"[[notes/cafe]]"}},
	} {
		if diff := cmp.Diff(want, find(audience.DM(), q)); diff != "" {
			t.Errorf("by %s (-want +got):\n%s", name, diff)
		}
	}
}
