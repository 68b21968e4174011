package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

func lint(t *testing.T, w *Workspace) []string {
	t.Helper()
	findings, err := w.Lint()
	if err != nil {
		t.Fatal(err)
	}
	all := []string{}
	for _, f := range findings {
		all = append(all, f.String())
	}
	return all
}

// soul has what RFC-0009 §2.1 asks for.
const soul = "# Soul\n\nYou are Ada, a librarian for Mira.\n\n## Values\n\nQuiet.\n\n## Capabilities\n\n" +
	"Finding books.\n"

func TestSampleWorkspaceIsClean(t *testing.T) {
	t.Parallel()
	if got := lint(t, kate(t)); len(got) != 0 {
		t.Errorf("findings:\n%s", strings.Join(got, "\n"))
	}
}

func TestLint(t *testing.T) {
	t.Parallel()
	w := folderOf(t, map[string]string{
		"BOOTSTRAP.md": "x",
		"SOUL.md":      strings.Repeat("é", 12_001),
		"IDENTITY.md":  "- **Name:** _(pick)_",
		"AGENTS.md": "## First Run\n## every session\n### Memory\n```\n## Safety\n```\n" +
			"## External vs Internal ##\n",
		"USER.md":                     "# User\n\n**Timezone:** Middle/Earth\n",
		"Memory.md":                   "x",
		"TOOLS.md":                    "a\xff",
		"HEARTBEAT.md":                strings.Repeat("- [ ] x\n", 21),
		"memory/heartbeat-state.json": `{"lastChecks": {"email": "yesterday"}}`,
		"memory/2026-02-14.md":        "# Log\n\n## Session [9:00]\n## Session [09:00]\n```\n## Session notes\n```\n",
		"memory/2026-02-13-topic.md":  "---\ndate: \"2026-02-12\"\n---\n",
		"memory/2026-02-12-a-note.md": "no front matter",
		"memory/2026-02-11-a-note.md": "---\ntags: [\n---\n",
		"notes/free.md":               "anything",
		"notes/anchor.md":             "## A\n<!-- @anchor a -->\n",
		"users/kate/overview.md": strings.Replace(grammar.New("users/kate/overview.md", "2026-01-02T03:04:05Z"),
			"## Active", "## Aktive", 1),
		"users/kate/thoughts.md":      "anything",
		"users/kate/parts/p/notes.md": "# Notes\n",
		"DREAMS.md":                   "anything",
	})
	if err := os.Symlink("SOUL.md", filepath.Join(w.dir, "MEMORY.md")); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"AGENTS.md: error: lacks the section ## Every Session (RFC-0009 §2.2)",
		"AGENTS.md: error: lacks the section ## Memory (RFC-0009 §2.2)",
		"AGENTS.md: error: lacks the section ## Safety (RFC-0009 §2.2)",
		"BOOTSTRAP.md: error: still exists next to SOUL.md: it must be deleted when the first boot is done (RFC-0009 §4.3)",
		"HEARTBEAT.md:21: warning: has 21 lines; it is read at every heartbeat and should have at most 20 (RFC-0009 §2.7)",
		"IDENTITY.md: warning: has no field with a value (Name, Creature, Vibe, Emoji, Avatar) (seed 002, phase 10.1)",
		"MEMORY.md: error: is not read: it is a symbolic link (RFC-0009 §4.4)",
		"Memory.md: warning: is not read: the name must be exactly MEMORY.md (RFC-0009 §1)",
		"SOUL.md: warning: does not seem to state the agent's name, the role, values or character, capabilities " +
			"(RFC-0009 §2.1)",
		"SOUL.md: warning: has 12001 characters; a session starts with the first 12000 (seed 002, phase 10.3)",
		"TOOLS.md: error: is not UTF-8 text (RFC-0009 §1)",
		"USER.md:3: warning: time zone \"Middle/Earth\" is not known; the machine's is used (RFC-0009 §2.3)",
		"memory/2026-02-11-a-note.md:1: error: front matter: …",
		"memory/2026-02-12-a-note.md:1: warning: the file does not begin with front matter between two lines of --- " +
			"(seed 003)",
		"memory/2026-02-13-topic.md:1: warning: date is 2026-02-12, but the name has 2026-02-13 (seed 003)",
		"memory/2026-02-13-topic.md:1: warning: slug \"topic\" is not 2 to 5 words in lower case with hyphens between " +
			"them (or begins with group-, which names a group's log) (seed 003)",
		"memory/2026-02-13-topic.md:1: warning: tags are missing; at least one is needed (seed 003)",
		"memory/2026-02-14.md:1: warning: does not begin with \"# Memory — 2026-02-14\" (RFC-0009 §2.5)",
		"memory/2026-02-14.md:3: warning: session heading is not ## Session [HH:MM] (RFC-0009 §2.5)",
		"memory/heartbeat-state.json: error: the time of \"email\" is not in Unix seconds or null (RFC-0009 §2.9)",
		"notes/anchor.md:2: error: the anchor is misspelt: write <!-- @anchor: name v1 --> or [//]: # (anchor: name v1) " +
			"(seed 004 §2)",
		"users/kate/overview.md:17: error: the heading ## Aktive Themes is misspelt: it must be ## Active Themes " +
			"(seed 004 §2)",
		"users/kate/thoughts.md: warning: is not read: a user, part or relationship has one overview.md or profile.md and " +
			"one notes.md (seed 004 §12)",
	}
	got := lint(t, w)
	for i, line := range got {
		if i < len(want) {
			if prefix, ok := strings.CutSuffix(want[i], "…"); ok && strings.HasPrefix(line, prefix) {
				got[i] = want[i] // the libraries' words are theirs
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLintOfLinksAndCredentials(t *testing.T) {
	t.Parallel()
	w := folderOf(t, map[string]string{
		"SOUL.md": soul, "AGENTS.md": "## First Run\n## Every Session\n## Memory\n## Safety\n## External vs Internal\n",
		"USER.md": "**Timezone:** UTC\n\nhunter2\n",
		"MEMORY.md": "## Lessons\n\n[[USER]] [[notes/a#Here|x]] [[a]]\n[[MEMORY#Songs]]\n[[#Lessons]] [[#Nothing]]\n" +
			"```\n[[code]]\n```\n",
		"notes/a.md":   "# Here\n[[nowhere]]\n",
		"notes/key.md": "BEGIN\nEND\n",
	})
	w.scrub = func(text string) (string, int) {
		return text, strings.Count(text, "hunter2") + strings.Count(text, "BEGIN\nEND")
	}
	want := []string{
		"MEMORY.md:4: warning: [[MEMORY#Songs]] leads nowhere: the file has no such heading (seed 003, Wikilinks)",
		"MEMORY.md:5: warning: [[#Nothing]] leads nowhere: the file has no such heading (seed 003, Wikilinks)",
		"USER.md:3: warning: seems to have a credential: keep it in a password manager and write where it is " +
			"(RFC-0009 §4.2)",
		"notes/a.md:2: warning: [[nowhere]] leads nowhere: there is no such file (seed 003, Wikilinks)",
		"notes/key.md: warning: seems to have a credential: keep it in a password manager and write where it is " +
			"(RFC-0009 §4.2)",
	}
	if diff := cmp.Diff(want, lint(t, w)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLintOfIncompleteWorkspaces(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"empty": {
			nil,
			[]string{"SOUL.md: error: is missing, and so is BOOTSTRAP.md: the agent must not operate (RFC-0009 §6.1)"},
		},
		"newborn": {map[string]string{"BOOTSTRAP.md": "x"}, []string{}},
		"soul only": {map[string]string{"SOUL.md": soul}, []string{
			"AGENTS.md: error: is missing (RFC-0009 §3.1)", "USER.md: error: is missing (RFC-0009 §3.1)",
		}},
	} {
		if diff := cmp.Diff(test.want, lint(t, folderOf(t, test.files))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Names that no search finds are reported with the reason, at any depth; those that are read are not.
func TestLintNamesWhatIsNotSearched(t *testing.T) {
	t.Parallel()
	w := folderOf(t, map[string]string{
		"BOOTSTRAP.md": "x", "notes/.hidden.md": "x", "notes/photo.png": "x", "notes/100%.md": "x",
		"notes/cafe\u0301.md": "x", "notes/deep/plan.md": "x", "notes/\U0001F469\u200D\U0001F4BB.md": "x",
		"notes/deep/README.MD": "x", "notes/deep/todo.txt": "x", "notes/deep/a%2f..%2fb.md": "x",
		"memory/a\u202Eb.md": "x", "memory/b\n\x1b[2Jb.md": "x", "memory/2026-02-14-GROUP-hiking.md": "x",
		"notes/1/2/3/4/5/6/7/8.md": "x",
		`notes/a\b.md`:             "x",
	})
	if err := os.Symlink("todo.txt", filepath.Join(w.dir, "notes", "deep", "link.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("deep", filepath.Join(w.dir, "notes", "linked")); err != nil {
		t.Fatal(err)
	}
	alias := "warning: is not read or searched: its name can be taken for that of another file; rename it (RFC-0009 §5.4)"
	want := []string{
		"memory/2026-02-14-GROUP-hiking.md: " + alias,
		`"memory/a\u202eb.md": warning: is not read or searched: its name has the invisible character U+202E; rename it ` +
			"(RFC-0009 §5.4)",
		`"memory/b\n\x1b[2Jb.md": warning: is not read or searched: its name has the invisible character U+000A; rename it ` +
			"(RFC-0009 §5.4)",
		"notes/1/2/3/4/5/6/7/8.md: warning: is not read or searched: it is more than 7 folders deep; rename it " +
			"(RFC-0009 §5.4)",
		`notes/a\b.md: warning: is not read or searched: its name has a \; rename it (RFC-0009 §5.4)`,
		"notes/deep/README.MD: warning: is not read or searched: its name must end in .md (RFC-0009 §5.4)",
		"notes/deep/a%2f..%2fb.md: " + alias,
		"notes/deep/link.md: error: is not read: it is a symbolic link (RFC-0009 §4.4)",
		"notes/deep/todo.txt: warning: is not read or searched: its name must end in .md (RFC-0009 §5.4)",
		"notes/linked: warning: is not read or searched: it is a symbolic link (RFC-0009 §4.4)",
	}
	if diff := cmp.Diff(want, lint(t, w)); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

// A pair has one relationship file for each type (seed 004 §9).
func TestLintRelationshipTwice(t *testing.T) {
	t.Parallel()
	profile := func(name, kind string, participants ...string) string {
		text := grammar.New(name, "2026-01-02T03:04:05Z")
		typ, _ := grammar.TypeOf(name)
		d := grammar.Parse(text)
		for _, e := range []grammar.Edit{
			{Op: grammar.AppendItem, Section: "Participants", Items: participants, Rationale: "r"},
			{Op: grammar.ReplaceSection, Section: "Type", Content: kind, Rationale: "r"},
		} {
			if _, err := d.Apply(typ, e, time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		return d.String()
	}
	const folder = "users/kate/relationships/"
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a": profile(folder+"a/profile.md", "Polarization", "guard", "child"),
		"b": profile(folder+"b/profile.md", "polarization.", "Child", "Guard"),
		"c": profile(folder+"c/profile.md", "Alliance", "guard", "child"),
		"d": profile(folder+"d/profile.md", "Polarization", "guard", "critic"),
		"e": grammar.New(folder+"e/profile.md", "2026-01-02T03:04:05Z"),
	} {
		path := filepath.Join(dir, folder, name, "profile.md")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close() //nolint:errcheck // it was only read
	findings, err := w.Lint()
	if err != nil {
		t.Fatal(err)
	}
	var twice []string
	for _, f := range findings {
		if f.Rule == "seed 004 §9" {
			twice = append(twice, f.File+": "+f.Message)
		}
	}
	want := []string{folder + "b/profile.md: is about the same participants and type as " + folder +
		"a/profile.md: a pair has one file for each type"}
	if diff := cmp.Diff(want, twice); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
