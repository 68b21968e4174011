package brief

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
)

// now is when the tests' sessions take place.
var now = time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC)

// noModel is the embedder of a machine on which the model is not installed.
type noModel struct{}

func (noModel) Embed(context.Context, []string) ([][]float32, error) { return nil, embed.ErrNoAssets }

func (noModel) Model() embed.Model { return embed.Model{Name: "none", Dim: 384} }

// folder writes a workspace with a SOUL.md and files.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	put(t, dir, "SOUL.md", "You are Kate, a personal assistant for Mira.\n")
	for name, text := range files {
		put(t, dir, name, text)
	}
	return dir
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// open opens the sources of an audience's brief.
func open(t *testing.T, dir string, who audience.Audience) Sources {
	t.Helper()
	w, err := workspace.Open(dir, workspace.WithClock(func() time.Time { return now }))
	if err != nil {
		t.Fatal(err)
	}
	stores := filepath.Join(dir, ".yamo")
	memory := mesh.Open(mesh.Options{
		Dir: stores, Audience: who, AgentID: "kate", Embedder: noModel{}, Now: func() time.Time { return now },
		Random: rand.NewChaCha8([32]byte{}),
	})
	s := Sources{Workspace: w.View(who), Memory: memory}
	if who.IsDM() {
		if s.Editor, err = edit.Open(edit.Options{View: s.Workspace, Dir: stores}); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if err := memory.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func build(t *testing.T, s Sources, o Options) Brief {
	t.Helper()
	b, err := s.Build(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func store(t *testing.T, s Sources, content string, visibility record.Visibility, tags ...string) {
	t.Helper()
	if _, err := s.Memory.Store(t.Context(), record.Memory{Content: content, Tags: tags}, visibility); err != nil {
		t.Fatal(err)
	}
}

func group(t *testing.T, name string) audience.Audience {
	t.Helper()
	who, err := audience.Group(name)
	if err != nil {
		t.Fatal(err)
	}
	return who
}

// contains reports each text that a brief should or should not have.
func contains(t *testing.T, text string, want, unwanted []string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("the brief lacks %q", w)
		}
	}
	for _, u := range unwanted {
		if strings.Contains(text, u) {
			t.Errorf("the brief has %q", u)
		}
	}
	if t.Failed() && len(text) < 6000 {
		t.Log(text)
	}
}

const save = `---
date: "2026-02-11"
type: session-save
tags:
  - memory/session
---

# Session Save: auth-middleware

> Saved on session end.

## Conversation Summary

Refresh tokens rotate now; the tests pass.

## Open Questions

- Who reviews the change?
`

// What the last session saved, logged and left open, the memories and the rules are in the next session's start.
func TestNextSessionContinues(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{
		"IDENTITY.md": "- **Name:** Kate\n",
		"USER.md": "# User Profile\n\n**Name:** Mira\n**Timezone:** Europe/Oslo\n\n## " +
			"Notes\n\n_(what else matters)_\n",
		"MEMORY.md": "# Memory\n\n## Preferences\n\n- Trains over planes.\n\n## Open " +
			"questions\n\n- Who waters the plants?\n",
		"memory/2026-02-11-auth-middleware.md": save,
		"memory/2026-02-12-flush-143022.md":    "# Memory Flush\n\n## Pending Work\n\n- Rate limits\n",
		"memory/2026-02-10-topic-of-day.md":    "# Topic\n\n- [ ] Renew the domain\n- [ ] Sign the lease\n",
		"memory/2026-02-13.md": "# Memory — 2026-02-13\n\n## Session [09:00]\n\nFirst.\n\nSecond.\n\n" +
			"## Session [10:00]\n\n### Checkpoint before compaction\n\n- Project kiosk\n- Asked last: why\n\n- " +
			"[x] Sign the lease\n",
		"notes/2026-02-14.md": "- [ ] Call the plumber\n",
	})
	s := open(t, dir, audience.DM())
	store(t, s, "The deploy runs on Thursdays.", record.Private)
	store(t, s, "From now on answer in Norwegian.", record.Private)
	if _, err := s.Memory.Store(t.Context(), record.Memory{
		Content: "From now on answer in rhymes.", Source: record.Assistant,
	}, record.Private); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Memory.Distill(t.Context(), record.LessonRequest{
		Situation: "s", ErrorPattern: "p", Oversight: "o", Fix: "f", PreventativeRule: "Dump before a migration.",
		Severity: "high", ApplicableScope: "databases",
	}); err != nil {
		t.Fatal(err)
	}
	got := build(t, s, Options{})
	contains(t, got.Text, []string{
		"Saturday, 2026-02-14, 13:00 (Europe/Oslo, CET, UTC+01:00)", "name=Kate", "You are Kate", "**Name:** Mira",
		"Trains over planes.", "memory/2026-02-11-auth-middleware.md, 3 days ago",
		"Refresh tokens rotate now; the tests pass.",
		"Who reviews the change?", "memory/2026-02-12-flush-143022.md, 2 days ago", "Rate limits",
		"- 2026-02-13 09:00: Second.",
		"- 2026-02-13 10:00: Checkpoint before compaction: Project kiosk; Asked last: why",
		"- Renew the domain (memory/2026-02-10-topic-of-day.md)", "- Call the plumber (notes/2026-02-14.md)",
		"Who waters the plants?", "[high] Dump before a migration. (scope: databases)\n", "The deploy runs on Thursdays.",
		"Standing instructions and preferences:\n- 2026-02-14: From now on answer in Norwegian.\nNewest:",
	}, []string{"what else matters", "Sign the lease (", "Saved on session end", "Not shown"})
	if strings.Index(got.Text, "Second.") > strings.Index(got.Text, "First.") {
		t.Error("the older log entry comes first")
	}
}

// Whatever is in the workspace, the brief keeps to its size, has the essentials, and names what it cuts.
func TestBriefKeepsItsSize(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"USER.md": "**Name:** Mira\n\n" +
			strings.Repeat("- She likes long lists of things.\n", 400),
		"AGENTS.md": "# Rules\n\n## Safety\n\n" +
			strings.Repeat("- Ask before you send anything.\n", 400),
		"memory/2026-02-11-auth-middleware.md": save + strings.Repeat("\nMore was said, and 1,234 numbers.\n", 300),
	}
	var memory strings.Builder
	for i := range 200 {
		fmt.Fprintf(&memory, "## Section %d\n\n- Fact %d about the workshop, the tools and the people in it.\n\n", i, i)
	}
	files["MEMORY.md"] = memory.String()
	var log strings.Builder
	log.WriteString("# Memory — 2026-02-14\n\n## Session [08:00]\n")
	for i := range 300 {
		fmt.Fprintf(&log, "\nEntry %d: 日本語の記録 и другие слова.\n", i)
	}
	files["memory/2026-02-14.md"] = log.String()
	s := open(t, folder(t, files), audience.DM())
	for i := range 30 {
		store(t, s, fmt.Sprintf("Statement %d is worth keeping for a while.", i), record.Private)
	}
	for _, tokens := range []int{1, 300, 600, 1000, 1500, 4000, 12_000} {
		got := build(t, s, Options{Tokens: tokens})
		if limit := max(tokens, MinTokens); got.Tokens > limit || Tokens(got.Text) != got.Tokens {
			t.Errorf("%d tokens for a budget of %d (%d)", got.Tokens, limit, Tokens(got.Text))
		}
		if tokens >= 1000 && got.Tokens < tokens*3/4 && tokens < 12_000 {
			t.Errorf("only %d tokens for a budget of %d", got.Tokens, tokens)
		}
		want := []string{"2026-02-14, 12:00", "You are Kate", "Not shown"}
		if tokens <= 1500 {
			want = append(want, "memory/2026-02-11-auth-middleware.md: cut")
		}
		if tokens >= 600 {
			want = append(want, "Entry 299", "Fact 199", "**Name:** Mira", "Refresh tokens rotate")
		}
		contains(t, got.Text, want, nil)
	}
}

