package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/workspace/memfile"
)

// link makes a symbolic link in the workspace.
func link(t *testing.T, w *Workspace, name, target string) {
	t.Helper()
	if err := os.Symlink(target, filepath.Join(w.dir, name)); err != nil {
		t.Fatal(err)
	}
}

// What is not read is named with the reason: by Skipped, by lint, and to the caller who wants to write it.
func TestRefusedFilesAreNamed(t *testing.T) {
	t.Parallel()
	w := folderOf(t, map[string]string{
		"SOUL.md": "You are Kate.", "vault/MEMORY.md": "# Memory\n", "vault/logs/x.md": "x", "TOOLS.md/a": "a folder",
	})
	link(t, w, "MEMORY.md", "vault/MEMORY.md")
	link(t, w, "memory", "vault/logs")
	if err := os.Link(filepath.Join(w.dir, "SOUL.md"), filepath.Join(w.dir, "backup.md")); err != nil {
		t.Fatal(err)
	}
	want := []Skipped{
		{"MEMORY.md", "it is a symbolic link"},
		{"SOUL.md", "it has more than one hard link"},
		{"TOOLS.md", "it is a folder"},
		{"memory/", "the folder memory is a symbolic link"},
	}
	dm := w.View(audience.DM())
	if diff := cmp.Diff(want, dm.Skipped()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	// A group learns only of what it may read.
	if diff := cmp.Diff([]Skipped{want[1], {"memory/2026-02-13-group-a.md", want[3].Reason}, {
		"memory/2026-02-14-group-a.md", want[3].Reason,
	}}, w.View(group(t, "a")).Skipped()); diff != "" {
		t.Errorf("group (-want +got)\n%s", diff)
	}
	findings, err := w.Lint()
	if err != nil {
		t.Fatal(err)
	}
	lint := ""
	for _, f := range findings {
		lint += f.String() + "\n"
	}
	for _, line := range []string{
		"MEMORY.md: error: is not read: it is a symbolic link", "TOOLS.md: error: is not read: it is a folder",
		"SOUL.md: error: is not read: it has more than one hard link",
		"memory: error: is not read: the folder memory is a symbolic link",
	} {
		if !strings.Contains(lint, line) {
			t.Errorf("lint lacks %q:\n%s", line, lint)
		}
	}
	_, appendErr := dm.Journal().Append(t.Context(), "", "x")
	_, saveErr := dm.SaveMemory(t.Context(), Memory{Type: memfile.DailyLog, Topic: "a b", Parts: []Part{{"", "x"}}})
	_, writeErr := dm.Write(t.Context(), MemoryFile, []byte("x"), "")
	_, folderErr := dm.Begin(t.Context(), ToolsFile)
	_, knowErr := dm.Knowledge("")
	_, readErr := dm.Read(MemoryFile)
	for what, err := range map[string]error{
		"append": appendErr, "save": saveErr, "write": writeErr, "folder": folderErr, "knowledge": knowErr,
	} {
		refused, ok := errors.AsType[*RefusedError](err)
		if !ok || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", what, err)
		} else if refused.Reason != "it is a folder" && !strings.Contains(refused.Reason, "symbolic link") {
			t.Errorf("%s: %v", what, refused)
		}
	}
	if got := dm.RefusalOf(ToolsFile); got != "it is a folder" {
		t.Errorf("refusal of a folder: %q", got)
	}
	if got := w.View(group(t, "a")).RefusalOf(MemoryFile); got != "" {
		t.Errorf("a group learns of MEMORY.md: %q", got)
	}
	if _, ok := errors.AsType[*RefusedError](readErr); ok || !errors.Is(readErr, fs.ErrNotExist) {
		t.Errorf("read: %v", readErr)
	}
}

// A topic in any script is in the file, and so much of it in the name as a name can have.
func TestTopicsAreKept(t *testing.T) {
	t.Parallel()
	w := folderOf(t, nil)
	for _, topic := range []string{"日本語の設計", "Проверка оплаты", "🐙🐙", "Große Übergabe", "ταξίδι στην Κρήτη"} {
		for _, kind := range []memfile.Type{memfile.SessionSave, memfile.DailyLog} {
			memory := Memory{Type: kind, Topic: topic, Parts: []Part{{"", "x"}}}
			saved, err := w.View(audience.DM()).SaveMemory(t.Context(), memory)
			if err != nil {
				t.Fatalf("%s: %v", topic, err)
			}
			text := content(t, w, saved.Name)
			if !strings.Contains(text, topic) {
				t.Errorf("%s is not in %s:\n%s", topic, saved.Name, text)
			}
			if found := Check(saved.Name, []byte(text)); len(found) > 0 {
				t.Errorf("lint of %s: %v", saved.Name, found)
			}
			if _, err := w.View(audience.DM()).Read(saved.Name); err != nil {
				t.Errorf("%s cannot be read: %v", saved.Name, err)
			}
		}
	}
}
