package mesh

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/internal/progress"
	"github.com/yamo-protocol/yamo-mcp/mesh/block"
	"github.com/yamo-protocol/yamo-mcp/mesh/derive"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// greenhouse is what a DM remembers about two matters.
var greenhouse = []string{
	"The irrigation pump in the greenhouse stopped twice this week. The filter was full of sand.",
	"Mira ordered a finer filter for the pump. It costs 40 euros.",
	"With the new filter the irrigation pump has run for ten days without a stop.",
	"The tomatoes in the greenhouse need water twice a day in July.",
	"Jon's flight to Lisbon leaves on Friday at noon.",
	"Jon is allergic to penicillin.",
}

func remember(t testing.TB, v *View, texts ...string) (ids []string) {
	t.Helper()
	for _, text := range texts {
		ids = append(ids, keep(t, v, record.Memory{Content: text}).ID)
	}
	return ids
}

func reflect(t testing.TB, v *View, q ReflectRequest) Reflected {
	t.Helper()
	r, err := v.Reflect(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestReflectOnWhatIsRecent(t *testing.T) {
	t.Parallel()
	v := open(t, t.TempDir(), audience.DM(), &words{})
	_, err := v.Reflect(t.Context(), ReflectRequest{})
	wantFault(t, err, "no memories yet")
	ids := remember(t, v, greenhouse...)
	r := reflect(t, v, ReflectRequest{Lookback: 2})
	if diff := cmp.Diff([]record.Source{{ID: ids[4], Origin: record.Private}, {ID: ids[5], Origin: record.Private}},
		r.Sources); diff != "" {
		t.Error(diff)
	}
	if again := reflect(t, v, ReflectRequest{Lookback: 2}); again.MemoryID != r.MemoryID {
		t.Error("a reflection became a source of the next")
	}
	if all := reflect(t, v, ReflectRequest{}); len(all.Sources) != len(greenhouse) {
		t.Errorf("%d sources", len(all.Sources))
	}
}

// What belongs to a session is no source of what outlives it.
func TestReflectLeavesSessionsOut(t *testing.T) {
	t.Parallel()
	v := open(t, t.TempDir(), audience.DM(), model(t))
	remember(t, v, greenhouse...)
	keep(t, v, record.Memory{Content: "The greenhouse is a secret draft.", Type: record.SessionType, SessionID: "s1"})
	for _, q := range []ReflectRequest{{}, {Topic: "greenhouse"}} {
		if r := reflect(t, v, q); strings.Contains(r.Content, "secret draft") {
			t.Errorf("topic %q: %s", q.Topic, r.Content)
		}
	}
}

func TestReflectRefuses(t *testing.T) {
	t.Parallel()
	v := open(t, t.TempDir(), audience.DM(), model(t))
	remember(t, v, greenhouse...)
	for _, test := range []struct {
		q    ReflectRequest
		want string
	}{
		{ReflectRequest{Topic: "quantum chromodynamics lattice"}, "topic: no memory is relevant to it"},
		{ReflectRequest{Topic: strings.Repeat("x", 501)}, "topic: 501 characters are too many"},
		{ReflectRequest{Topic: "\xff"}, "topic: the text is not valid UTF-8"},
		{ReflectRequest{Lookback: 51}, "lookback: use a number of memories from 1 to 50"},
		{ReflectRequest{Lookback: -1}, "lookback: use a number of memories from 1 to 50"},
	} {
		_, err := v.Reflect(t.Context(), test.q)
		wantFault(t, err, test.want)
	}
}

func TestReflectReportsProgress(t *testing.T) {
	t.Parallel()
	v := open(t, t.TempDir(), audience.DM(), &words{})
	remember(t, v, greenhouse...)
	var steps []string
	ctx := progress.With(t.Context(), func(_, _ int, doing string) { steps = append(steps, doing) })
	failing := &oracle{err: errors.New("no")}
	if _, err := v.Reflect(ctx, ReflectRequest{Completers: []derive.Completer{failing}}); err != nil {
		t.Fatal(err)
	}
	want := []string{"looking for memories", "asking the language model", "choosing sentences", "storing the reflection"}
	if diff := cmp.Diff(want, steps); diff != "" {
		t.Error(diff)
	}
}

// What a group said stays a group's in what a DM derives from it, whichever of them writes it; what a group derives
// is drawn from what it may see, and stays with it.
func TestReflectionKeepsOrigins(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	hikers := open(t, dir, group(t, "hiking"), &words{})
	said := keep(t, hikers, record.Memory{
		Content:    "The pump of the hut is broken for good.",
		Hypothesis: "nobody repairs the pump", Rationale: "the hut is old",
	}).ID
	dm := open(t, dir, audience.DM(), &words{})
	own := remember(t, dm, greenhouse[0])[0]
	shared := keep(t, dm, record.Memory{Content: "The pump of the club is new."}, record.Shared).ID

	r := reflect(t, dm, ReflectRequest{Topic: "pump"})
	if diff := cmp.Diff([]record.Source{
		{ID: said, Origin: "group:hiking"},
		{ID: own, Origin: record.Private},
		{ID: shared, Origin: record.Shared},
	}, r.Sources); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(r.Content, "“The pump of the hut is broken for good.” ("+said+", ") ||
		!strings.Contains(r.Content, ", said in the group hiking)") {
		t.Errorf("quoted as its own: %s", r.Content)
	}
	hit, err := dm.Get(t.Context(), r.MemoryID)
	if err != nil || hit.Visibility != record.Private {
		t.Fatalf("%+v, %v", hit, err)
	}
	want := &record.Heritage{
		IntentChain: []string{"synthesize_beliefs_from_memories"},
		Hypotheses:  []string{"(said in the group hiking) nobody repairs the pump"},
		Rationales:  []string{"(said in the group hiking) the hut is old", "Drawn from " + said + ", " + own + ", " + shared},
	}
	if diff := cmp.Diff(want, hit.Heritage); diff != "" {
		t.Errorf("heritage (-want +got):\n%s", diff)
	}
	// A model that keeps quiet about where it has it from.
	r = reflect(t, dm, ReflectRequest{
		Topic: "pump",
		Completers: []derive.Completer{&oracle{answer: "The pump of the hut is broken for good. The pump of the club is " +
			"new."}},
	})
	if r.Method != record.ByModel || !strings.HasSuffix(r.Content, "Also drawn from "+dm.label(said, t)+".") {
		t.Errorf("by a model: %+v", r)
	}

	o := &oracle{err: errors.New("no")}
	g := reflect(t, hikers, ReflectRequest{Topic: "pump", Completers: []derive.Completer{o}})
	if diff := cmp.Diff([]record.Source{{ID: said, Origin: "group:hiking"}, {ID: shared, Origin: record.Shared}},
		g.Sources); diff != "" {
		t.Error(diff)
	}
	if hit, err := hikers.Get(t.Context(), g.MemoryID); err != nil || hit.Visibility != "group:hiking" {
		t.Errorf("%+v, %v", hit, err)
	}
	if strings.Contains(g.Content+o.asked[0].Text, "irrigation") || strings.Contains(g.Content, "said in the group") {
		t.Errorf("a group's reflection: %s\n%s", g.Content, o.asked[0].Text)
	}
	for _, name := range []string{"shared", "groups/hiking"} {
		ledger, err := os.ReadFile(filepath.Join(dir, ".yamo", name, "ledger.ndjson"))
		switch {
		case err != nil:
			t.Fatal(err)
		case strings.Contains(string(ledger), own):
			t.Error("strings.Contains(string(ledger), own) is true")
		case strings.Contains(string(ledger), "irrigation"):
			t.Error(`strings.Contains(string(ledger), "irrigation") is true`)
		}
	}
}

// label is how v shows the source id.
func (v *View) label(id string, t *testing.T) string {
	t.Helper()
	hit, err := v.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return (&derive.Sources{Home: v.home()}).Label(hit)
}

// The block of RFC-0011 §3.4 is in the ledger byte for byte, and the reflection goes with its deletion.
func TestReflectBlock(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v, at := clocked(t, dir, audience.DM())
	remember(t, v, greenhouse...)
	at.advance(time.Minute)
	r := reflect(t, v, ReflectRequest{Topic: "pump; filter"})
	want := block.Reflect{
		Agent: "tester", Topic: "pump; filter", Sources: len(r.Sources), Time: at.now(), ReflectionID: r.ReflectionID,
		Insight: strings.Split(strings.Split(r.Content, "“")[1], "”")[0], Confidence: r.Confidence,
	}.Block().String()
	if got := lastBlock(t, v, "reflect"); got != want {
		t.Errorf("block (-want +got):\n%s", cmp.Diff(want, got))
	}
	if !strings.HasPrefix(r.ReflectionID, "reflect_") || !strings.Contains(want, "\n  topic;pump, filter;\n") {
		t.Error(want)
	}
	if err := v.Delete(t.Context(), r.MemoryID, ""); err != nil {
		t.Fatal(err)
	}
	if files := onDisk(t, dir, r.ReflectionID); len(files) > 0 {
		t.Errorf("still in %v", files)
	}
	if again := reflect(t, v, ReflectRequest{Topic: "pump; filter"}); !again.Created {
		t.Error("a deleted reflection is there")
	}
}

// lastBlock is the last block of an operation in the audience's own ledger.
func lastBlock(t *testing.T, v *View, op string) (text string) {
	t.Helper()
	err := ledger.New(v.ledgerOptions(v.home())).Sync(t.Context(), func(e ledger.Entry) error {
		if e.Op == op {
			text = e.Block
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestDerivedFrom(t *testing.T) {
	t.Parallel()
	v := open(t, t.TempDir(), audience.DM(), &words{})
	ids := remember(t, v, greenhouse[0], greenhouse[4])
	r := reflect(t, v, ReflectRequest{Topic: "irrigation pump greenhouse"})
	for i, want := range [][]string{{r.MemoryID}, {}} {
		if got, err := v.DerivedFrom(t.Context(), ids[i]); err != nil || cmp.Diff(want, got) != "" {
			t.Errorf("from %s: %v, %v, want %v", greenhouse[4*i], got, err, want)
		}
	}
	// A lesson that the cycle made of it and a skill may repeat it as well, even if the skill has changed since.
	failed := keep(t, v, record.Memory{Content: "The backup failed.", Metadata: failure("disk_full", "backups")}).ID
	runCycle(t, v, false)
	lessons, err := v.Lessons(t.Context(), LessonQuery{})
	if err != nil || len(lessons.Lessons) != 1 {
		t.Fatalf("%+v, %v", lessons, err)
	}
	made, err := v.Synthesize(t.Context(), SynthesizeRequest{Topic: "backup failed"})
	if err != nil {
		t.Fatal(err)
	}
	keep(t, v, record.Memory{Content: "The backup failed again, for want of ink."})
	switch again, err := v.Synthesize(t.Context(), SynthesizeRequest{Topic: "backup failed"}); {
	case err != nil:
		t.Fatal(err)
	case !again.Updated:
		t.Fatal("again.Updated is false")
	case again.SkillID != made.SkillID:
		t.Fatalf("again.SkillID = %v, want %v", again.SkillID, made.SkillID)
	}
	want := []string{lessons.Lessons[0].ID, made.SkillID}
	if got, err := v.DerivedFrom(t.Context(), failed); err != nil || cmp.Diff(want, got) != "" {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	for _, id := range slices.Backward(want) { // the skill quotes the lesson and would go with it
		if err := v.Delete(t.Context(), id, ""); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := v.DerivedFrom(t.Context(), failed); err != nil || len(got) != 0 {
		t.Errorf("after deletion: %v, %v", got, err)
	}
}

// Many processes that reflect at once leave one reflection.
func TestReflectOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := open(t, dir, audience.DM(), &words{})
	remember(t, first, greenhouse...)
	found := make(chan Reflected, 8)
	for range cap(found) {
		v := open(t, dir, audience.DM(), &words{})
		go func() {
			r, err := v.Reflect(t.Context(), ReflectRequest{})
			if err != nil {
				t.Error(err)
			}
			found <- r
		}()
	}
	ids, created := map[string]bool{}, 0
	for range cap(found) {
		r := <-found
		ids[r.MemoryID] = true
		if r.Created {
			created++
		}
	}
	if len(ids) != 1 || created != 1 {
		t.Errorf("%d reflections, %d of them new", len(ids), created)
	}
}

func (failing) Embed(context.Context, []string) ([][]float32, error) {
	return nil, errors.New("out of order")
}

func TestRelevant(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ scores, want []float64 }{
		{nil, nil},
		{[]float64{.19, .1}, []float64{}},
		{[]float64{.39, .2, .19}, []float64{.39, .2}}, // nothing is about the topic by its words
		{[]float64{1, .8, .25, .24, .2}, []float64{1, .8, .25}},
	} {
		var hits []record.Hit
		for _, score := range test.scores {
			hits = append(hits, record.Hit{Score: score})
		}
		var got []float64
		for _, h := range relevant(hits) {
			got = append(got, h.Score)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("of %v: %v, want %v", test.scores, got, test.want)
		}
	}
}
