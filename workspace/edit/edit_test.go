package edit

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

const (
	partFile   = "users/kate/parts/guard/profile.md"
	memoryText = "# Memory\n\n## People\n\n- Ana\n- Luis\n\n## Plans\n\nnone\n"
)

// fixture is a workspace with the clock of a test.
type fixture struct {
	tb    testing.TB
	dir   string
	clock *clock
	view  *workspace.View
}

// clock goes on by a second each time it is read, unless it is stopped.
type clock struct {
	mu      sync.Mutex
	now     time.Time
	stopped bool
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.stopped {
		c.now = c.now.Add(time.Second)
	}
	return c.now
}

func newFixture(tb testing.TB, files map[string]string, options ...workspace.Option) *fixture {
	tb.Helper()
	d := &fixture{tb: tb, dir: tb.TempDir(), clock: &clock{now: time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC)}}
	for name, text := range files {
		d.write(name, text)
	}
	options = append(options, workspace.WithClock(d.clock.Now), workspace.WithScrubber(func(text string) (string, int) {
		return strings.ReplaceAll(text, "hunter2", "[REDACTED]"), strings.Count(text, "hunter2")
	}))
	w, err := workspace.Open(d.dir, options...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = w.Close() })
	d.view = w.View(audience.DM())
	return d
}

func (d *fixture) write(name, text string) {
	d.tb.Helper()
	path := filepath.Join(d.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		d.tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		d.tb.Fatal(err)
	}
}

func (d *fixture) read(name string) string {
	d.tb.Helper()
	data, err := os.ReadFile(filepath.Join(d.dir, name))
	if err != nil {
		d.tb.Fatal(err)
	}
	return string(data)
}

// open is an editor, as a process has it.
func (d *fixture) open(changes ...func(*Options)) *Editor {
	d.tb.Helper()
	options := Options{
		View: d.view, Dir: filepath.Join(d.dir, ".yamo"), Now: d.clock.Now,
		Memory: func(_ context.Context, id string) (string, error) {
			if id != "mem_1767323045678_0a1b2c" {
				return "", fault.New("id: there is no memory %s", id)
			}
			return "Kate said that Eva was there.", nil
		},
	}
	for _, change := range changes {
		change(&options)
	}
	e, err := Open(options)
	if err != nil {
		d.tb.Fatal(err)
	}
	return e
}

func request(file string, op grammar.Op, section, content string) Request {
	return Request{
		File: file, Edit: grammar.Edit{Op: op, Section: section, Content: content, Rationale: "so it is"}, Actor: "kate",
	}
}

func (d *fixture) edit(e *Editor, q Request) Result {
	d.tb.Helper()
	r, err := e.Edit(context.Background(), q)
	if err != nil {
		d.tb.Fatalf("%s %s#%s: %v", q.Op, q.File, q.Section, err)
	}
	return r
}