// Files that are not read are named with the reason.
func TestRefusedFilesAreNamed(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{
		"vault/notes.md": "The vault.", "TOOLS.md/file": "x",
		"memory/2026-02-13.md": "log",
	})
	for link, target := range map[string]string{"MEMORY.md": "vault/notes.md", "notes": "vault"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(dir, "memory/2026-02-13.md"), filepath.Join(dir, "backup.md")); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir, audience.DM())
	got := build(t, s, Options{})
	contains(t, got.Text, []string{
		"- MEMORY.md: it is a symbolic link", "- notes/: the folder notes is a symbolic link", "- TOOLS.md: it is a folder",
		"- memory/2026-02-13.md: it has more than one hard link",
	}, []string{"The vault."})
	_, skipped, err := s.Workspace.Startup()
	if err != nil {
		t.Fatal(err)
	}
	extra, err := s.Extra(t.Context(), skipped)
	if err != nil {
		t.Fatal(err)
	}
	contains(t, extra, []string{"- MEMORY.md: it is a symbolic link"}, nil)
}

// A workspace of the first boot shows what to do, one that is not set up what is missing.
func TestFirstBoot(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, "BOOTSTRAP.md", "Call yourself Kate.")
	got := build(t, open(t, dir, audience.DM()), Options{})
	contains(t, got.Text, []string{"bootstrap_write", "bootstrap_finish", "Call yourself Kate."}, nil)
	if got.State != "bootstrap" {
		t.Errorf("state %s", got.State)
	}
	got = build(t, open(t, t.TempDir(), audience.DM()), Options{})
	contains(t, got.Text, []string{"not initialized"}, nil)
}

