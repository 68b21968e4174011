package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unique"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/block"
	"github.com/yamo-protocol/yamo-mcp/mesh/keyword"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/skill"
)

// imaged is process with an image.
func imaged(dir string) *Compartment {
	c := process(dir)
	c.Image = filepath.Join(dir, "start.image")
	return c
}

// save writes an image of c, however little was written since the last one.
func save(t *testing.T, c *Compartment) {
	t.Helper()
	c.imaged.Store(-1 << 40)
	if err := c.Save(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(c.Image); err != nil {
		t.Fatal(err)
	}
}

func synced(t *testing.T, c *Compartment) *Compartment {
	t.Helper()
	if err := c.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

// same compares projections field by field, but for locks, caches and what only counts changes.
func same(t *testing.T, want, got *Compartment) {
	t.Helper()
	want.words.ready()
	got.words.ready()
	diff := cmp.Diff(want.Projection, got.Projection,
		cmp.Exporter(func(reflect.Type) bool { return true }),
		cmp.Comparer(func(a, b unique.Handle[origin]) bool { return a == b }),
		cmpopts.IgnoreFields(Projection{}, "Vectors", "Changed", "mu", "bm25", "byID"),
		cmpopts.IgnoreFields(revisions{}, "changes"),
		cmpopts.IgnoreFields(words{}, "mu"),
		cmpopts.IgnoreFields(skill.Set{}, "changes"),
		cmpopts.IgnoreFields(keyword.Index{}, "words", "terms", "postings", "many", "docs", "heads"),
		cmpopts.EquateEmpty())
	if diff != "" {
		t.Errorf("the restored projection (-read from the ledger +restored):\n%s", diff)
	}
	for doc := range want.held {
		if got, ok := got.Doc(want.held[doc].id); ok == want.docs[doc].Deleted || ok && got != doc {
			t.Errorf("document %d is %d, %v by its id", doc, got, ok)
		}
	}
	for _, query := range []string{"cellar ladder", "seventh tea", "the Lisbon flat", "private words"} {
		if diff := cmp.Diff(scores(want, query), scores(got, query)); diff != "" {
			t.Errorf("%q (-read from the ledger +restored):\n%s", query, diff)
		}
	}
}

// scores are what the keyword index says of every memory.
func scores(c *Compartment, query string) map[string][3]float64 {
	s := c.Snapshot()
	defer s.Release()
	q := keyword.Parse(query)
	var stats keyword.Statistics
	var m keyword.Scores
	s.Keywords.Count(q, &stats)
	s.Keywords.Match(q, stats, &m)
	pairs, all := s.Keywords.Pairs(q, stats), map[string][3]float64{}
	for doc := range s.Docs {
		if id := s.ID(doc); id != "" {
			all[id] = [3]float64{float64(m.Own[doc]), float64(m.Context[doc]), pairs.In(doc)}
		}
	}
	return all
}

// everything is a ledger with every kind of entry.
func everything(t *testing.T, dir string) *Compartment {
	t.Helper()
	c := imaged(dir)
	importance := float32(.7)
	var list []ledger.Draft
	add := func(op, id string, data any) { list = append(list, ledger.Draft{Op: op, ID: id, Data: data}) }
	texts := []string{
		"We painted the cellar and kept the ladder there.", "Ana lives in the Lisbon flat.", "Ana moved to Porto.",
		"The seventh tea was green.", "the seventh TEA was green", "I always prefer tea to coffee.",
	}
	for i := range 40 {
		id := fmt.Sprintf("mem_%d_aaaaaa", i)
		add(OpRetain, id, &record.Record{
			ID: id, CreatedAt: epoch.Add(time.Duration(i) * time.Second), AgentID: "kit",
			Memory: record.Memory{
				Content: fmt.Sprintf("%s Note %d.", texts[i%len(texts)], i/len(texts)), Type: "global",
				SessionID: fmt.Sprint("s", i/7), Tags: []string{"a", "b"}, Importance: &importance, Source: "user",
				Metadata: map[string]any{"n": 1.5, "deep": map[string]any{"list": []any{"x", true, nil}}},
			},
		})
	}
	long := fmt.Sprintf("%s.", bytes.Repeat([]byte("The report names a pump. "), 80))
	add(OpRetain, "mem_90_aaaaaa", &record.Record{ID: "mem_90_aaaaaa", Memory: record.Memory{Content: long}})
	for i, certain := range []float64{.7, .9} {
		id := fmt.Sprintf("mem_%d_bbbbbb", i)
		add(OpLesson, id, &record.Record{
			ID: id, CreatedAt: epoch, Memory: record.Memory{Content: "Check the ladder.", Type: "lesson"},
			Lesson: &record.Lesson{PatternID: "p", RuleConfidence: certain},
		})
	}
	add(OpReflect, "mem_1_cccccc", &record.Record{
		ID: "mem_1_cccccc", Memory: record.Memory{Content: "Tea matters.", Type: "reflection"},
		Reflection: &record.Reflection{
			Key: "k", Method: record.ByModel, Sources: []record.Source{{ID: "mem_3_aaaaaa", Origin: record.Private}},
		},
	})
	add(OpHeritage, "mem_1_aaaaaa", &record.Heritage{IntentChain: []string{"a"}})
	add(OpRevise, "rev_1_a", &record.Revision{
		ID: "rev_1_a", Old: "mem_1_aaaaaa", New: "mem_2_aaaaaa", At: epoch, Why: "moved",
	})
	add(OpRevise, "rev_2_a", &record.Revision{ID: "rev_2_a", Old: "mem_7_aaaaaa", At: epoch})
	add(OpRevise, "rev_3_a", &record.Revision{ID: "rev_3_a", Old: "mem_7_aaaaaa", New: "mem_8_aaaaaa", At: epoch})
	add(OpUpdate, "mem_4_aaaaaa", record.Memory{Tags: []string{"new"}, Type: "event"})
	add(OpSighting, "mem_3_aaaaaa", &record.Record{Memory: record.Memory{Content: "The seventh tea was green!"}})
	add(OpSighting, "mem_5_aaaaaa", &record.Record{Memory: record.Memory{Content: "again"}})
	add(OpSeparate, "mem_5_aaaaaa", record.Separation{Into: []string{"mem_6_aaaaaa"}})
	add(OpRecall, "", Recall{AgentID: "kit", Found: []string{"mem_1_aaaaaa", "mem_other"}})
	for _, query := range []string{"Where is the ladder?", "green tea"} {
		list = append(list, ledger.Draft{
			Op: OpRecall, Block: block.Recall{Agent: "kit", Query: query, Time: epoch}.Block().String(),
			Data: Recall{Found: []string{"mem_1_aaaaaa", "mem_2_aaaaaa", "mem_other"}, Scores: []float64{.8, .9, .1}},
		})
	}
	add(OpAccesses, "", map[string]record.Accesses{"mem_1_aaaaaa": {Count: 4, Last: epoch}, "mem_other": {Count: 1}})
	add(OpSkill, "skill_1_a", &record.Skill{ID: "skill_1_a", Name: "Tea", Intent: "make tea", Text: "boil"})
	add(OpSkill, "skill_1_a", &record.Skill{ID: "skill_1_a", Name: "Tea", Intent: "make good tea", Text: "boil it"})
	add(OpSkillFeedback, "skill_1_a", skill.Use{Success: true, AgentID: "kit"})
	add(OpSkillFeedback, "skill_other", skill.Use{})
	add(OpSynthesize, "syn_1", &record.Synthesis{Key: "sk", SkillID: "skill_1_a", Method: record.ByExtract})
	if err := c.Append(t.Context(), drafts(list...)); err != nil {
		t.Fatal(err)
	}
	erase := func(*Snapshot, time.Time) ([]ledger.Draft, error) {
		return []ledger.Draft{{ID: "mem_9_aaaaaa"}, {ID: "mem_20_aaaaaa", Data: Erasure{File: "0a1b"}}}, nil
	}
	if err := c.Erase(t.Context(), erase); err != nil {
		t.Fatal(err)
	}
	return c
}

// A process that starts from an image has what one has that reads the ledger, also of what came after the image.
func TestImage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writer := everything(t, dir)
	save(t, writer)
	more := []ledger.Draft{
		retain("mem_100_a", "A new word: marmalade in the cellar."),
		{Op: OpRecall, Data: Recall{Found: []string{"mem_100_a"}}},
		{Op: OpRevise, ID: "rev_9_a", Data: &record.Revision{
			ID: "rev_9_a", Old: "mem_3_aaaaaa", New: "mem_100_a", At: epoch,
		}},
	}
	for range 2 {
		restored := synced(t, imaged(dir))
		if restored.imaged.Load() == 0 {
			t.Fatal("the image was not used")
		}
		same(t, synced(t, process(dir)), restored)
		if err := writer.Append(t.Context(), drafts(more...)); err != nil {
			t.Fatal(err)
		}
		synced(t, restored)
		same(t, synced(t, process(dir)), restored)
		more = []ledger.Draft{retain("mem_101_a", "More tea.")}
	}
	// What was restored can be deleted, and saved again.
	restored := synced(t, imaged(dir))
	erase := func(*Snapshot, time.Time) ([]ledger.Draft, error) { return []ledger.Draft{{ID: "mem_3_aaaaaa"}}, nil }
	if err := restored.Erase(t.Context(), erase); err != nil {
		t.Fatal(err)
	}
	save(t, restored)
	same(t, synced(t, process(dir)), synced(t, imaged(dir)))
}

// Every field of a projection is in the image, follows from what is, or need not be.
func TestImageCoversProjection(t *testing.T) {
	t.Parallel()
	decided := []string{
		"Visibility", "Vectors", "Retention", "Changed", "mu", // not from the ledger
		"entries", "revised", "accesses", "erased", "texts", "skills", "syntheses", "revisions", "sightings", "separated",
		"questions",
		"keywords",
		"docs", "held", "live", "byID", "words", "patterns", "derived", "sessions", "long", "standing", // addDerived
		"bm25", "passages", // follow the documents
	}
	var fields []string
	for f := range reflect.TypeFor[Projection]().Fields() {
		fields = append(fields, f.Name)
	}
	slices.Sort(decided)
	slices.Sort(fields)
	if diff := cmp.Diff(decided, fields); diff != "" {
		t.Errorf("decide whether an image needs it, and add it to imageState (-decided +fields):\n%s", diff)
	}
}

// What was erased is in no byte of the image or of what a killed process left of one; nor does a process that has not
// noticed the erasure bring it back.
func TestImageForgets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writer := imaged(dir)
	secret := "xylophonic Quetzalcoatlus"
	if err := writer.Append(t.Context(), drafts(retain("mem_1_a", "kept"), retain("mem_2_b", secret))); err != nil {
		t.Fatal(err)
	}
	save(t, writer)
	leftover := filepath.Join(dir, ".start.image-123")
	for _, file := range []string{writer.Image, leftover} {
		if err := os.WriteFile(leftover, []byte(secret), 0o600); err != nil {
			t.Fatal(err)
		}
		if raw, err := os.ReadFile(file); err != nil || !bytes.Contains(raw, []byte("Quetzalcoatlus")) {
			t.Fatalf("%s does not have what is erased next: %v", file, err)
		}
	}
	behind := synced(t, imaged(dir))
	erase := func(*Snapshot, time.Time) ([]ledger.Draft, error) { return []ledger.Draft{{ID: "mem_2_b"}}, nil }
	if err := writer.Erase(t.Context(), erase); err != nil {
		t.Fatal(err)
	}
	forgotten := func(after string) {
		t.Helper()
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			raw, err := os.ReadFile(filepath.Join(dir, file.Name()))
			if err != nil {
				t.Fatal(err)
			}
			for _, word := range []string{"xylophon", "uetzalcoatl"} {
				if bytes.Contains(bytes.ToLower(raw), []byte(word)) {
					t.Errorf("after %s, %s has %q", after, file.Name(), word)
				}
			}
		}
	}
	forgotten("the erasure")
	behind.imaged.Store(-1 << 40)
	if err := behind.Save(t.Context()); err != nil {
		t.Fatal(err)
	}
	forgotten("a save by a process that has not noticed")
	save(t, writer)
	forgotten("the next image")
	if diff := cmp.Diff([]string{"kept"}, contents(synced(t, imaged(dir)).Projection)); diff != "" {
		t.Errorf("restored (-want +got):\n%s", diff)
	}
}

