package mesh

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact"
)

// better opens a view that redacts more than those before it did.
func better(t *testing.T, dir string, who audience.Audience, list string) *View {
	t.Helper()
	parsed, err := redact.ParseList(list)
	if err != nil {
		t.Fatal(err)
	}
	v := Open(Options{
		Dir: filepath.Join(dir, ".yamo"), Audience: who, AgentID: "tester", Embedder: new(words), Redact: parsed,
	})
	t.Cleanup(func() { _ = v.Close(t.Context()) })
	return v
}

// What newer rules recognize goes from every compartment and from every byte on the disk; ids, revisions, accesses,
// signals of recalls and feedback stay, also for a process that has the earlier text in memory.
func TestRescan(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v, g := open(t, dir, audience.DM(), new(words)), open(t, dir, group(t, "chess"), new(words))
	plain := keep(t, v, record.Memory{Content: "The zebra crossing is repaired."})
	first := keep(t, v, record.Memory{
		Content: "Zebulon lives in Porto, by the old harbour.", Tags: []string{"zebulon", "friends"},
		Metadata: map[string]any{"who": []any{"Zebulon"}, "n": 12345678901234567.0},
	})
	corrected, err := v.Scrub(record.Memory{Content: "Zebulon lives in Lisbon, near the zoo."}, "")
	if err != nil {
		t.Fatal(err)
	}
	second, err := v.Remember(t.Context(), corrected, Intent{Supersedes: []string{first.ID}})
	if err != nil {
		t.Fatal(err)
	}
	repeated, err := v.Scrub(record.Memory{Content: "Zebulon lives in Lisbon near the zoo"}, "")
	if err != nil {
		t.Fatal(err)
	}
	seen, err := v.Remember(t.Context(), repeated, Intent{})
	if err != nil {
		t.Fatal(err)
	}
	shared := keep(t, v, record.Memory{Content: "Zebulon likes soup."}, record.Shared)
	own := keep(t, g, record.Memory{Content: "Zebulon opened with the queen's pawn."})
	lesson, err := v.Distill(t.Context(), record.LessonRequest{
		Situation: "A letter was lost.", ErrorPattern: "wrong_address", Oversight: "Zebulon had moved.", Fix: "Ask first.",
		PreventativeRule: "Ask for the address.", ApplicableScope: "letters", Severity: "low",
	})
	if err != nil {
		t.Fatal(err)
	}
	soup, err := v.Skills().Ingest(t.Context(), SkillRequest{
		Text: "---\nname: soup\nintent: cook soup\n---\nFollow Zebulon's recipe.\n",
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.Skills().Feedback(t.Context(), soup.ID, true); err != nil {
		t.Fatal(err)
	}
	settle(t, v)
	settle(t, g)
	for range 3 {
		search(t, v, SearchRequest{Query: "where does Zebulon live, near which zoo"})
	}
	if seen.ID != second.ID {
		t.Fatalf("%s is no sighting of %s", seen.ID, second.ID)
	}
	ids := []string{plain.ID, first.ID, second.ID, shared.ID, own.ID, lesson.MemoryID}
	// facts is all that is known of the memories but their text.
	facts := func(v *View) map[string]string {
		known := map[string]string{}
		for _, id := range ids {
			hit, err := v.Get(t.Context(), id)
			if err != nil {
				t.Errorf("%s: %v", id, err)
				continue
			}
			known[id] = fmt.Sprint(hit.Visibility, hit.CreatedAt, hit.Accesses, hit.Past != nil, len(hit.Replaced),
				hit.Sightings)
		}
		recalled, err := v.Recalled(t.Context(), time.Time{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range recalled {
			known["recalled "+r.ID] = fmt.Sprint(r.Hits, r.Days, r.Mean)
		}
		skills, err := v.Skills().List(t.Context(), 50)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range skills.Skills {
			known[s.ID] = fmt.Sprint(s.Reliability, s.UseCount, s.CreatedAt)
		}
		return known
	}
	before := facts(v)

	b := better(t, dir, audience.DM(), "zebulon\n")
	plan, err := b.Maintenance().Rescan(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	if len(onDisk(t, dir, "Zebulon")) == 0 {
		t.Error("a dry run erases")
	}
	if text := fmt.Sprint(plan); strings.Contains(strings.ToLower(text), "zebulon") {
		t.Errorf("the plan has what it redacts: %s", text)
	}
	done, err := b.Maintenance().Rescan(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(plan, done); diff != "" {
		t.Errorf("planned (-), done (+):\n%s", diff)
	}
	if again, err := b.Maintenance().Rescan(t.Context(), false); err != nil || len(again) > 0 {
		t.Errorf("a second time: %+v, %v", again, err)
	}
	// A running process that notices the rescan, as its background does, saves no image of what it still has in memory.
	for name, c := range v.stores {
		if err := c.Sync(t.Context()); !errors.Is(err, ledger.ErrReplaced) {
			t.Errorf("a running process reads the %s ledger: %v", name, err)
		}
		if err := c.Save(t.Context()); err != nil {
			t.Error(err)
		}
	}
	for _, text := range []string{"Zebulon", "zebulon"} {
		if files := onDisk(t, dir, text); len(files) > 0 {
			t.Errorf("%q is still in %q", text, files)
		}
	}
	for name, v := range map[string]*View{
		"the same": b, "a running": v, "a new": open(t, dir, audience.DM(), new(words)),
	} {
		if diff := cmp.Diff(before, facts(v)); diff != "" {
			t.Errorf("%s process knows, before (-), after (+):\n%s", name, diff)
		}
		hit, err := v.Get(t.Context(), second.ID)
		if err != nil || hit.Content != "[REDACTED:listed] lives in Lisbon, near the zoo." {
			t.Errorf("%s process has %q, %v", name, hit.Content, err)
		}
		settle(t, v)
		if found := search(t, v, SearchRequest{Query: "Lisbon zoo", Unrecorded: true}); !finds(found, second.ID) {
			t.Errorf("%s process finds %q", name, contents(found.Hits))
		}
	}
	hit, err := v.Get(t.Context(), first.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"[REDACTED:listed]", "friends"}, hit.Tags); diff != "" {
		t.Errorf("tags (-want +got):\n%s", diff)
	}
	want := map[string]any{"who": []any{"[REDACTED:listed]"}, "n": 12345678901234567.0}
	if diff := cmp.Diff(want, hit.Metadata); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
	reports, err := v.Maintenance().Check(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range reports {
		if len(r.Problems) > 0 {
			t.Errorf("%s: %q", r.Compartment, r.Problems)
		}
	}
	verified, err := v.Maintenance().Verify(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range verified {
		if !r.Intact() {
			t.Errorf("%s: %v", r.Compartment, r.Bad)
		}
	}
}

// A process that ends after the ledger is written and before what is derived leaves vectors and rows of the earlier
// text. No search uses them, and the next rescan removes them.
func TestRescanInterrupted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := open(t, dir, audience.DM(), new(words))
	kept := keep(t, v, record.Memory{Content: "Zebulon lives in Porto."})
	settle(t, v)
	if err := v.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	b := better(t, dir, audience.DM(), "zebulon\n")
	plan, err := b.Maintenance().plan(t.Context(), record.Private)
	if err != nil {
		t.Fatal(err)
	}
	// What Rescan does up to the end of the process.
	l := ledger.New(b.ledgerOptions(record.Private))
	_, err = l.Rewrite(t.Context(), nil, func(now time.Time) ([]ledger.Draft, error) {
		return plan.Drafts(now, "agent"), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	next := open(t, dir, audience.DM(), new(words))
	if found := search(t, next, SearchRequest{Query: "Zebulon"}); finds(found, kept.ID) && found.Hits[0].Signals != nil {
		for _, s := range found.Hits[0].Signals {
			if s.Name == "words" {
				t.Errorf("it is found by what was redacted: %+v", found.Hits[0])
			}
		}
	}
	settle(t, next)
	if _, err := b.Maintenance().Rescan(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if files := onDisk(t, dir, "Zebulon"); len(files) > 0 {
		t.Errorf("it is still in %q", files)
	}
	if hit, err := next.Get(t.Context(), kept.ID); err != nil || hit.Content != "[REDACTED:listed] lives in Porto." {
		t.Errorf("%q, %v", hit.Content, err)
	}
}

// SECURITY: a group's view rescans its own memory only, and contact details stay where the operator keeps them.
func TestRescanKeepsApart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v, g := open(t, dir, audience.DM(), new(words)), open(t, dir, group(t, "chess"), new(words))
	private := keep(t, v, record.Memory{Content: "Zebulon lives in Porto."})
	shared := keep(t, v, record.Memory{Content: "Zebulon likes soup."}, record.Shared)
	keep(t, g, record.Memory{Content: "Zebulon opened with the queen's pawn."})
	done, err := better(t, dir, group(t, "chess"), "zebulon\n").Maintenance().Rescan(t.Context(), false)
	if err != nil || len(done) != 1 || done[0].Compartment != g.Home() {
		t.Errorf("%+v, %v", done, err)
	}
	for _, id := range []string{private.ID, shared.ID} {
		if hit, err := v.Get(t.Context(), id); err != nil || !strings.Contains(hit.Content, "Zebulon") {
			t.Errorf("%q, %v", hit.Content, err)
		}
	}

	dir = t.TempDir()
	keeps := Open(Options{
		Dir: filepath.Join(dir, ".yamo"), Audience: audience.DM(), AgentID: "tester", Embedder: new(words),
		KeepContacts: true,
	})
	t.Cleanup(func() { _ = keeps.Close(t.Context()) })
	keep(t, keeps, record.Memory{Content: "Ana's address is ana@lisboa.pt."})
	if done, err := keeps.Maintenance().Rescan(t.Context(), true); err != nil || len(done) > 0 {
		t.Errorf("with the setting: %+v, %v", done, err)
	}
	done, err = open(t, dir, audience.DM(), new(words)).Maintenance().Rescan(t.Context(), true)
	one := []scrub.Redaction{{Kind: scrub.Email, Count: 1}}
	if err != nil || len(done) != 1 || cmp.Diff(one, done[0].Redactions) != "" {
		t.Errorf("without it: %+v, %v", done, err)
	}
}
