package lance

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/mesh/where"
)

var hostile = []string{
	"plain", "it's", "''", "'", `\'`, `\`, `"double"`, "a -- comment", "x' OR 'a' = 'a", "x') OR (1 = 1", "%", "_",
	"`tick`",
	"new\nline", "tab\t", "ü", "u\u0308", "漢字", "\u202e", "😀", " ", "null", "NULL", "; DROP TABLE memory_entries",
	"/* c */", "$1", "?", ":name",
}

// wantHits checks that a search with the filter f finds exactly ids, in this order.
func wantHits(t *testing.T, name string, db *DB, vec []float32, f Filter, ids ...string) {
	t.Helper()
	hits, err := db.Nearest(t.Context(), vec, 100, f)
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	var got []string
	for _, h := range hits {
		got = append(got, h.ID)
	}
	if diff := cmp.Diff(ids, got); diff != "" {
		t.Errorf("%s finds (-want +got):\n%s", name, diff)
	}
}

// Every hostile value is stored and must select its own row and no other.
func TestFilterSelectsExactlyTheValue(t *testing.T) {
	t.Parallel()
	db := newTest(t)
	rng := testRNG()
	rows := someMemories(rng, 0, len(hostile)+1, testDim)
	for i, s := range hostile {
		rows[i].SessionID, rows[i].AgentID, rows[i].SourceSkillID, rows[i].MemoryType = s, s, s, s
	}
	mustAdd(t, db, rows)
	vec := unit(rng, testDim)
	for i, s := range hostile {
		for name, f := range map[string]Filter{
			"type": {Type: s}, "session": {SessionID: s}, "agent": {AgentID: s}, "skill": {SkillID: s},
			"all": {Type: s, SessionID: s, AgentID: s, SkillID: s},
		} {
			wantHits(t, fmt.Sprintf("%s %q", name, s), db, vec, f, rows[i].ID)
		}
		expr, err := where.Parse("session_id = '" + strings.ReplaceAll(s, "'", "''") +
			"' AND NOT agent_id IN ('it''s not', '--') AND memory_type IS NOT NULL")
		if err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		wantHits(t, fmt.Sprintf("expression %s", expr), db, vec, Filter{Where: expr}, rows[i].ID)
		wantHits(t, fmt.Sprintf("session %q", s+"x"), db, vec, Filter{SessionID: s + "x"})
	}
}

func TestFilterRefuses(t *testing.T) {
	t.Parallel()
	nan := float32(math.NaN())
	for name, f := range map[string]Filter{
		"NUL":         {SessionID: "a\x00' OR 'a' = 'a"},
		"not UTF-8":   {AgentID: "\xff"},
		"too long":    {Type: strings.Repeat("x", maxString+1)},
		"NaN":         {MinImportance: &nan},
		"year":        {Since: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)},
		"skill's NUL": {SkillID: "\x00"},
	} {
		db := newTest(t)
		if _, err := db.Nearest(t.Context(), unit(testRNG(), testDim), 1, f); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v, want ErrInvalid", name, err)
		}
	}
}

func TestIDsRefused(t *testing.T) {
	t.Parallel()
	for name, ids := range map[string][]string{
		"hostile id": {"a", "b' OR 'a' = 'a"},
		"many ids":   make([]string, maxIDs+1),
		"no ids":     {},
		"NUL in id":  {"a\x00"},
		"empty id":   {""},
	} {
		if q, err := idIn(ids); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %.40q, %v; want ErrInvalid", name, q, err)
		}
	}
}

func TestFilterRanges(t *testing.T) {
	t.Parallel()
	db := newTest(t)
	rng := testRNG()
	rows := someMemories(rng, 0, 20, testDim) // importance 0, .1 … .9, 0, …; one a millisecond
	rows[19].ImportanceScore = nil
	mustAdd(t, db, rows)
	at := func(i int) time.Time { return time.UnixMilli(int64(epoch + i)).In(time.FixedZone("", 3600)) }
	importance := func(v float32) *float32 { return &v }
	for name, c := range map[string]struct {
		filter Filter
		want   func(i int) bool
	}{
		"none":             {Filter{}, func(int) bool { return true }},
		"since":            {Filter{Since: at(7)}, func(i int) bool { return i >= 7 }},
		"until":            {Filter{Until: at(7)}, func(i int) bool { return i < 7 }},
		"since and until":  {Filter{Since: at(3), Until: at(9)}, func(i int) bool { return i >= 3 && i < 9 }},
		"exactly .7 is in": {Filter{MinImportance: importance(0.7)}, func(i int) bool { return i%10 >= 7 && i != 19 }},
		"negative":         {Filter{MinImportance: importance(-1)}, func(i int) bool { return i != 19 }},
		"tiny": {
			Filter{MinImportance: importance(math.SmallestNonzeroFloat32)},
			func(i int) bool { return i%10 >= 1 && i != 19 },
		},
		"before every time": {Filter{Until: time.Date(1800, 1, 1, 0, 0, 0, 0, time.UTC)}, func(int) bool { return false }},
	} {
		var want []string
		for i := range rows {
			if c.want(i) {
				want = append(want, rows[i].ID)
			}
		}
		hits, err := db.Nearest(t.Context(), rows[0].Vector, 100, c.filter)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var got []string
		for _, h := range hits {
			got = append(got, h.ID)
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func FuzzQuote(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		q, err := quote(s)
		if err != nil {
			return
		}
		// Inside the outer quotes every quote has a twin, so nothing but the last one ends the literal.
		inner := q[1 : len(q)-1]
		if strings.ContainsRune(q, 0) {
			t.Errorf("quote(%q) = %q has a NUL", s, q)
		}
		if strings.Contains(strings.ReplaceAll(inner, "''", ""), "'") {
			t.Errorf("quote(%q) = %q has a single quote inside", s, q)
		}
		if strings.ReplaceAll(inner, "''", "'") != s {
			t.Errorf("quote(%q) = %q is another text", s, q)
		}
	})
}
