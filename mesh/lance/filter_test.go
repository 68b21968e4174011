package lance

import (
	"errors"
	"fmt"
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
		all := (*where.Expr)(nil)
		for _, column := range []string{"memory_type", "session_id", "agent_id", "source_skill_id"} {
			wantHits(t, fmt.Sprintf("%s %q", column, s), db, vec, Filter{where.Equal(column, s, nil)}, rows[i].ID)
			all = where.Equal(column, s, all)
		}
		wantHits(t, fmt.Sprintf("all %q", s), db, vec, Filter{all}, rows[i].ID)
		expr, err := where.Parse("session_id = '" + strings.ReplaceAll(s, "'", "''") +
			"' AND NOT agent_id IN ('it''s not', '--') AND memory_type IS NOT NULL")
		if err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		wantHits(t, fmt.Sprintf("expression %s", expr), db, vec, Filter{expr}, rows[i].ID)
		wantHits(t, fmt.Sprintf("session %q", s+"x"), db, vec, Filter{where.Equal("session_id", s+"x", nil)})
	}
}

func TestFilterRefuses(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]string{"NUL": "a\x00' OR 'a' = 'a", "not UTF-8": "\xff"} {
		db := newTest(t)
		f := Filter{where.Equal("session_id", value, nil)}
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
	at := func(i int) string { // in another zone than the tables'
		return "'" + time.UnixMilli(int64(epoch+i)).In(time.FixedZone("", 3600)).Format(time.RFC3339Nano) + "'"
	}
	for filter, want := range map[string]func(i int) bool{
		"":                       func(int) bool { return true },
		"created_at >= " + at(7): func(i int) bool { return i >= 7 },
		"created_at < " + at(7):  func(i int) bool { return i < 7 },
		"created_at >= " + at(3) + " AND created_at < " + at(9): func(i int) bool { return i >= 3 && i < 9 },
		"created_at < '1800-01-01'":                             func(int) bool { return false },
		"importance_score > 0.65":                               func(i int) bool { return i%10 >= 7 && i != 19 },
		"importance_score >= -1":                                func(i int) bool { return i != 19 },
		"importance_score > 0":                                  func(i int) bool { return i%10 >= 1 && i != 19 },
	} {
		var ids []string
		for i := range rows {
			if want(i) {
				ids = append(ids, rows[i].ID)
			}
		}
		var f Filter
		if filter != "" {
			expr, err := where.Parse(filter)
			if err != nil {
				t.Fatalf("%s: %v", filter, err)
			}
			f.Where = expr
		}
		hits, err := db.Nearest(t.Context(), rows[0].Vector, 100, f)
		if err != nil {
			t.Errorf("%q: %v", filter, err)
		}
		var got []string
		for _, h := range hits {
			got = append(got, h.ID)
		}
		slices.Sort(got)
		if diff := cmp.Diff(ids, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", filter, diff)
		}
	}
}

// FuzzQuote looks for a value that ends its literal in a predicate, or becomes another value.
func FuzzQuote(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		predicate, err := Filter{where.Equal("session_id", s, nil)}.predicate()
		if err != nil {
			return
		}
		q := strings.TrimPrefix(predicate, "session_id = ")
		// Inside the outer quotes every quote has a twin, so nothing but the last one ends the literal.
		inner := q[1 : len(q)-1]
		if strings.ContainsRune(q, 0) {
			t.Errorf("%q became %q, which has a NUL", s, q)
		}
		if strings.Contains(strings.ReplaceAll(inner, "''", ""), "'") {
			t.Errorf("%q became %q, which has a single quote inside", s, q)
		}
		if strings.ReplaceAll(inner, "''", "'") != s {
			t.Errorf("%q became %q, which is another text", s, q)
		}
	})
}
