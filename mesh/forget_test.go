package mesh

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// What is known of a subject goes from every compartment, with what quotes it, the queries about it, and every byte on
// the disk; the rest stays.
func TestForget(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v, g := open(t, dir, audience.DM(), new(words)), open(t, dir, group(t, "chess"), new(words))
	gone := []Stored{
		keep(t, v, record.Memory{Content: "Zebulon lives in Porto."}),
		keep(t, v, record.Memory{Content: "The garden party is on Friday.", Tags: []string{"ZEBULON"}}),
		keep(t, v, record.Memory{Content: "Bring two chairs.", Rationale: "zebulon's back hurts"}),
		keep(t, v, record.Memory{Content: "Call back on Monday.", Metadata: map[string]any{"who": []any{"Zebulon"}}}),
		keep(t, v, record.Memory{Content: "Everybody likes Zebulon's soup."}, record.Shared),
		keep(t, g, record.Memory{Content: "Zebulon opened with the queen's pawn."}),
	}
	stay := keep(t, v, record.Memory{Content: "The zebra crossing is repaired."})
	old := keep(t, v, record.Memory{Content: "The guest of honour comes by bus."})
	current, err := v.Scrub(record.Memory{Content: "The guest of honour, Zebulon, comes by train."}, "")
	if err != nil {
		t.Fatal(err)
	}
	replaced, err := v.Remember(t.Context(), current, Intent{Supersedes: []string{old.ID}})
	if err != nil {
		t.Fatal(err)
	}
	gone = append(gone, replaced.Stored)
	lesson, err := v.Distill(t.Context(), record.LessonRequest{
		Situation: "A letter was lost.", ErrorPattern: "wrong_address", Oversight: "Zebulon had moved.", Fix: "Ask first.",
		PreventativeRule: "Ask for the address.", ApplicableScope: "letters", Severity: "low",
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.Skills().Ingest(t.Context(), SkillRequest{
		Text: "---\nname: soup\nintent: cook soup\n---\nFollow Zebulon's recipe.\n",
	}); err != nil {
		t.Fatal(err)
	}
	settle(t, v)
	settle(t, g)
	for _, query := range []string{"where does Zebulon live", "is the crossing repaired"} {
		search(t, v, SearchRequest{Query: query})
	}
	search(t, g, SearchRequest{Query: "zebulon's opening"})

	subject, err := ParseSubject("Zebulon")
	if err != nil {
		t.Fatal(err)
	}
	before, err := v.Mentions(t.Context(), subject)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{lesson.MemoryID: true}
	for _, s := range gone {
		want[s.ID] = true
	}
	got := map[string]bool{}
	for _, hit := range before.Memories {
		got[hit.ID] = true
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("wanted (-), listed (+):\n%s", diff)
	}
	if before.Queries != 2 || len(before.Skills) != 1 {
		t.Errorf("%d queries and %d skills, want 2 and 1", before.Queries, len(before.Skills))
	}

	late := keep(t, v, record.Memory{Content: "Zebulon writes while the person looks at the list."})
	done, err := v.Forget(t.Context(), subject, before)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.Get(t.Context(), late.ID); err != nil {
		t.Errorf("what was stored since the list was made: %v", err)
	}
	if err := v.Delete(t.Context(), late.ID, ""); err != nil {
		t.Fatal(err)
	}
	if len(done.Memories) != len(want) || done.Queries != 2 || len(done.Skills) != 1 {
		t.Errorf("erased %d memories, %d queries, %d skills", len(done.Memories), done.Queries, len(done.Skills))
	}
	after, err := v.Mentions(t.Context(), subject)
	if err != nil {
		t.Fatal(err)
	}
	if len(after.Memories)+len(after.Skills)+after.Queries > 0 {
		t.Errorf("still there: %+v", after)
	}
	for _, text := range []string{"Zebulon", "zebulon", "ZEBULON"} {
		if files := onDisk(t, dir, text); len(files) > 0 {
			t.Errorf("%q is still in %q", text, files)
		}
	}
	if _, err := v.Get(t.Context(), stay.ID); err != nil {
		t.Errorf("the rest: %v", err)
	}
	if _, err := v.Get(t.Context(), old.ID); err != nil {
		t.Errorf("what was replaced and does not mention it: %v", err)
	}
	for _, v := range []*View{v, open(t, dir, audience.DM(), new(words))} {
		if found := search(t, v, SearchRequest{Query: "zebra crossing", Unrecorded: true}); !finds(found, stay.ID) {
			t.Errorf("%q", contents(found.Hits))
		}
	}
	reports, err := v.Maintenance().Health(t.Context())
	if err != nil || reports.Status == Unhealthy {
		t.Errorf("health: %+v, %v", reports, err)
	}
	ignore := func(ledger.Entry) error { return nil }
	if err := ledger.New(v.ledgerOptions(record.Private)).Sync(t.Context(), ignore); err != nil {
		t.Errorf("the chain: %v", err)
	}
}

// SECURITY: a group forgets its own only, and its list has nothing of others.
func TestGroupForgetsItsOwn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v, g := open(t, dir, audience.DM(), new(words)), open(t, dir, group(t, "chess"), new(words))
	private := keep(t, v, record.Memory{Content: "Zebulon lives in Porto."})
	shared := keep(t, v, record.Memory{Content: "Zebulon likes soup."}, record.Shared)
	own := keep(t, g, record.Memory{Content: "Zebulon opened with the queen's pawn."})
	subject, err := ParseSubject("zebulon")
	if err != nil {
		t.Fatal(err)
	}
	listed, err := g.Mentions(t.Context(), subject)
	if err != nil {
		t.Fatal(err)
	}
	done, err := g.Forget(t.Context(), subject, listed)
	if err != nil {
		t.Fatal(err)
	}
	if len(done.Memories) != 1 || done.Memories[0].ID != own.ID {
		t.Errorf("erased %q", contents(done.Memories))
	}
	for _, s := range []Stored{private, shared} {
		if _, err := v.Get(t.Context(), s.ID); err != nil {
			t.Errorf("%s memory: %v", s.Visibility, err)
		}
	}
}

func TestSubjects(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", " ", "the", "my", "!?"} {
		_, err := ParseSubject(text)
		wantFault(t, err, "give a name or a few words")
	}
	for text, in := range map[string]map[string]bool{
		"Marta Silva": {
			"Marta Silva called.": true, "silva, marta": true, "Marta called.": true, "Silva too.": true,
			"Rui Silva met Marta Costa.": false,
		},
		"my divorce": {"The divorce was in May.": true, "divorced people": true, "My car": false},
		"José":       {"josé came": true, "Jose came": false},
		"jose":       {"José came": true, "Jose\u0301 came": true, "Josef came": false},
		"Falcão":     {"Falca\u0303o called": true, "Falcao called": false},
		"東京":         {"東京タワー": true, "京都": false},
		"user@x.org": {"mail USER@X.ORG now": true, "the user": false},
	} {
		subject, err := ParseSubject(text)
		if err != nil {
			t.Fatal(err)
		}
		for line, want := range in {
			if subject.In(line) != want {
				t.Errorf("%q in %q: %v", text, line, !want)
			}
		}
	}
}
