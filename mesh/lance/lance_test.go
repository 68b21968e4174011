package lance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const testDim = 16

var testModel = ModelInfo{Name: "test-model", Dimension: testDim}

func openTest(t testing.TB, dir string, model ModelInfo) *DB {
	t.Helper()
	db := Open(dir, model, Options{})
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error("close:", err)
		}
	})
	return db
}

func newTest(t testing.TB) *DB { return openTest(t, filepath.Join(t.TempDir(), "lance"), testModel) }

// unit returns a random unit vector.
func unit(rng *rand.Rand, dim int) []float32 {
	v := make([]float32, dim)
	var sum float64
	for i := range v {
		x := rng.NormFloat64()
		v[i] = float32(x)
		sum += x * x
	}
	scale(v, sum)
	return v
}

// scale makes v, whose squares add up to sum, a unit vector.
func scale(v []float32, sum float64) {
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
}

func testRNG() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

const epoch = 1_700_000_000_000

func memoryID(i int) string { return fmt.Sprintf("mem_%d_%06x", epoch+i, i) }

// someMemories returns n rows with ids memoryID(from), memoryID(from+1), …
func someMemories(rng *rand.Rand, from, n, dim int) []Memory {
	out := make([]Memory, n)
	for i := range out {
		importance := float32(i%10) / 10
		out[i] = Memory{
			ID: memoryID(from + i), Vector: unit(rng, dim), Content: fmt.Sprintf("memory number %d", from+i), Metadata: "{}",
			CreatedAt: time.UnixMilli(int64(epoch + from + i)).UTC(), MemoryType: "global", ImportanceScore: &importance,
		}
	}
	return out
}

// generation returns the folder of the current tables.
func generation(t testing.TB, dir string) string {
	t.Helper()
	var ix index
	content, err := os.ReadFile(filepath.Join(dir, indexName))
	if err == nil {
		err = json.Unmarshal(content, &ix)
	}
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, ix.Generation)
}

func mustAdd(t testing.TB, db *DB, rows []Memory) {
	t.Helper()
	if err := db.AddMemories(t.Context(), rows); err != nil {
		t.Fatal("add:", err)
	}
}

func mustIDs(t testing.TB, db *DB) []string {
	t.Helper()
	ids, err := sortedIDs(t.Context(), db)
	if err != nil {
		t.Fatal("ids:", err)
	}
	return ids
}

func mustCount(t testing.TB, db *DB, want int) {
	t.Helper()
	if n, err := db.Count(t.Context()); err != nil || n != want {
		t.Fatalf("count = %d, %v; want %d", n, err, want)
	}
}

func idsOf(rows []Memory) []string {
	var out []string
	for _, r := range rows {
		out = append(out, r.ID)
	}
	return out
}

func collect(t testing.TB, db *DB, vector bool) map[string]Memory {
	t.Helper()
	out := make(map[string]Memory)
	for m, err := range db.AllMemories(t.Context(), vector) {
		if err != nil {
			t.Fatal(err)
		}
		if _, twice := out[m.ID]; twice {
			t.Fatalf("row %s twice", m.ID)
		}
		out[m.ID] = m
	}
	return out
}

func byID(rows []Memory) map[string]Memory {
	out := make(map[string]Memory)
	for _, r := range rows {
		out[r.ID] = r
	}
	return out
}

// sameRows compares rows; go-cmp, which is slow on thousands, is only asked about a difference.
func sameRows(t testing.TB, want []Memory, got map[string]Memory) {
	t.Helper()
	if !reflect.DeepEqual(byID(want), got) {
		t.Errorf("rows (-want +got):\n%s", cmp.Diff(byID(want), got))
	}
}

func TestNothingIsTouchedBeforeTheFirstWrite(t *testing.T) {
	t.Parallel()
	db := newTest(t)
	ctx := t.Context()
	mustCount(t, db, 0)
	if hits, err := db.Nearest(ctx, unit(testRNG(), testDim), 5, Filter{}); err != nil || len(hits) != 0 {
		t.Errorf("nearest = %v, %v", hits, err)
	}
	if rows, err := db.Memories(ctx, []string{memoryID(1)}, true); err != nil || len(rows) != 0 {
		t.Errorf("memories = %v, %v", rows, err)
	}
	for _, f := range []func() error{
		func() error { return db.DeleteMemories(ctx, []string{memoryID(1)}) },
		func() error { return db.Compact(ctx) },
		func() error { return db.AddMemories(ctx, nil) },
		func() error { return db.Drop(ctx) },
	} {
		if err := f(); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(db.dir); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("the folder exists: %v", err)
	}
	mustAdd(t, db, someMemories(testRNG(), 0, 1, testDim))
	for _, dir := range []string{db.dir, generation(t, db.dir)} {
		info, err := os.Stat(dir)
		if err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("folder: %v, %v; want mode 0700", info.Mode(), err)
		}
	}
}

func TestRowsComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	db := newTest(t)
	rng := testRNG()
	one, count := float32(0.7), int32(-3)
	at := time.UnixMilli(1_699_999_999_123).UTC()
	rows := []Memory{
		{
			ID: "mem_1700000000000_00000a", Vector: unit(rng, testDim), Content: "", Metadata: "{}",
			CreatedAt: time.UnixMilli(1_700_000_000_000).UTC(),
		},
		{
			ID: "mem_1700000000001_zz9k2q", Vector: unit(rng, testDim), Content: "quote ' \" \\ ; -- \x00 \n ü 漢字 \u202e",
			Metadata:  `{ "a": "x\u0000" }`,
			CreatedAt: at, UpdatedAt: at.Add(time.Hour), SessionID: "s'1", AgentID: "agent:main", MemoryType: "lesson",
			ImportanceScore: &one, AccessCount: &count, LastAccessed: at.Add(2 * time.Hour),
			HeritageChain: `{"intentChain":[]}`, LessonPatternID: "p", SourceSkillID: "skill_1_000000",
		},
		{
			ID: "mem_1700000000003_00000d", Vector: unit(rng, testDim), Metadata: "{ }",
			CreatedAt: time.UnixMilli(1_700_000_000_003).UTC(), UpdatedAt: at,
		},
		{
			ID: "mem_1700000000004_00000e", Vector: unit(rng, testDim), Metadata: "{}",
			CreatedAt: time.UnixMilli(1_700_000_000_004).UTC(), LastAccessed: at,
		},
		{
			ID: "foreign-id", Vector: unit(rng, testDim), Content: strings.Repeat("long ", 20_000), Metadata: "{}",
			CreatedAt: at,
		},
		{
			ID: "mem_1700000000002_00000c", Vector: unit(rng, testDim), Content: "before 1970", Metadata: `{"k":[1,2]}`,
			CreatedAt: time.UnixMilli(-5).UTC(),
		},
	}
	mustAdd(t, db, rows)
	for range 2 { // as written, and after a compaction copied them
		got, err := db.Memories(t.Context(), append(idsOf(rows), memoryID(99), rows[0].ID), true)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(rows, got); diff != "" {
			t.Errorf("by id (-want +got):\n%s", diff)
		}
		sameRows(t, rows, collect(t, db, true))
		mustAdd(t, db, someMemories(rng, 0, 1, testDim))
		if err := db.DeleteMemories(t.Context(), []string{memoryID(0)}); err != nil {
			t.Fatal(err)
		}
		if err := db.Compact(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for id, m := range collect(t, db, false) {
		if m.Vector != nil {
			t.Errorf("%s has a vector that was not asked for", id)
		}
	}
}

func TestBlocksAndSkillsComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	db := newTest(t)
	ctx := t.Context()
	bs := []Block{
		{
			ID: "yamo_retain_1700000000000_00000a", AgentID: "a", Operation: "retain", Text: "agent: x;\n",
			Timestamp: time.UnixMilli(1_700_000_000_000).UTC(), Hash: "h", PrevHash: "g", Metadata: `{"seq":1}`,
		},
		{
			ID: "yamo_lesson_1700000000001_00000b", Operation: "lesson", Text: "t", Timestamp: time.UnixMilli(5).UTC(),
			Metadata: "{}",
		},
	}
	ss := []Skill{{
		ID: "skill_1700000000000_00000a", Name: "n'", Intent: "i", Text: "t", Vector: unit(testRNG(), testDim),
		Metadata: `{"reliability":0.5}`, CreatedAt: time.UnixMilli(1_700_000_000_000).UTC(),
	}}
	for range 2 { // adding twice changes nothing
		if err := errors.Join(db.AddBlocks(ctx, bs), db.AddSkills(ctx, ss)); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Compact(ctx); err != nil {
		t.Fatal(err)
	}
	var gotB []Block
	for b, err := range db.Blocks(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		gotB = append(gotB, b)
	}
	var gotS []Skill
	for s, err := range db.Skills(ctx, true) {
		if err != nil {
			t.Fatal(err)
		}
		gotS = append(gotS, s)
	}
	if diff := cmp.Diff(bs, gotB); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(ss, gotS); diff != "" {
		t.Errorf("skills (-want +got):\n%s", diff)
	}
	if err := errors.Join(db.DeleteBlocks(ctx, []string{bs[0].ID}), db.DeleteSkills(ctx, []string{ss[0].ID})); err != nil {
		t.Fatal(err)
	}
	if err := db.AddBlocks(ctx, []Block{{
		ID: "yamo_x_1_0", Operation: "drop",
		Timestamp: time.UnixMilli(1),
	}}); !errors.Is(err, ErrInvalid) {
		t.Errorf("unknown operation: %v, want ErrInvalid", err)
	}
	for skill, err := range db.Skills(ctx, false) {
		t.Errorf("skill %q was not deleted (error %v)", skill.ID, err)
	}
}

func TestAddIsIdempotent(t *testing.T) {
	t.Parallel()
	db := newTest(t)
	rows := someMemories(testRNG(), 0, 3_000, testDim)
	mustAdd(t, db, rows[:10])
	mustAdd(t, db, rows[5:15])                                        // overlap, asked for by id
	mustAdd(t, db, append(slices.Clone(rows[20:22]), rows[20:22]...)) // twice in one call
	mustAdd(t, db, rows)                                              // overlap, compared with all ids
	mustAdd(t, db, rows)
	sameRows(t, rows, collect(t, db, true))
	mustCount(t, db, len(rows))
}

func TestDeleteAndAddAgain(t *testing.T) {
	t.Parallel()
	db := newTest(t)
	rows := someMemories(testRNG(), 0, 2_500, testDim)
	mustAdd(t, db, rows)
	if err := db.DeleteMemories(t.Context(), append(idsOf(rows[:1_500]), memoryID(9_999))); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(idsOf(rows[1_500:]), mustIDs(t, db)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	hits, err := db.Nearest(t.Context(), rows[3].Vector, 2_500, Filter{})
	if err != nil || len(hits) != 1_000 {
		t.Errorf("%d hits, %v; want the 1000 left", len(hits), err)
	}
	mustAdd(t, db, rows)
	mustCount(t, db, 2_500)
}

func TestInvalidArgumentsAreRefused(t *testing.T) {
	t.Parallel()
	db := newTest(t)
	ctx := t.Context()
	good := someMemories(testRNG(), 0, 1, testDim)[0]
	mustAdd(t, db, []Memory{good})
	nan := slices.Clone(good.Vector)
	nan[3] = float32(math.NaN())
	inf := slices.Clone(good.Vector)
	inf[3] = float32(math.Inf(1))
	for name, vec := range map[string][]float32{
		"nil": nil, "empty": {}, "short": good.Vector[1:], "NaN": nan, "infinite": inf, "zero": make([]float32, testDim),
		"long": append(slices.Clone(good.Vector), 0),
	} {
		m := good
		m.ID, m.Vector = memoryID(7), vec
		if err := db.AddMemories(ctx, []Memory{m}); !errors.Is(err, ErrInvalid) {
			t.Errorf("add with a vector that is %s: %v, want ErrInvalid", name, err)
		}
		if _, err := db.Nearest(ctx, vec, 1, Filter{}); !errors.Is(err, ErrInvalid) {
			t.Errorf("nearest to a vector that is %s: %v, want ErrInvalid", name, err)
		}
	}
	for name, change := range map[string]func(*Memory){
		"empty id":          func(m *Memory) { m.ID = "" },
		"quote in id":       func(m *Memory) { m.ID = "a'b" },
		"NUL in id":         func(m *Memory) { m.ID = "a\x00b" },
		"no time":           func(m *Memory) { m.ID, m.CreatedAt = "x", time.Time{} },
		"content not UTF-8": func(m *Memory) { m.Content = "\xff" },
		"session not UTF-8": func(m *Memory) { m.SessionID = "\xff" },
		"metadata array":    func(m *Memory) { m.Metadata = "[]" },
		"metadata cut off":  func(m *Memory) { m.Metadata = `{"a":` },
		"reserved metadata": func(m *Memory) { m.Metadata = `{"_at":[1,2,3]}` },
	} {
		m := good
		m.ID = memoryID(7)
		change(&m)
		if err := db.AddMemories(ctx, []Memory{good, m}); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v, want ErrInvalid", name, err)
		}
	}
	for _, k := range []int{0, -1, maxK + 1} {
		if _, err := db.Nearest(ctx, good.Vector, k, Filter{}); !errors.Is(err, ErrInvalid) {
			t.Errorf("k = %d: %v, want ErrInvalid", k, err)
		}
	}
	if err := db.DeleteMemories(ctx, []string{good.ID, "x' OR 'a' = 'a"}); !errors.Is(err, ErrInvalid) {
		t.Errorf("delete with a hostile id: %v, want ErrInvalid", err)
	}
	if diff := cmp.Diff([]string{good.ID}, mustIDs(t, db)); diff != "" {
		t.Errorf("a refused write changed the table (-want +got):\n%s", diff)
	}
}

func TestWrongModel(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "lance")
	mustAdd(t, openTest(t, dir, testModel), someMemories(testRNG(), 0, 3, testDim))
	for _, other := range []ModelInfo{{"other-model", testDim}, {testModel.Name, 2 * testDim}} {
		db := openTest(t, dir, other)
		_, err := db.Count(t.Context())
		var wrong *ModelError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), "yamo-mcp index rebuild") {
			t.Fatalf("count = %v, want a ModelError that names the rebuild", err)
		}
		if diff := cmp.Diff(&ModelError{Have: testModel, Want: other}, wrong); diff != "" {
			t.Error(diff)
		}
		if err := db.AddMemories(t.Context(), someMemories(testRNG(), 5, 1, other.Dimension)); !errors.As(err, &wrong) {
			t.Errorf("add = %v, want a ModelError", err)
		}
	}
	other := ModelInfo{"other-model", 2 * testDim}
	db := openTest(t, dir, other)
	if err := db.Drop(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustAdd(t, db, someMemories(testRNG(), 0, 2, other.Dimension))
	mustCount(t, db, 2)
}

