package tools

import (
	"bytes"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/workspace"
)

const agentsText = `## First Run\n## Every Session\n## Memory\n## Safety\n## External vs Internal\n`

func TestFirstBoot(t *testing.T) {
	t.Parallel()
	f := sampleFolder(t, "newborn")
	birth := f.read(t, "BOOTSTRAP.md")
	write, finish := BootstrapWrite(f.dm()), BootstrapFinish(f.dm())
	for _, arguments := range []string{
		`{"file":"SOUL.md","text":"You are Ada, a librarian.\n\n## Values\n## Capabilities\n"}`,
		`{"file":"SOUL.md","text":"You are Ada, the librarian.\n\n## Values\n## Capabilities\n"}`,
		// its own text may be corrected
		`{"file":"IDENTITY.md","text":"- **Name:** Ada\n"}`,
		`{"file":"USER.md","text":"**Name:** Mira\n**Timezone:** Asia/Tokyo\n"}`,
		`{"file":"AGENTS.md","text":"` + agentsText + `"}`,
	} {
		if got := answer[bootWritten](t, write, arguments); len(got.Advice) != 0 {
			t.Errorf("%s: %q", arguments, got.Advice)
		}
	}
	if got := answer[bootWritten](t, write,
		`{"file":"IDENTITY.md","text":"- **Vibe:** quiet\n"}`); len(got.Advice) != 1 ||
		!strings.Contains(got.Advice[0], "has no Name") {
		t.Errorf("an IDENTITY.md without a name: %q", got.Advice)
	}
	got := answer[booted](t, finish, `{"note":"I am here."}`)
	equal(t, "deleted", got.Deleted, true)
	equal(t, "log", got.Log, "memory/2026-02-14.md")
	equal(t, "missing files", len(got.Missing), 0)
	if text := f.read(t, got.Log); text != "# Memory — 2026-02-14\n\n## Session [21:00]\n\nI am here.\n" {
		t.Errorf("the first entry is %q", text)
	}
	if text := f.read(t, "SOUL.md"); text != "You are Ada, the librarian.\n\n## Values\n## Capabilities\n" {
		t.Errorf("SOUL.md is %q", text)
	}
	if state := f.dm().State(); state != workspace.Ready {
		t.Errorf("the workspace is %v", state)
	}
	// SECURITY: no copy of BOOTSTRAP.md is anywhere in the folder.
	err := filepath.WalkDir(f.Dir(), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		for line := range strings.Lines(birth) {
			if line = strings.TrimSpace(line); len(line) > 10 && bytes.Contains(data, []byte(line)) {
				t.Errorf("%s has %q of BOOTSTRAP.md", entry.Name(), line)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	for _, refused := range []string{
		refusal(t, write, `{"file":"SOUL.md","text":"You are Eve.\n"}`),
		refusal(t, write, `{"file":"USER.md","text":"x"}`),
		refusal(t, finish, `{}`),
	} {
		if refused != errBooted.Error() {
			t.Errorf("after the first boot: %q", refused)
		}
	}
}

// BOOTSTRAP.md stays until there is a SOUL.md, and goes without one if it is impossible; what is missing is told.
func TestFirstBootThatFails(t *testing.T) {
	t.Parallel()
	f := sampleFolder(t, "newborn")
	if got := refusal(t, BootstrapFinish(f.dm()), `{}`); !strings.HasPrefix(got, "there is no SOUL.md yet") ||
		!strings.Contains(got, "yamo-mcp init") {
		t.Errorf("finished too early: %q", got)
	}
	f.read(t, "BOOTSTRAP.md") // it is still there
	got := answer[booted](t, BootstrapFinish(f.dm()), `{"abandon":true}`)
	if want := []string{"SOUL.md", "USER.md", "AGENTS.md"}; !slices.Equal(got.Missing, want) ||
		!strings.Contains(got.Next, "must not operate") {
		t.Errorf("finished with %+v", got)
	}
	f = sampleFolder(t, "newborn")
	f.write(t, "memory", "a file where the folder of logs belongs")
	if got := refusal(t, BootstrapFinish(f.dm()), `{"note":"x","abandon":true}`); !strings.HasPrefix(got,
		"BOOTSTRAP.md was deleted, but the first log entry") {
		t.Errorf("told %q", got)
	}
	if _, err := os.Stat(filepath.Join(f.Dir(), "BOOTSTRAP.md")); !os.IsNotExist(err) {
		t.Errorf("BOOTSTRAP.md: %v", err)
	}
}

// A BOOTSTRAP.md that cannot be deleted is an error, is logged, and the user must be told.
func TestFirstBootThatCannotBeFinished(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	var f *folder
	// Between the entry of the log and the deletion, a folder with content takes the file's place: for no user can it be
	// deleted.
	meanwhile := func(text string) (string, int) {
		name := filepath.Join(f.Dir(), "BOOTSTRAP.md")
		if err := os.Remove(name); err == nil {
			if err := os.MkdirAll(filepath.Join(name, "x"), 0o700); err != nil {
				t.Error(err)
			}
		}
		return text, 0
	}
	f = sampleFolder(t, "newborn", workspace.WithLogger(slog.New(slog.NewTextHandler(&log, nil))),
		workspace.WithScrubber(meanwhile))
	got := refusal(t, BootstrapFinish(f.dm()), `{"abandon":true}`)
	if !strings.Contains(got, "could not be deleted. Tell the user now") {
		t.Errorf("told %q", got)
	}
	if !strings.Contains(log.String(), "level=ERROR") || !strings.Contains(log.String(), "could not be deleted") {
		t.Errorf("the log has:\n%s", &log)
	}
}

// What groups will read is shown to the user first, whole; USER.md is not theirs.
func TestBootstrapWriteAsks(t *testing.T) {
	t.Parallel()
	for _, era := range eras {
		f := sampleFolder(t, "newborn")
		tool := BootstrapWrite(f.dm())
		soul := map[string]any{"file": "SOUL.md", "text": "You are Ada.\u202e\n\n## Values\n## Capabilities\n"}
		h := (&host{person: refuses}).connected(t, era, tool)
		got, failed := h.use(t, "bootstrap_write", soul)
		equal(t, era+": refused: failed", failed, true)
		contains(t, era+": refused", got, "declined")
		if _, err := os.Stat(filepath.Join(f.Dir(), "SOUL.md")); err == nil {
			t.Errorf("%s: SOUL.md was written", era)
		}
		if got, failed = h.use(t, "bootstrap_write", map[string]any{"file": "USER.md", "text": "**Name:** Mira\n"}); failed {
			t.Errorf("%s: USER.md: %s", era, got)
		}
		equal(t, era+": refused: questions", len(h.asked), 1)

		h = (&host{person: agrees}).connected(t, era, tool)
		if got, failed = h.use(t, "bootstrap_write", soul); failed || len(h.asked) != 1 {
			t.Fatalf("%s: agreed: %s, asked %q", era, got, h.asked)
		}
		contains(t, era+": question", h.asked[0], "Write SOUL.md? Every group can read it", "You are Ada.\n\n## Values")
		contains(t, era+": written", f.read(t, "SOUL.md"), "You are Ada.")
		soul["text"] = strings.Repeat("You are Ada. ", 400)
		got, failed = h.use(t, "bootstrap_write", soul)
		equal(t, era+": too long: failed", failed, true)
		contains(t, era+": too long", got, "text: 5200 characters are too many", "at most 4000")
		equal(t, era+": too long: questions", len(h.asked), 1)
	}
}

func TestBootstrapWriteRefuses(t *testing.T) {
	t.Parallel()
	f := sampleFolder(t, "newborn", workspace.WithScrubber(hideSecrets))
	f.write(t, "USER.md", "Mine.\n")
	tool := BootstrapWrite(f.dm())
	for _, test := range []struct{ arguments, want string }{
		{`{"file":"MEMORY.md","text":"x"}`, "file must be one of SOUL.md, IDENTITY.md, USER.md, AGENTS.md"},
		{`{"file":"SOUL.md"}`, "text is required: a string of 1 to 60000 characters"},
		{
			`{"file":"SOUL.md","text":" \n"}`,
			"text: SOUL.md is empty: it must state the agent's name, role, values and capabilities (RFC-0009 §2.1)",
		},
		{`{"file":"SOUL.md","text":"The password is hunter2"}`, "text: " + workspace.ErrCredentials.Error()},
		{
			`{"file":"AGENTS.md","text":"## First Run\n"}`,
			"text: AGENTS.md lacks the section ## Every Session (RFC-0009 §2.2)",
		},
		{
			`{"file":"USER.md","text":"**Timezone:** Europe/Lisbon\n"}`,
			"file: USER.md already exists with content that is not yours; it is kept. Read yamo://workspace/USER.md and " +
				"continue",
		},
	} {
		if got := refusal(t, tool, test.arguments); !strings.Contains(got, test.want) {
			t.Errorf("%s:\n%s, want\n%s", test.arguments, got, test.want)
		}
	}
	if text := f.read(t, "USER.md"); text != "Mine.\n" {
		t.Errorf("USER.md is now %q", text)
	}
	if got := answer[bootWritten](t, tool, `{"file":"IDENTITY.md","text":"I am Ada."}`); len(got.Advice) != 1 {
		t.Errorf("advice %q", got.Advice)
	}
	group := f.group(t, "hiking")
	if got := refusal(t, BootstrapWrite(group), `{"file":"SOUL.md","text":"x"}`); got != errBooted.Error() {
		t.Errorf("a group is told %q", got)
	}
	if got := refusal(t, BootstrapFinish(group), `{}`); got != errBooted.Error() {
		t.Errorf("a group is told %q", got)
	}
}