// An image that does not fit is not used, and removed: the ledger is the truth.
func TestImageRefused(t *testing.T) {
	t.Parallel()
	flip := func(file string, at func(size int) int) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			t.Helper()
			path := filepath.Join(dir, file)
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			raw[at(len(raw))] ^= 1
			if err := os.WriteFile(path, raw, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, test := range map[string]struct {
		change  func(t *testing.T, dir string)
		damaged bool // the ledger is
	}{
		"a byte of a section":  {flip("start.image", func(int) int { return 20 }), false},
		"a byte of the header": {flip("start.image", func(n int) int { return n - tailSize - 3 }), false},
		"a byte of the seal":   {flip("start.image", func(n int) int { return n - 10 }), false},
		"its length":           {flip("start.image", func(n int) int { return n - 1 }), false},
		"cut off": {func(t *testing.T, dir string) {
			if err := os.Truncate(filepath.Join(dir, "start.image"), 9); err != nil {
				t.Fatal(err)
			}
		}, false},
		"a link": {func(t *testing.T, dir string) {
			path := filepath.Join(dir, "start.image")
			if err := os.Rename(path, path+"2"); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(path+"2", path); err != nil {
				t.Fatal(err)
			}
		}, false},
		"an altered ledger": {flip("ledger.ndjson", func(n int) int { return n / 2 }), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			save(t, everything(t, dir))
			test.change(t, dir)
			c := imaged(dir)
			if err := c.Sync(t.Context()); (err != nil) != test.damaged {
				t.Errorf("Sync: %v, damaged %v", err, test.damaged)
			}
			if c.imaged.Load() != 0 {
				t.Error("the image was used")
			}
			// If it is the ledger that is damaged, reading it changes nothing.
			if _, err := os.Lstat(c.Image); (err == nil) != test.damaged {
				t.Errorf("the image is still there: %v", err == nil)
			}
			if !test.damaged {
				same(t, synced(t, process(dir)), c)
			}
		})
	}
}