func TestClosed(t *testing.T) {
	t.Parallel()
	db := newTest(t)
	mustAdd(t, db, someMemories(testRNG(), 0, 3, testDim))
	if err := errors.Join(db.Close(), db.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Count(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("count = %v, want ErrClosed", err)
	}
	if err := db.AddMemories(t.Context(), someMemories(testRNG(), 5, 1, testDim)); !errors.Is(err, ErrClosed) {
		t.Errorf("add = %v, want ErrClosed", err)
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	db := newTest(t)
	mustAdd(t, db, someMemories(testRNG(), 0, 3, testDim))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := db.Count(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("count = %v", err)
	}
	if err := db.AddMemories(ctx, someMemories(testRNG(), 5, 1, testDim)); !errors.Is(err, context.Canceled) {
		t.Errorf("add = %v", err)
	}
	if err := db.Compact(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("compact = %v", err)
	}
	mustCount(t, db, 3)
}

// Other programs keep one path, which leads to the current tables whatever made them again. The program itself does not
// follow it.
func TestPathIsStable(t *testing.T) {
	t.Parallel()
	db, rng := newTest(t), testRNG()
	if db.Path() != db.dir {
		t.Errorf("before the first write: %s", db.Path())
	}
	path := filepath.Join(db.dir, linkName)
	leads := func() string {
		t.Helper()
		target, err := os.Readlink(path)
		if err != nil || db.Path() != path || filepath.Join(db.dir, target) != generation(t, db.dir) {
			t.Fatalf("the path is %s, and %s leads to %q (%v)", db.Path(), path, target, err)
		}
		return target
	}
	mustAdd(t, db, someMemories(rng, 0, 2, testDim))
	mustAdd(t, db, someMemories(rng, 2, 2, testDim))
	first := leads()
	mustCompact(t, db)
	if leads() == first {
		t.Fatal("nothing was compacted")
	}
	if err := db.Drop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after a drop the link leads nowhere: %v", err)
	}
	mustAdd(t, db, someMemories(rng, 0, 3, testDim))
	leads()

	if err := errors.Join(os.Remove(path), os.Symlink(t.TempDir(), path)); err != nil {
		t.Fatal(err)
	}
	if db.Path() != generation(t, db.dir) {
		t.Errorf("another program's link is the path: %s", db.Path())
	}
	mustCount(t, db, 3)
}
