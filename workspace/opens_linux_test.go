package workspace

import (
	"slices"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/workspace/internal/opens"
	"github.com/yamo-protocol/yamo-mcp/workspace/memfile"
)

// A group's session opens no private file and lists no folder, whatever it asks for.
func TestGroupOpensNothingPrivate(t *testing.T) {
	files := map[string]string{}
	var private []string
	for name, readers := range everything {
		files[name] = "x"
		if readers == "d" || readers == "db" || readers == "" {
			private = append(private, name)
		}
	}
	const away = "memory/archive/2026-01-01.md.gz" // a log of the DM
	const person = "users/ana/overview.md"
	files[away], files[person] = "x", "x"
	private = append(private, away, person)
	w := folderOf(t, files)
	touched := opens.Watch(t, w.dir, append(private, ".", "memory", "memory/archive", "notes", "users"))
	use := func(v *View) {
		for name := range everything {
			_, _ = v.Read(name)
			_, _ = v.Stat(name)
		}
		v.Files()
		v.State()
		v.Refusal()
		v.Days()
		v.LogDates()
		_, _ = v.Write(t.Context(), MemoryFile, nil, "")
		_, _ = v.FinishBootstrap(t.Context(), "")
		_, _ = v.WriteInitial(t.Context(), UserFile, nil, "")
		_, _ = v.Journal().Append(t.Context(), "", "x")
		_, _, _ = v.Startup()
		v.Skipped()
		v.LastSaves()
		_, _ = v.Identity()
		_, _ = v.SoulExcerpt()
		_, _ = v.Knowledge("")
		_, _, _ = v.Heartbeat()
		_, _ = v.CheckDone(t.Context(), "x")
		_, _ = v.SaveMemory(t.Context(), Memory{Type: memfile.DailyLog, Topic: "a b", Parts: []Part{{"", "x"}}})
		_, _ = v.References(SoulFile)
		_, _, _ = v.Dreamed()
		_ = v.Quotes("a text that is long enough")
		v.Present()
		v.Searched()
		v.Logs(0)
		for name := range everything {
			_ = v.ArchiveLog(t.Context(), name, true)
			_ = v.DeleteLog(t.Context(), name, true)
		}
	}
	use(w.View(group(t, "a")))
	if names := touched(); len(names) != 0 {
		t.Errorf("a group's session touched %q", names)
	}
	use(w.View(audience.DM()))
	names := touched()
	for _, name := range []string{"MEMORY.md", "memory", "users"} {
		if !slices.Contains(names, name) {
			t.Errorf("the watch does not work: a DM touched only %q and not %s", names, name)
		}
	}
}