// The image of another compartment is refused, although it was made with the same key.
func TestImageOfAnotherCompartment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	save(t, everything(t, dir))
	other := ledger.New(ledger.Options{
		Path: filepath.Join(dir, "ledger.ndjson"), Name: "group:x", Lock: filepath.Join(dir, "lock"),
		Key: func(bool) ([]byte, error) { return make([]byte, 32), nil },
	})
	c := imaged(dir)
	c.ledger = other
	if err := c.Sync(t.Context()); err == nil {
		t.Error("the ledger of another compartment is read")
	}
	if c.imaged.Load() != 0 {
		t.Error("the image was used")
	}
}

// An image is used by later versions of the program, so that what it has of these texts must not change without its
// format.
func TestImageFormat(t *testing.T) {
	t.Parallel()
	const format, want = "11.2", "92d8881da832bf85"
	hash := sha256.New()
	words := keyword.New()
	for i, text := range []string{
		"We painted the cellar's ladder; userID 17 and HTTPServer v2.0 in snake_case.", "ЁЛКА стоит. 東京タワーへ行く",
		"Always answer in French when I ask about wine.", "I prefer tea", "The user prefers tea.", "Please use metric units.",
		"Use UTC in all reports.", "Use UTC in this report.", "Show temperatures in Celsius.",
		"Write a letter to all tenants.",
		"the \u202eend\u200b of\ta\x07 bell\r\nline",
		strings.Repeat("A long text about many pumps and valves. ", 60), "“No.”", "",
	} {
		r := &record.Record{ID: fmt.Sprint(i), Memory: record.Memory{
			Content: text, Tags: []string{text}, Source: text, Metadata: map[string]any{"a": text},
		}}
		r.Clean()
		raw, err := appendDocuments(nil, []imageDocument{{hold(r), derive(r)}})
		if err != nil {
			t.Fatal(err)
		}
		hash.Write(raw)
		words.Add(text, i-1)
	}
	if err := words.Image(hash); err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(hash.Sum(nil))[:16]; imageFormat != format || got != want {
		t.Errorf("an image of format %s has %s here, was %s, %s: change imageFormat or keyword.Version, and this test",
			imageFormat, got, format, want)
	}
}