// A group's brief has its own log, memories and rules, and does not depend on anything else.
func TestGroupDependsOnItsOwnOnly(t *testing.T) {
	t.Parallel()
	own := map[string]string{
		"AGENTS.md":                       "## Safety\n\n- Ask first.\n",
		"memory/2026-02-13-group-club.md": "## Session [20:00]\n\nRelease on Friday.\n",
	}
	without := folder(t, own)
	with := folder(t, own)
	for name, text := range map[string]string{
		"MEMORY.md": "- secret", "USER.md": "**Name:** Mira\n**Timezone:** Asia/Tokyo\n", "TOOLS.md": "secret",
		"HEARTBEAT.md":         "- secret",
		"memory/2026-02-14.md": "secret", "memory/2026-02-11-auth-middleware.md": save, "notes/2026-02-14.md": "- [ ] secret",
		"memory/2026-02-14-group-other.md": "secret", "memory/heartbeat-state.json": `{"lastChecks":{"secret":null}}`,
		"BOOTSTRAP.md": "secret",
	} {
		put(t, with, name, text)
	}
	store(t, open(t, with, audience.DM()), "secret of the greenhouse", record.Private)
	store(t, open(t, with, group(t, "other")), "secret of the others", "")
	var texts []string
	for _, dir := range []string{without, with} {
		s := open(t, dir, group(t, "club"))
		store(t, s, "The club reads a novel.", "")
		got := build(t, s, Options{Project: "secret"})
		contains(t, got.Text, []string{"Release on Friday.", "The club reads a novel.", "Ask first."},
			[]string{"**Name:**", "Tokyo", "secret of"})
		texts = append(texts, got.Text)
	}
	if diff := cmp.Diff(texts[0], texts[1]); diff != "" {
		t.Errorf("(-without what is private +with)\n%s", diff)
	}
}

