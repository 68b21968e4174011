package transcript

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
)

func TestSearch(t *testing.T) {
	t.Parallel()
	v := sample(t).View(audience.DM())
	tests := []struct {
		query, id, preview string
		session            string
	}{
		{"VALVE", pump, "… for the valve \"left\", which was renamed to…", pump},
		{"inês", "", "Inês comes on the 28th. What do we cook?", dinner},
		{"  hazelNUTS ", "", "… something without hazelnuts: poached pears.", dinner},
		{"irrigation", "", "The irrigation script asks for the valve \"le…", pump},
	}
	for _, test := range tests {
		got, err := v.Search(t.Context(), test.query, test.id, 0, 45)
		if err != nil || got.Count < 1 {
			t.Errorf("%q: %d hits, %v", test.query, got.Count, err)
			continue
		}
		if id := got.Hits[0].SessionID; id != test.session {
			t.Errorf("%q: found in %s, want %s", test.query, id, test.session)
		}
		if p := got.Hits[0].Preview; p != test.preview {
			t.Errorf("%q: preview %q, want %q", test.query, p, test.preview)
		}
	}
	switch got, err := v.Search(t.Context(), "no such words", "", 0, 0); {
	case err != nil:
		t.Errorf("no match: %v", err)
	case got.Count != 0:
		t.Errorf("no match: got.Count = %v, want 0", got.Count)
	case got.Hits == nil:
		t.Error("no match: got.Hits is nil")
	}
	switch got, err := v.Search(t.Context(), "the", "", 1, 0); {
	case err != nil:
		t.Errorf("first match: %v", err)
	case got.Count != 1:
		t.Errorf("first match: got.Count = %v, want 1", got.Count)
	case !got.Truncated:
		t.Error("first match: got.Truncated = false")
	case got.Hits[0].SessionID != bookClub:
		t.Errorf("first match: got.Hits[0].SessionID = %q, want %q", got.Hits[0].SessionID, bookClub)
	}
	if _, err := v.Search(t.Context(), " ", "", 0, 0); !errors.Is(err, ErrNoQuery) {
		t.Errorf("empty query: %v", err)
	}
}

// The filter on raw lines only saves time: it never hides what a search of the decoded text would find.
func TestRawFilterIsSound(t *testing.T) {
	t.Parallel()
	lines := []string{
		`{"type":"entry","role":"user","content":"Kelvin stones"}`,
		`{"type":"entry","role":"user","content":"\u004belvin"}`,
		`{"type":"entry","role":"user","content":"` + "\u212Aelvin, \u017Ftone" + `"}`,
		"{\"type\":\"entry\",\"role\":\"user\",\"content\":\"\u212Aelvin, \u017Ftone\"}",
		`{"type":"entry","role":"user","content":"a\/b \"quoted\" back\\slash <tag>"}`,
		`{"type":"entry","role":"user","content":"ÄRGER über alles"}`,
		`{"type":"entry","role":"user","content":"\u00c4rger in 漢字, naïve as it don't say"}`,
		`{"type":"entry","role":"user","content":"漢字 and NAÏVE, don't"}`,
		`{"type":"entry","role":"user","content":"don\u0027t"}`,
		"{\"type\":\"entry\",\"role\":\"user\",\"content\":\"broken \xff char\"}",
	}
	for _, query := range []string{
		"kelvin", "STONE", "a/b", `"quoted"`, `k\s`, "<tag>", "ärger", "ÜBER", "e", "absent", "漢字", "字 AND", "naïve",
		"ïV",
		"don't", "n't", "\uFFFD", "broken \uFFFD char",
	} {
		filter := newRawFilter(fold(query))
		for _, raw := range lines {
			if strings.Contains(fold(parse([]byte(raw)).whole().Content), fold(query)) && !filter.may([]byte(raw)) {
				t.Errorf("%q is hidden in %s", query, raw)
			}
		}
	}
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		folded := fold(string(r))
		if !newRawFilter(folded).may([]byte(string(r))) {
			t.Errorf("%q, which folds to %q, is hidden", r, folded)
		}
	}
	for _, query := range []string{"absent", "naïve", "漢字", "o'neill"} {
		if newRawFilter(query).may([]byte(lines[0])) {
			t.Errorf("the filter for %q lets everything through", query)
		}
	}
}

func BenchmarkSearch(b *testing.B) {
	dir := b.TempDir()
	entry := `{"type":"entry","timestamp":"2026-01-01T00:00:00Z","role":"user","content":"` +
		strings.Repeat("lorem ipsum dolor ", 30) + `"}` + "\n"
	text := strings.Repeat(entry, (32<<20)/len(entry))
	if err := os.WriteFile(filepath.Join(dir, "s.jsonl"), []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	f, err := Open(dir, Options{})
	if err != nil {
		b.Fatal(err)
	}
	v := f.View(audience.DM())
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if hits, err := v.Search(b.Context(), "needle", "", 0, 0); err != nil || hits.Count != 0 {
			b.Fatal(hits, err)
		}
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
}