func TestEdit(t *testing.T) {
	t.Parallel()
	d := newFixture(t, map[string]string{"MEMORY.md": memoryText})
	e := d.open()
	q := request("MEMORY.md", grammar.AppendItem, "people", "Eva")
	q.Key, q.Call, q.Refs = "k1", "call-1", []string{"mem_1767323045678_0a1b2c"}
	first := d.edit(e, q)
	if got := d.read("MEMORY.md"); got != strings.Replace(memoryText, "- Luis\n", "- Luis\n- Eva\n", 1) {
		t.Errorf("the file is\n%s", got)
	}
	want := Event{
		ID: first.Event.ID, Time: "2026-02-14T12:00:01.000Z", Actor: "kate", Key: "k1", Call: "call-1",
		UserID: "primary", EntityType: "note", EntityID: "MEMORY", File: "MEMORY.md",
		Op: "append_item", Section: "People", Anchor: "people", Items: 1, Rationale: "so it is",
		Before: first.Event.Before, After: first.Event.After,
		Evidence: []string{"ev:20260102T030405Z-01KDYGJ72E01PPAV80000018PC"},
		Origin:   &Origin{Source: FromSession},
	}
	ignore := cmpopts.IgnoreFields(Event{}, "Time", "Evidence", "Request", "FileBefore", "FileAfter", "Integrity")
	switch diff := cmp.Diff(want, first.Event, ignore); {
	case diff != "":
		t.Errorf("-want +got:\n%s", diff)
	case first.Snapshot != "- Ana\n- Luis\n- Eva":
		t.Errorf("first.Snapshot = %q, want %q", first.Snapshot, "- Ana\n- Luis\n- Eva")
	case first.Repeated:
		t.Error("first.Repeated = true")
	}
	// The same key is the same edit, for every editor.
	again := d.edit(d.open(), q)
	switch {
	case !again.Repeated:
		t.Error("asked again: again.Repeated = false")
	case again.Event.ID != first.Event.ID:
		t.Errorf("asked again: again.Event.ID = %q, want %q", again.Event.ID, first.Event.ID)
	case again.Event.After != first.Event.After:
		t.Errorf("asked again: again.Event.After = %q, want %q", again.Event.After, first.Event.After)
	case again.Snapshot != first.Snapshot:
		t.Errorf("asked again: again.Snapshot = %q, want %q", again.Snapshot, first.Snapshot)
	}
	q.Content = "Uwe"
	if _, err := e.Edit(t.Context(), q); err == nil ||
		!strings.Contains(err.Error(), "idempotency_key: already used by another edit") {
		t.Errorf("another edit with the key: %v", err)
	}
	// The line in the record has every field of seed 004 §11.
	lines := strings.Split(strings.TrimSpace(d.read(".yamo/private/edits.ndjson")), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], `"op":"snapshot"`) {
		t.Fatalf("%d lines: %s", len(lines), lines)
	}
	var line struct {
		Body struct{ Data map[string]any }
	}
	if err := json.Unmarshal([]byte(lines[1]), &line); err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{
		"event_id", "ts", "user_id", "entity_type", "entity_id", "file_path", "op", "section_anchor", "before_hash",
		"after_hash",
		"rationale", "evidence_refs", "idempotency_key", "tool_call_id", "integrity",
	} {
		if line.Body.Data[field] == nil {
			t.Errorf("the line lacks %s", field)
		}
	}
	integrity, _ := line.Body.Data["integrity"].(map[string]any)
	switch {
	case integrity["algo"] != "HMAC-SHA256":
		t.Errorf("integrity: algo = %q, want %q", integrity["algo"], "HMAC-SHA256")
	case integrity["salt_version"] != 1.0:
		t.Errorf("integrity: salt_version = %v, want 1.0", integrity["salt_version"])
	case len(fmt.Sprint(integrity["line_hash"])) != 64:
		t.Errorf("integrity: line_hash %v, want 64 digits", integrity["line_hash"])
	}
}

func TestProfileGetsItsChangeLog(t *testing.T) {
	t.Parallel()
	d := newFixture(t, nil)
	e := d.open()
	q := request(partFile, grammar.AppendSection, "Role", "Keeps watch.")
	if _, err := e.Edit(t.Context(), q); err == nil || !strings.Contains(err.Error(), "create: true") {
		t.Fatalf("a file that is not there: %v", err)
	}
	q.Create = true
	d.edit(e, q)
	evidence := request(partFile, grammar.AppendItem, "Evidence (curated)", `"Eva was there"`)
	evidence.Refs = []string{"mem_1767323045678_0a1b2c"}
	d.edit(e, evidence)
	d.edit(e, evidence)
	replace := request(partFile, grammar.ReplaceSection, "Role", "Keeps watch at night.")
	done := d.edit(e, replace)
	text := d.read(partFile)
	log := text[strings.Index(text, "## Change Log"):]
	stamp, _, _ := strings.Cut(strings.Split(log, "\n- ")[2], ": ")
	want := "## Change Log\n<!-- @anchor: change-log v1 -->\n\n" +
		"- 2026-02-14: updated Role; added 2 evidence items; refined Role\n- " + stamp +
		": refined Role: so it is\n"
	if log != want {
		t.Errorf("%s\nwant\n%s", log, want)
	}
	if !strings.Contains(text, "last_updated: "+done.Event.Time[:19]+"Z\n") {
		t.Errorf("last_updated:\n%s", text)
	}
	if findings := grammar.Check(partFile, text); len(findings) > 0 {
		t.Errorf("%+v", findings)
	}
	switch {
	case done.Event.UserID != "kate":
		t.Errorf("done.Event.UserID = %q, want %q", done.Event.UserID, "kate")
	case done.Event.EntityType != "part":
		t.Errorf("done.Event.EntityType = %q, want %q", done.Event.EntityType, "part")
	case done.Event.EntityID != "guard":
		t.Errorf("done.Event.EntityID = %q, want %q", done.Event.EntityID, "guard")
	}
	switch r, err := e.Replay(t.Context(), partFile, ""); {
	case err != nil:
		t.Error(err)
	case r.Text != text:
		t.Errorf("r.Text = %q, want %q", r.Text, text)
	case r.Drift != nil:
		t.Errorf("r.Drift = %v, want nil", r.Drift)
	case r.Events != 4:
		t.Errorf("r.Events = %v, want 4", r.Events)
	}
}

