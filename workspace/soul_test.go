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
)

func messages(findings []Finding) []string {
	all := []string{}
	for _, f := range findings {
		all = append(all, f.Message)
	}
	return all
}

func TestCheckOfSoul(t *testing.T) {
	t.Parallel()
	const prefix = "does not seem to state "
	for text, want := range map[string][]string{
		soul: {},
		"**Name:** Ada\n**Role:** librarian\n**Principles:** quiet\n**Skills:** finding books\n":    {},
		"I am Ada, the librarian of this house.\n\n# Who I am\n# What I can do\n# My core truths\n": {},
		"You're **Ada**.\n\n## Your role\n## Boundaries\n## Tools\n":                                {},
		"Be useful.":                         {prefix + "the agent's name, the role, values or character, capabilities"},
		"You are Ada, a librarian.":          {prefix + "values or character, capabilities"},
		"```\n" + soul + "```\nYou are Ada.": {prefix + "the role, values or character, capabilities"},
		"You are helpful.\n## Values\n":      {prefix + "the agent's name, the role, capabilities"},
		soul + "\nBorn on _(a day)_.\n":      {"has a gap that is not filled in: _(a day)_"},
		" \n":                                {"is empty: it must state the agent's name, role, values and capabilities"},
	} {
		if diff := cmp.Diff(want, messages(Check(SoulFile, []byte(text)))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func TestCheckOfIdentity(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"- **Name:** Ada":               {},
		"- **Emoji:** x":                {"has no Name"},
		"- **Name:** _(pick)_":          {"has no field with a value (Name, Creature, Vibe, Emoji, Avatar)"},
		"- **Name:** Ada\n- **Vibe:** ": {},
	} {
		if diff := cmp.Diff(want, messages(Check(IdentityFile, []byte(text)))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func TestCheckOfCurated(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"# Memory\n": {},
		"---\ntype: memory\nscope: long-term\nupdated: \"2026-02-14\"\ntags:\n  - memory/curated\n---\n": {},
		"---\nupdated: \"2026-02-14\"\ntags:\n  - memory/curated\n---\n":                                 {},
		"---\ntype: curated\nupdated: yesterday\n---\n": {
			`updated is "yesterday", not a day as YYYY-MM-DD`, "tags are missing; at least one is needed",
		},
		"---\ntype: session-save\ntags: [a]\n---\n": {
			`type is "session-save", not curated (or memory, as the seed's example has it)`,
		},
	} {
		if diff := cmp.Diff(want, messages(Check(MemoryFile, []byte(text)))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
	if got := Check(MemoryFile, []byte("---\ntags: [\n---\n")); len(got) != 1 || !got[0].Error {
		t.Errorf("front matter that is no YAML: %v", got)
	}
}

func TestReconfigure(t *testing.T) {
	t.Parallel()
	w := folderOf(t, map[string]string{"SOUL.md": "You are Bob."})
	done, err := w.Reconfigure(t.Context(), SoulFile, []byte(soul))
	switch {
	case err != nil:
		t.Fatal(err)
	case !done.Changed:
		t.Fatal("done.Changed = false")
	case len(done.Findings) != 0:
		t.Fatalf("len(done.Findings) = %v, want 0", len(done.Findings))
	}
	if got := content(t, w, SoulFile); got != soul {
		t.Errorf("SOUL.md contains %q", got)
	}
	if got := content(t, w, done.Kept); got != "You are Bob." ||
		!strings.HasPrefix(done.Kept, ".yamo/replaced/SOUL-") &&
			!strings.HasPrefix(done.Kept, ".yamo/replaced/20260214T120000Z-") {
		t.Errorf("%s contains %q", done.Kept, got)
	}
	if info, err := os.Stat(filepath.Join(w.dir, done.Kept)); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	for _, who := range []audience.Audience{audience.DM(), group(t, "a")} {
		if _, err := w.View(who).Read(done.Kept); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s reads what was replaced: %v", who, err)
		}
	}
	before := tree(t, w.dir)
	switch done, err := w.Reconfigure(t.Context(), SoulFile, []byte(soul)); {
	case err != nil:
		t.Errorf("the same again: %v", err)
	case done.Changed:
		t.Error("the same again: done.Changed = true")
	case done.Kept != "":
		t.Errorf("the same again: done.Kept = %q, want none", done.Kept)
	}
	if diff := cmp.Diff(before, tree(t, w.dir)); diff != "" {
		t.Errorf("the same again changes (-before +after):\n%s", diff)
	}
	switch done, err := w.Reconfigure(t.Context(), IdentityFile, []byte("- **Emoji:** x\n")); {
	case err != nil:
		t.Errorf("IDENTITY.md: %v", err)
	case !done.Changed:
		t.Error("IDENTITY.md: done.Changed = false")
	case done.Kept != "":
		t.Errorf("IDENTITY.md: done.Kept = %q, want none", done.Kept)
	case len(done.Findings) != 1:
		t.Errorf("IDENTITY.md: len(done.Findings) = %v, want 1", len(done.Findings))
	}
}

func TestReconfigureRefuses(t *testing.T) {
	t.Parallel()
	files := map[string]string{"SOUL.md": soul, "USER.md": "Mira"}
	w := folderOf(t, files)
	w.scrub = func(text string) (string, int) { return text, strings.Count(text, "sk-") }
	before := tree(t, w.dir)
	for _, test := range []struct {
		name, text string
		want       error
	}{
		{UserFile, "x", ErrNotIdentity},
		{"memory/2026-02-14.md", "x", ErrNotIdentity},
		{SoulFile, soul + "sk-1", ErrCredentials},
	} {
		if _, err := w.Reconfigure(t.Context(), test.name, []byte(test.text)); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
		}
	}
	for _, text := range []string{"", "\xff", " \n"} {
		var invalid *InvalidFileError
		if _, err := w.Reconfigure(t.Context(), SoulFile, []byte(text)); !errors.As(err, &invalid) {
			t.Errorf("%q: %v", text, err)
		}
	}
	after := tree(t, w.dir)
	delete(after, filesLock)
	delete(after, ignoreFile)
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("something was written (-before +after):\n%s", diff)
	}
	unborn := folderOf(t, map[string]string{"BOOTSTRAP.md": "x"})
	if _, err := unborn.Reconfigure(t.Context(), SoulFile, []byte(soul)); !errors.Is(err, ErrUnborn) {
		t.Errorf("unborn: %v", err)
	}
	if err := os.Symlink("elsewhere", filepath.Join(unborn.dir, "SOUL.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(unborn.dir, "BOOTSTRAP.md")); err != nil {
		t.Fatal(err)
	}
	if _, err := unborn.Reconfigure(t.Context(), SoulFile, []byte(soul)); err == nil {
		t.Error("a link was replaced")
	}
}
