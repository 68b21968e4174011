package mesh

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh/lance"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// revised stores text that supersedes memories.
func revised(t testing.TB, v *View, content string, supersedes ...string) Remembered {
	t.Helper()
	s, err := v.Scrub(record.Memory{Content: content}, "")
	if err != nil {
		t.Fatal(err)
	}
	kept, err := v.Remember(t.Context(), s, Intent{Supersedes: supersedes})
	if err != nil {
		t.Fatalf("remember %q: %v", content, err)
	}
	return kept
}

// texts are what a search finds.
func texts(t testing.TB, v *View, q SearchRequest) (list []string) {
	t.Helper()
	for _, hit := range search(t, v, q).Hits {
		list = append(list, hit.Content)
	}
	return list
}

func TestSupersededMemoriesAreNotFound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := open(t, dir, audience.DM(), new(words))
	lisbon := revised(t, v, "Ana lives in Lisbon.")
	revised(t, v, "Ana likes tea.")
	query := SearchRequest{Query: "where does Ana live"}
	texts(t, v, query) // fills the cache
	porto := revised(t, v, "Ana moved to Porto.", lisbon.ID)
	if diff := cmp.Diff([]string{lisbon.ID}, porto.Superseded); diff != "" {
		t.Errorf("superseded (-want +got):\n%s", diff)
	}
	braga := revised(t, v, "Ana moved to Braga.", porto.ID)
	for name, view := range map[string]*View{"the same process": v, "another": open(t, dir, audience.DM(), new(words))} {
		found := search(t, view, query).Hits
		var got []string
		for _, hit := range found {
			got = append(got, hit.Content)
			if hit.ID != braga.ID {
				continue
			}
			if len(hit.Replaced) != 1 {
				t.Fatalf("%s: it replaced %d memories, want 1", name, len(hit.Replaced))
			}
			if past := hit.Replaced[0]; past.ID != porto.ID || !past.Until.Equal(braga.CreatedAt) {
				t.Errorf("%s: it replaced %s until %v, want %s until %v", name, past.ID, past.Until, porto.ID, braga.CreatedAt)
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff([]string{"Ana likes tea.", "Ana moved to Braga."}, got); diff != "" {
			t.Errorf("%s: found (-want +got):\n%s", name, diff)
		}
		for _, id := range []string{lisbon.ID, porto.ID, braga.ID} {
			history, err := view.History(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			var versions []string
			for _, h := range history {
				by := ""
				if h.Past != nil {
					by = h.Past.New
				}
				versions = append(versions, h.Content+" "+by)
			}
			want := []string{"Ana lives in Lisbon. " + porto.ID, "Ana moved to Porto. " + braga.ID, "Ana moved to Braga. "}
			if diff := cmp.Diff(want, versions); diff != "" {
				t.Errorf("%s: history of %s (-want +got):\n%s", name, id, diff)
			}
		}
	}
	// Again, as a client does that has not seen what came since.
	late, err := v.Scrub(record.Memory{Content: "Ana moved to Porto."}, "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = v.Remember(t.Context(), late, Intent{Supersedes: []string{lisbon.ID}})
	wantFault(t, err, "not current any more", braga.ID)
	if again := revised(t, v, "Ana moved to Porto.", braga.ID); !again.Created {
		t.Error("a past text is not a new memory: it may be true again")
	}
	reports, err := v.Maintenance().Verify(t.Context())
	if err != nil || !reports[0].Intact() {
		t.Errorf("the ledger is not intact: %v", err)
	}
}

func TestSupersedingIsIdempotent(t *testing.T) {
	t.Parallel()
	v := open(t, t.TempDir(), audience.DM(), new(words))
	old := revised(t, v, "The price is 40 euros.")
	first := revised(t, v, "The price is 45 euros.", old.ID)
	changes := func() int {
		c, err := v.open(record.Private)
		if err != nil {
			t.Fatal(err)
		}
		s := c.Snapshot()
		defer s.Release()
		return s.Changes()
	}
	before := changes()
	second := revised(t, v, "The price is 45 euros.", old.ID)
	if second.ID != first.ID || second.Created {
		t.Errorf("id %s, created %v; want %s", second.ID, second.Created, first.ID)
	}
	if diff := cmp.Diff([]string{old.ID}, second.Superseded); diff != "" {
		t.Errorf("superseded (-want +got):\n%s", diff)
	}
	if after := changes(); after != before {
		t.Errorf("%d changes, want %d", after, before)
	}
}

// The follow-up to an answer with similar memories: the same content again, with less than the first call said.
func TestExistingMemorySupersedes(t *testing.T) {
	t.Parallel()
	v := open(t, t.TempDir(), audience.DM(), new(words))
	old := revised(t, v, "The standup is at 9:30.")
	stored := keep(t, v, record.Memory{Content: "The standup is at 10:00.", SessionID: "s", Type: "event"})
	later := revised(t, v, "The standup is at 10:00.", old.ID)
	if later.ID != stored.ID {
		t.Errorf("it is another memory, %s and %s", later.ID, stored.ID)
	}
	if got := texts(t, v, SearchRequest{Query: "standup"}); !slices.Equal(got, []string{"The standup is at 10:00."}) {
		t.Errorf("found %q", got)
	}
}

// The assistant's repetition of what a person said is not a word of the assistant's; a person who says it too is.
func TestRepetitionKeepsTheSpeaker(t *testing.T) {
	t.Parallel()
	v := open(t, t.TempDir(), audience.DM(), new(words))
	for _, test := range []struct{ first, then, want string }{
		{"user", "assistant", "user"},
		{"Human", "https://example.org", "Human"},
		{"Rui", "AI", "Rui"},
		{"assistant", "user", "user"},
		{"", "assistant", "assistant"},
		{"notes", "Rui", "Rui"},
	} {
		text := "The pump of " + test.first + " and " + test.then + " is blue."
		first := keep(t, v, record.Memory{Content: text, Source: test.first})
		second := keep(t, v, record.Memory{Content: text, Source: test.then})
		if got, err := v.Get(t.Context(), first.ID); err != nil || got.Source != test.want || second.ID != first.ID {
			t.Errorf("%q, then %q: %q, %v", test.first, test.then, got.Source, err)
		}
	}
}

// openAt opens a memory with a clock.
func openAt(t testing.TB, now *time.Time) *View {
	t.Helper()
	v := Open(Options{
		Dir: t.TempDir() + "/.yamo", Audience: audience.DM(), AgentID: "tester", Embedder: new(words), Logger: testLog(t),
		Now: func() time.Time { return *now },
	})
	t.Cleanup(func() { _ = v.Close(t.Context()) })
	return v
}

// Erasing a memory erases its revisions, and leaves the others as they are.
func TestDeletingInAChain(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		erase int
		want  []string
	}{
		"the first":  {0, []string{"The office is in Rua Nova."}},
		"the middle": {1, []string{"The office is in Rua Nova."}},
		"the last":   {2, []string{"The office is in Rua Augusta."}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			v := open(t, dir, audience.DM(), new(words))
			var ids []string
			for _, text := range []string{
				"The office is in Rua Garrett.", "The office is in Rua Augusta.", "The office is in Rua Nova.",
			} {
				s, err := v.Scrub(record.Memory{Content: text, Rationale: "the landlord told us about " + text}, "")
				if err != nil {
					t.Fatal(err)
				}
				kept, err := v.Remember(t.Context(), s, Intent{Supersedes: ids[max(0, len(ids)-1):]})
				if err != nil {
					t.Fatal(err)
				}
				ids = append(ids, kept.ID)
			}
			if err := v.Delete(t.Context(), ids[test.erase], ""); err != nil {
				t.Fatal(err)
			}
			for process, view := range map[string]*View{"this": v, "another": open(t, dir, audience.DM(), new(words))} {
				if diff := cmp.Diff(test.want, texts(t, view, SearchRequest{Query: "office"})); diff != "" {
					t.Errorf("%s process: found (-want +got):\n%s", process, diff)
				}
			}
			street := []string{"Garrett", "Augusta", "Nova"}[test.erase]
			if files := onDisk(t, dir, street); len(files) > 0 {
				t.Errorf("%s is still in %v", street, files)
			}
			reports, err := v.Maintenance().Verify(t.Context())
			if err != nil || !reports[0].Intact() {
				t.Errorf("the ledger is not intact: %v", err)
			}
		})
	}
}

func TestSupersedingRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	dm, team := open(t, dir, audience.DM(), new(words)), open(t, dir, group(t, "team"), new(words))
	private := keep(t, dm, record.Memory{Content: "The launch is in May."}).ID
	shared := keep(t, dm, record.Memory{Content: "The launch is in summer."}, record.Shared).ID
	said := keep(t, team, record.Memory{Content: "The launch is in June."}).ID
	for name, test := range map[string]struct {
		view *View
		to   record.Visibility
		id   string
		want []string
	}{
		"an unknown id": {
			dm, "", "mem_1700000000000_abcdef",
			[]string{"supersedes:", "mem_1700000000000_abcdef"},
		},
		"shared by private":             {dm, "", shared, []string{"supersedes:", "visibility shared"}},
		"private by shared":             {dm, record.Shared, private, []string{"supersedes:", "private"}},
		"a group's by the DM's":         {dm, "", said, []string{"supersedes:", "group:team"}},
		"shared by a group's":           {team, "", shared, []string{"supersedes:", "shared"}},
		"private by a group's: unknown": {team, "", private, []string{"supersedes:", "no memory"}},
	} {
		s, err := test.view.Scrub(record.Memory{Content: "The launch is in July."}, test.to)
		if err != nil {
			t.Fatal(err)
		}
		_, err = test.view.Remember(t.Context(), s, Intent{To: test.to, Supersedes: []string{test.id}})
		t.Run(name, func(t *testing.T) { wantFault(t, err, test.want...) })
	}
	s, err := dm.Scrub(record.Memory{Content: "Suppose that the launch is in August.", Type: record.SessionType}, "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = dm.Remember(t.Context(), s, Intent{Supersedes: []string{private}})
	wantFault(t, err, "supersedes:", private, "another type")
	if s, err = dm.Scrub(record.Memory{Content: "The launch is in May."}, ""); err != nil {
		t.Fatal(err)
	}
	_, err = dm.Remember(t.Context(), s, Intent{Supersedes: []string{private}})
	wantFault(t, err, "supersedes:", private)
	if got := texts(t, dm, SearchRequest{Query: "launch"}); len(got) != 3 {
		t.Errorf("after refused calls %q are found", got)
	}
}

func TestStoringAgainUpdates(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := open(t, dir, audience.DM(), new(words))
	first := keep(t, v, record.Memory{
		Content: "Tea at four.", Tags: []string{"old"}, Rationale: "guests",
		Metadata: map[string]any{"a": 1.},
	})
	settle(t, v)
	again := record.Memory{
		Content: "Tea at four.", Tags: []string{"new"}, Importance: new(float32(.9)), SessionID: "s",
		Metadata: map[string]any{"b": 2.},
	}
	update := func(m record.Memory) Remembered {
		s, err := v.Scrub(m, "")
		if err != nil {
			t.Fatal(err)
		}
		kept, err := v.Remember(t.Context(), s, Intent{})
		if err != nil {
			t.Fatal(err)
		}
		return kept
	}
	got := update(again)
	if got.ID != first.ID {
		t.Errorf("it is a new memory")
	}
	if diff := cmp.Diff([]string{"tags", "importance", "session_id", "metadata"}, got.Updated); diff != "" {
		t.Errorf("updated (-want +got):\n%s", diff)
	}
	if twice := update(again); len(twice.Updated) > 0 {
		t.Errorf("the second time updates %q", twice.Updated)
	}
	want := record.Memory{
		Content: "Tea at four.", Type: "global", Tags: []string{"new"}, Importance: new(float32(.9)), SessionID: "s",
		Rationale: "guests", Metadata: map[string]any{"a": 1., "b": 2.},
	}
	for _, view := range []*View{v, open(t, dir, audience.DM(), new(words))} {
		hit, err := view.Get(t.Context(), first.ID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, hit.Memory); diff != "" {
			t.Errorf("memory (-want +got):\n%s", diff)
		}
		if got := texts(t, view, SearchRequest{Query: "tea", Tags: []string{"new"}, SessionID: "s"}); len(got) != 1 {
			t.Errorf("by the new fields %q are found", got)
		}
	}
	settle(t, v)
	if row := tableRow(t, v, first.ID); !strings.Contains(row.Metadata, `"new"`) || row.SessionID != "s" {
		t.Errorf("the table has session %q and metadata %s", row.SessionID, row.Metadata)
	}
}

func TestNearDuplicatesAreOneMemory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := open(t, dir, audience.DM(), new(words))
	first := revised(t, v, "Ana lives in Lisbon.")
	for i, text := range []string{
		"Ana lives in Lisbon", "ana lives in lisbon!", "Ana lives in Lisbon",
		"Ana lives in Lisbon.",
	} {
		again := revised(t, v, text)
		if again.ID != first.ID {
			t.Errorf("%q is another memory", text)
		}
		if want := []int{2, 3, 3, 3}[i]; again.Sightings != want {
			t.Errorf("%q: %d sightings, want %d", text, again.Sightings, want)
		}
	}
	revised(t, v, "Rui lives in Lisbon.")
	other := open(t, dir, audience.DM(), new(words))
	if got := texts(t, other, SearchRequest{Query: "who lives in Lisbon"}); len(got) != 2 {
		t.Errorf("found %q", got)
	}
	made, err := other.Separate(t.Context(), first.ID)
	if err != nil {
		t.Fatal(err)
	}
	if len(made) != 2 {
		t.Errorf("%d memories were separated, want 2", len(made))
	}
	if got := texts(t, v, SearchRequest{Query: "who lives in Lisbon"}); len(got) != 4 {
		t.Errorf("after separating found %q", got)
	}
	if again := revised(t, v, "Ana lives in Lisbon"); again.ID != made[0] {
		t.Errorf("the separated text is %s again, want %s", again.ID, made[0])
	}
	_, err = v.Separate(t.Context(), first.ID)
	wantFault(t, err, "id:", first.ID)
	// Erasing the memory erases its sightings.
	second := revised(t, v, "Eva plays the cello.")
	revised(t, v, "EVA PLAYS THE CELLO")
	if err := v.Delete(t.Context(), second.ID, ""); err != nil {
		t.Fatal(err)
	}
	if files := onDisk(t, dir, "CELLO"); len(files) > 0 {
		t.Errorf("the sighting is still in %v", files)
	}
}

// tableRow returns the row of a memory in LanceDB.
func tableRow(t testing.TB, v *View, id string) lance.Memory {
	t.Helper()
	c, err := v.open(record.Private)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := c.index.Tables.Memories(t.Context(), []string{id}, false)
	if err != nil || len(rows) != 1 {
		t.Fatalf("%d rows of %s: %v", len(rows), id, err)
	}
	return rows[0]
}

func TestSupersedingReachesTheTable(t *testing.T) {
	t.Parallel()
	v := open(t, t.TempDir(), audience.DM(), new(words))
	old := revised(t, v, "The gate code is in the drawer.")
	settle(t, v)
	fresh := revised(t, v, "The gate code is in the safe.", old.ID)
	settle(t, v)
	row := tableRow(t, v, old.ID)
	for _, want := range []string{`"superseded_by":"` + fresh.ID + `"`, `"superseded_at":"`} {
		if !strings.Contains(row.Metadata, want) {
			t.Errorf("%s is not in the metadata %s", want, row.Metadata)
		}
	}
	if row := tableRow(t, v, fresh.ID); strings.Contains(row.Metadata, "superseded") {
		t.Errorf("the current memory has the metadata %s", row.Metadata)
	}
	check(t, v)
}