func TestEditRefuses(t *testing.T) {
	t.Parallel()
	d := newFixture(t, map[string]string{
		"MEMORY.md": memoryText, "SOUL.md": "# S\n", "IDENTITY.md": "# I\n", "BOOTSTRAP.md": "# B\n",
		"memory/2026-02-14.md": "# L\n", "notes/bad.md": "\xff", "memory/heartbeat-state.json": "{}",
	})
	e := d.open()
	for want, q := range map[string]Request{
		"with yamo-mcp reconfigure":              request("SOUL.md", grammar.AppendSection, "", "x"),
		"IDENTITY.md defines the agent":          request("IDENTITY.md", grammar.AppendSection, "", "x"),
		"BOOTSTRAP.md cannot be edited":          request("BOOTSTRAP.md", grammar.AppendSection, "", "x"),
		"memory/2026-02-14.md cannot be edited":  request("memory/2026-02-14.md", grammar.AppendSection, "", "x"),
		"must be a Markdown file":                request("memory/heartbeat-state.json", grammar.AppendSection, "", "x"),
		"../x.md is not a valid file name":       request("../x.md", grammar.AppendSection, "", "x"),
		".yamo/private/x.md is not a valid":      request(".yamo/private/x.md", grammar.AppendSection, "", "x"),
		"other/x.md is not a valid":              request("other/x.md", grammar.AppendSection, "", "x"),
		"no such file notes/x.md":                request("notes/x.md", grammar.AppendSection, "", "x"),
		"must be UTF-8 text":                     request("notes/bad.md", grammar.AppendSection, "", "x"),
		"content: the text contains credentials": request("MEMORY.md", grammar.AppendSection, "Plans", "hunter2"),
		"is prohibited":                          request("MEMORY.md", "delete_file", "", ""),
		"front matter is not edited":             request("MEMORY.md", grammar.AppendSection, "---", "x"),
		"rationale: the text contains": {
			File: "MEMORY.md",
			Edit: grammar.Edit{Op: grammar.AppendSection, Section: "Plans", Content: "x", Rationale: "hunter2"},
		},
		"evidence_refs: there is no memory mem_1": {
			File: "MEMORY.md", Refs: []string{"mem_1_000000"},
			Edit: grammar.Edit{Op: grammar.AppendSection, Section: "Plans", Content: "x", Rationale: "r"},
		},
		"no such event or memory in this workspace": {
			File: "MEMORY.md", Refs: []string{"01KE0QJ1BM8Y4W8D6S0T2RTX3V"},
			Edit: grammar.Edit{Op: grammar.AppendSection, Section: "Plans", Content: "x", Rationale: "r"},
		},
		"evidence_refs: \"x\" is not an evidence": {
			File: "MEMORY.md", Refs: []string{"x"},
			Edit: grammar.Edit{Op: grammar.AppendSection, Section: "Plans", Content: "x", Rationale: "r"},
		},
	} {
		if _, err := e.Edit(t.Context(), q); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s %s: %v, want %s", q.Op, q.File, err, want)
		} else if _, ok := fault.As(err); !ok {
			t.Errorf("%s: not a fault: %v", want, err)
		}
	}
	if _, err := os.Stat(filepath.Join(d.dir, ".yamo/private/edits.ndjson")); !os.IsNotExist(err) {
		t.Errorf("something was recorded: %v", err)
	}
	if got := d.read("MEMORY.md"); got != memoryText {
		t.Errorf("MEMORY.md was changed:\n%s", got)
	}
}

