package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/workspace/memfile"
)

// recorder keeps what it is told, a line for each revision.
type recorder struct {
	got []string
	all []string
	err error
}

func (r *recorder) Check(context.Context) error { return r.err }

func (r *recorder) Record(_ context.Context, rev Revision) error {
	line := rev.Subject
	if rev.Body != "" {
		line += " (" + rev.Body + ")"
	}
	for _, file := range rev.Files {
		line += fmt.Sprintf(" | %s: %q -> %q", file.Name, brief(file.Before), brief(file.After))
	}
	r.got = append(r.got, line)
	r.all = nil
	for _, file := range rev.All() {
		r.all = append(r.all, file.Name)
	}
	return r.err
}

// brief is the last line of a content, or that it is missing.
func brief(data []byte) string {
	if data == nil {
		return "none"
	}
	if !bytes.Contains(data, []byte("\n")) {
		return strings.ToValidUTF8(string(data), "?")[:min(4, len(data))]
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	return lines[len(lines)-1]
}

// recording has w tell a recorder.
func recordTo(w *Workspace, private bool) *recorder {
	r := &recorder{}
	WithRecorder(r, private)(w)
	return r
}

// transact stages text as the new content of a file, and commits it or not.
func transact(ctx context.Context, v *View, name, text string, note Note, commit bool) {
	tx, err := v.Begin(ctx, name)
	if err != nil {
		return
	}
	defer func() { _ = tx.Close() }()
	if ok, _ := tx.Stage([]byte(text)); ok && commit {
		_ = tx.Commit(ctx, note)
	}
}

// everyWrite does whatever changes files.
func everyWrite(t *testing.T, w *Workspace, v *View) {
	t.Helper()
	ctx := t.Context()
	_, _ = v.WriteInitial(ctx, SoulFile, []byte("I am.\n"), "")
	_, _ = v.WriteInitial(ctx, UserFile, []byte("Ana\n"), "")
	_, _ = v.FinishBootstrap(ctx, "Born.")
	_, _ = v.Write(ctx, MemoryFile, []byte("one\n"), "")
	transact(ctx, v, MemoryFile, "one\ntwo\n", Note{Subject: "an edit", Body: "why"}, true)
	transact(ctx, v, AgentsFile, "rules\n", Note{Subject: "rules"}, true)
	_, _ = v.Write(ctx, MemoryFile, []byte("conflict\n"), "")
	transact(ctx, v, MemoryFile, "staged only\n", Note{}, false)
	_, _ = v.Journal().Append(ctx, "", "Said.")
	_, _ = v.CheckDone(ctx, "email")
	_, _ = v.SaveMemory(ctx, Memory{
		Type: memfile.DailyLog, Topic: "night trains", SessionID: "s", Source: "x", Parts: []Part{{"Summary", "x"}},
	})
	_ = v.ArchiveLog(ctx, "memory/2026-01-01.md", false)
	_ = v.DeleteLog(ctx, "memory/2026-01-02.md", false)
	_ = v.Together(ctx, func(ctx context.Context) (Note, error) {
		_, _ = v.Write(ctx, "notes/a.md", []byte("a\n"), "")
		_, _ = v.Write(ctx, "notes/b.md", []byte("b\n"), "")
		_, _ = v.Write(ctx, "notes/a.md", []byte("a2\n"), Hash([]byte("a\n")))
		return Note{Subject: "both"}, errors.New("half way")
	})
	if v.who.IsDM() {
		_, _ = w.Reconfigure(ctx, SoulFile, []byte("You are Kit, an assistant.\n"))
	}
}

var unborn = map[string]string{
	BootstrapFile: "secret\n", "memory/2026-01-01.md": "put away\n", "memory/2026-01-02.md": "old\n",
	"memory/2026-01-03-group-a.md": "theirs\n",
	ToolsFile:                      "tools\n", ".yamo/config.toml": "", "other.txt": "x\n",
}

func TestRecorder(t *testing.T) {
	t.Parallel()
	w := folderOf(t, unborn)
	r := recordTo(w, true)
	everyWrite(t, w, w.View(audience.DM()))
	want := []string{
		`SOUL.md: first boot | SOUL.md: "none" -> "I am."`,
		`USER.md: first boot | USER.md: "none" -> "Ana"`,
		`memory/2026-02-14.md: log entry | memory/2026-02-14.md: "none" -> "Born."`,
		`MEMORY.md: written | MEMORY.md: "none" -> "one"`,
		`an edit (why) | MEMORY.md: "one" -> "two"`,
		`rules | AGENTS.md: "none" -> "rules"`,
		`memory/2026-02-14.md: log entry | memory/2026-02-14.md: "Born." -> "Said."`,
		`memory/heartbeat-state.json: email done | memory/heartbeat-state.json: "none" -> "}"`,
		`memory/2026-02-14-night-trains.md: new memory file | memory/2026-02-14-night-trains.md: "none" -> "x"`,
		"memory/2026-01-01.md: put away | memory/2026-01-01.md: \"put away\" -> \"none\" | memory/2026-01-01.md.gz",
		`memory/2026-01-02.md: deleted | memory/2026-01-02.md: "old" -> "none"`,
		`both | notes/a.md: "none" -> "a2" | notes/b.md: "none" -> "b"`,
		`SOUL.md: reconfigure | SOUL.md: "I am." -> "You are Kit, an assistant."`,
	}
	got := r.got
	if len(got) > 9 { // the archive's bytes are gzip's
		got[9], _, _ = strings.Cut(got[9], ": \"none\" -> \"\\x1f")
		got[9] = strings.ReplaceAll(got[9], "memory/archive/", "memory/")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the revisions (-want +got):\n%s", diff)
	}
	all := []string{
		"AGENTS.md", "MEMORY.md", "SOUL.md", "TOOLS.md", "USER.md", "memory/2026-01-03-group-a.md",
		"memory/2026-02-14-night-trains.md",
		"memory/2026-02-14.md", "memory/archive/2026-01-01.md.gz", "memory/heartbeat-state.json", "notes/a.md", "notes/b.md",
	}
	if diff := cmp.Diff(all, r.all); diff != "" {
		t.Errorf("all that may be recorded (-want +got):\n%s", diff)
	}
}

// Unless private files are asked for, neither they nor what is said of them is recorded.
func TestRecorderOfPublicFiles(t *testing.T) {
	t.Parallel()
	w := folderOf(t, unborn)
	r := recordTo(w, false)
	v := w.View(audience.DM())
	everyWrite(t, w, v)
	want := []string{
		`SOUL.md: first boot | SOUL.md: "none" -> "I am."`,
		`rules | AGENTS.md: "none" -> "rules"`,
		`SOUL.md: reconfigure | SOUL.md: "I am." -> "You are Kit, an assistant."`,
	}
	if diff := cmp.Diff(want, r.got); diff != "" {
		t.Errorf("the revisions (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"AGENTS.md", "SOUL.md"}, r.all); diff != "" {
		t.Errorf("all that may be recorded (-want +got):\n%s", diff)
	}
	// Every name that there is, by the access matrix.
	for name, readers := range everything {
		recorded := len(v.recordable([]string{name})) > 0
		if public := strings.Contains(readers, "d") && readers == everything[SoulFile]; recorded != public {
			t.Errorf("%s: it is recorded: %v, and readable by groups: %v", name, recorded, public)
		}
	}
}

// A session of a group has nothing recorded, not even what it may write.
func TestRecorderOfGroups(t *testing.T) {
	t.Parallel()
	for _, state := range []map[string]string{unborn, {SoulFile: "I am.\n"}} {
		w := folderOf(t, state)
		r := recordTo(w, true)
		r.err = errors.New("no")
		v := w.View(group(t, "a"))
		v.CheckRecord(t.Context())
		everyWrite(t, w, v)
		if len(r.got) > 0 {
			t.Errorf("a group's session had recorded:\n%s", strings.Join(r.got, "\n"))
		}
		if got := v.RecordTrouble(); got != "" {
			t.Errorf("a group is told %q", got)
		}
	}
}

// A change that is not recorded is made all the same, and reported once for each reason.
func TestRecorderFails(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	w := folderOf(t, nil)
	w.log = slog.New(slog.NewTextHandler(&log, nil))
	r := recordTo(w, true)
	r.err = errors.New("the disk is full")
	v := w.View(audience.DM())
	v.CheckRecord(t.Context())
	for _, text := range []string{"1", "2"} {
		hash := ""
		if data, err := v.Read(MemoryFile); err == nil {
			hash = Hash(data)
		}
		if _, err := v.Write(t.Context(), MemoryFile, []byte(text), hash); err != nil {
			t.Fatal(err)
		}
	}
	if got := v.RecordTrouble(); got != "the disk is full" {
		t.Errorf("the trouble is %q", got)
	}
	if n := strings.Count(log.String(), "the disk is full"); n != 1 {
		t.Errorf("it is reported %d times:\n%s", n, &log)
	}
	r.err = nil
	if _, err := v.Journal().Append(t.Context(), "", "x"); err != nil {
		t.Fatal(err)
	}
	if got := v.RecordTrouble(); got != "" {
		t.Errorf("the trouble is still %q", got)
	}
}