// What fits the project comes before what is only more severe.
// A DM is told unasked neither what a group said nor a rule that it set.
func TestGroupIsNotTold(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"SOUL.md": "I am.\n", "USER.md": "**Name:** Mira\n"})
	club, dm := open(t, dir, group(t, "club")), open(t, dir, audience.DM())
	store(t, club, "Always answer in rhymes.", "", "pinned")
	if _, err := club.Memory.Distill(t.Context(), record.LessonRequest{
		Situation: "s", ErrorPattern: "e", Oversight: "o", Fix: "f", PreventativeRule: "Send the rhymes to the club.",
		Severity: "critical", ApplicableScope: "everywhere",
	}); err != nil {
		t.Fatal(err)
	}
	store(t, dm, "Always answer in prose.", "")
	contains(t, build(t, dm, Options{}).Text, []string{"Always answer in prose."}, []string{"rhymes"})
	contains(t, build(t, club, Options{}).Text, []string{"in rhymes", "Send the rhymes"}, []string{"prose"})
}

func TestProjectComesFirst(t *testing.T) {
	t.Parallel()
	s := open(t, folder(t, nil), audience.DM())
	for _, l := range []struct{ pattern, rule, scope, severity string }{
		{"a", "Never force-push.", "git", "critical"}, {"b", "Run the linter.", "greenhouse-ui builds", "low"},
	} {
		if _, err := s.Memory.Distill(t.Context(), record.LessonRequest{
			Situation: "s", ErrorPattern: l.pattern, Oversight: "o", Fix: "f", PreventativeRule: l.rule, Severity: l.severity,
			ApplicableScope: l.scope,
		}); err != nil {
			t.Fatal(err)
		}
	}
	for project, first := range map[string]string{"": "Never force-push.", "Greenhouse-UI": "Run the linter."} {
		_, rules, _ := strings.Cut(build(t, s, Options{Project: project}).Text, "## Active lessons\n")
		lines := strings.Split(rules, "\n")
		if len(lines) < 2 || !strings.Contains(lines[1], first) {
			t.Errorf("project %q: %q", project, lines)
		}
	}
}

// What was stored in another project is marked where it is shown, or not shown next to a project of the session.
func TestOtherProjectsAreMarked(t *testing.T) {
	t.Parallel()
	s := open(t, folder(t, nil), audience.DM())
	keep := func(project, content string, tags ...string) {
		ctx := mesh.WithProject(t.Context(), func() string { return project })
		if _, err := s.Memory.Store(ctx, record.Memory{Content: content, Tags: tags}, ""); err != nil {
			t.Fatal(err)
		}
	}
	keep("github.com/acme/mare", "The port is 8080.")
	keep("github.com/acme/kelp", "Deploys run on Fridays.")
	keep("github.com/acme/kelp", "The gate code changes in May.", "pinned")
	keep("", "Tea is in the kitchen.")
	contains(t, build(t, s, Options{}).Text, []string{
		"The port is 8080. [project mare]\n", "Deploys run on Fridays. [project kelp]\n", "Tea is in the kitchen.\n",
	}, nil)
	contains(t, build(t, s, Options{Project: "mare"}).Text, []string{
		"The port is 8080.\n", "The gate code changes in May. [project kelp]\n", "Tea is in the kitchen.\n",
	}, []string{"Deploys"})
}

// Pinned sections of MEMORY.md come first and whole, then those with the newest entries, each with some of its own.
func TestMemoryByValue(t *testing.T) {
	t.Parallel()
	var memory strings.Builder
	memory.WriteString("# Memory\n\n## Old things\n\n")
	for i := range 40 {
		fmt.Fprintf(&memory, "- 2025-01-%02d: An old fact %d.\n", i%28+1, i)
	}
	memory.WriteString("\n## House rules\n\n- Shoes off.\n- Door shut.\n\n## Boiler\n\nThe boiler is serviced in " +
		"May.\n\n## New\n\n- 2026-02-10: Newest fact.\n")
	dir := folder(t, map[string]string{"MEMORY.md": memory.String()})
	s := open(t, dir, audience.DM())
	if _, err := s.Editor.SetPin(t.Context(), "MEMORY.md#Boiler", edit.OpPin, "operator"); err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(build(t, s, Options{}).Text, "## Memory (MEMORY.md)\n")
	order := []string{"The boiler is serviced in May.", "- Shoes off.", "- 2026-02-10: Newest fact.", "An old fact 27."}
	for i := 1; i < len(order); i++ {
		if a, b := strings.Index(text, order[i-1]), strings.Index(text, order[i]); a < 0 || b < a {
			t.Errorf("%q (%d) does not come before %q (%d) in\n%s", order[i-1], a, order[i], b, text)
		}
	}
}