func TestGroupsHaveNoEditor(t *testing.T) {
	t.Parallel()
	w, err := workspace.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	if _, err := Open(Options{View: w.View(audience.Audience{}), Dir: t.TempDir()}); err == nil ||
		!strings.Contains(err.Error(), fs.ErrNotExist.Error()) {
		t.Error(err)
	}
}

// The second of two that read the same loses nothing of the first's, and learns what it is about.
func TestConflict(t *testing.T) {
	t.Parallel()
	d := newFixture(t, map[string]string{"MEMORY.md": memoryText})
	a, b := d.open(), d.open()
	hash := d.edit(a, request("MEMORY.md", grammar.ReplaceSection, "Plans", "sail")).Event.After
	q := request("MEMORY.md", grammar.ReplaceSection, "Plans", "sail to Oslo")
	q.Expected = hash
	now := d.edit(a, q).Event.After
	q = request("MEMORY.md", grammar.ReplaceSection, "Plans", "stay")
	q.Expected = hash
	_, err := b.Edit(t.Context(), q)
	switch {
	case err == nil:
		t.Fatal("no error")
	case !strings.Contains(err.Error(), now):
		t.Fatalf("%q lacks %q", err.Error(), now)
	case !strings.Contains(err.Error(), "\nsail to Oslo"):
		t.Fatalf("%q lacks %q", err.Error(), "\nsail to Oslo")
	}
	if got := d.read("MEMORY.md"); !strings.Contains(got, "sail to Oslo") {
		t.Errorf("%s", got)
	}
	q.Expected = now
	d.edit(b, q)
	// Blanks are no difference, and another section's change is none.
	renamed := strings.Replace(d.read("MEMORY.md"), "- Ana", "- Anna", 1)
	d.write("MEMORY.md", strings.ReplaceAll(renamed, "stay\n", "stay  \r\n\n"))
	q = request("MEMORY.md", grammar.AppendSection, "Plans", "or go")
	q.Expected = now
	if _, err := a.Edit(t.Context(), q); err == nil {
		t.Error("an old hash is taken")
	}
}

// Of two sections with one heading, the anchor names the one: also for its hashes.
func TestEditByAnchor(t *testing.T) {
	t.Parallel()
	d := newFixture(t, map[string]string{
		"MEMORY.md": "# Memory\n\n## Plans\nstay\n\n## Plans\n<!-- @anchor: later v1 -->\nleave\n",
	})
	e := d.open()
	first := d.edit(e, request("MEMORY.md", grammar.AppendSection, "later", "by train"))
	if first.Snapshot != "leave\n\nby train" || first.Event.Before == first.Event.After {
		t.Errorf("%+v", first)
	}
	q := request("MEMORY.md", grammar.ReplaceSection, "later", "by boat")
	q.Expected = first.Event.Before
	if _, err := e.Edit(t.Context(), q); err == nil || !strings.Contains(err.Error(), first.Event.After) {
		t.Errorf("%v, want the hash %s", err, first.Event.After)
	}
}

func second[T any](_ T, err error) error { return err }

// What a file is on disk, and what the system denies, is not taken for a rule of the workspace.
func TestErrorsOfTheSystem(t *testing.T) {
	t.Parallel()
	refused := &workspace.RefusedError{Name: "MEMORY.md", Reason: "it is a symbolic link"}
	if _, ok := fault.As(explain("MEMORY.md", refused)); !ok {
		t.Error("a refused file is no fault")
	}
	for err, want := range map[error]string{
		refused: "file: MEMORY.md is not used: it is a symbolic link",
		&fs.PathError{Op: "write", Path: "MEMORY.md", Err: workspace.ErrTooLarge}: "file: MEMORY.md: the file is larger " +
			"than 4 MiB",
		&fs.PathError{Op: "write", Path: "MEMORY.md", Err: syscall.EACCES}: "write MEMORY.md: permission denied",
		&fs.PathError{Op: "write", Path: "MEMORY.md", Err: syscall.EROFS}:  "write MEMORY.md: read-only file system",
	} {
		if got := explain("MEMORY.md", err).Error(); !strings.HasPrefix(got, want) {
			t.Errorf("%v is explained as %q, want %q", err, got, want)
		}
	}
}