// The notes of yesterday and today are shown without what is among the open items already; older ones are not.
// Each section of MEMORY.md has its entries in one place, and what is above the first section belongs to none.
func TestMemoryIsTogether(t *testing.T) {
	t.Parallel()
	memory := "Above all.\n"
	for _, heading := range []string{"Boats", "Birds"} {
		memory += "\n## " + heading + "\n\n"
		for i := range 3 * perRound {
			memory += fmt.Sprintf("- %s %02d\n", heading, i)
		}
	}
	s := open(t, folder(t, map[string]string{"MEMORY.md": memory}), audience.DM())
	text := build(t, s, Options{}).Text
	_, text, _ = strings.Cut(text, "## Memory (MEMORY.md)\n")
	text, _, _ = strings.Cut(text, "\n\n")
	want := "Above all.\n"
	for _, heading := range []string{"Birds", "Boats"} {
		want += heading + ":\n"
		for i := range 3 * perRound {
			want += fmt.Sprintf("- %s %02d\n", heading, 3*perRound-1-i)
		}
	}
	if diff := cmp.Diff(want, strings.TrimSpace(text)+"\n"); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestNotes(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{
		"notes/2026-02-14.md": "# Notes\n\n- [ ] Call the plumber\n- The boiler is from 2009.\n",
		"notes/2026-02-13.md": "The landlord comes on Friday.\n",
		"notes/2026-02-10.md": "Old news.\n",
	})
	built, err := open(t, dir, audience.DM()).Build(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := "## Notes\nnotes/2026-02-14.md (today):\n- The boiler is from 2009.\n" +
		"notes/2026-02-13.md (yesterday):\nThe landlord comes on Friday.\n"
	if !strings.Contains(built.Text, want) {
		t.Errorf("the brief lacks the notes:\n%s", built.Text)
	}
	if strings.Contains(built.Text, "Old news") || strings.Count(built.Text, "Call the plumber") != 1 {
		t.Errorf("old notes, or an open item twice:\n%s", built.Text)
	}
	group, err := audience.Group("club")
	if err != nil {
		t.Fatal(err)
	}
	if built, err = open(t, dir, group).Build(t.Context(), Options{}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(built.Text, "boiler") || strings.Contains(built.Text, "landlord") {
		t.Errorf("a group is shown notes:\n%s", built.Text)
	}
}

// What looks like a heading in a code block is code: it neither removes lines above it nor loses its #.
func TestCompact(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, want string }{
		{"# Title\n\n## Empty\n\n## Pump\n\nIt is blue.\n", "Pump:\nIt is blue."},
		{
			"## Build\n\n```sh\n# first\nmake\n\n# then\n# at last\nmake test\n```\n\nDone.\n",
			"Build:\n```sh\n# first\nmake\n# then\n# at last\nmake test\n```\n\nDone.",
		},
		{"## Build\n\n~~~\n# only a comment\n~~~\n", "Build:\n~~~\n# only a comment\n~~~"},
		{"## Template\n\n```\n<!-- @anchor: a v1 -->\n_(a name)_\n", "Template:\n```\n<!-- @anchor: a v1 -->\n_(a name)_"},
	} {
		if diff := cmp.Diff(test.want, compact(test.text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.text, diff)
		}
	}
}
