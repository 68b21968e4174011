package scrub

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// words counts words: a token each.
func words(s string) int { return len(strings.Fields(s)) }

func TestSplit(t *testing.T) {
	t.Parallel()
	type part struct {
		Text     string
		Headings string
	}
	for _, c := range []struct {
		name, text   string
		min, max, hd int
		want         []part
	}{
		{"a short text is one chunk", "Just this.", 1, 10, 20, []part{{"Just this.", ""}}},
		{"nothing is no chunk", " \n ", 1, 10, 20, nil},
		{
			"at headings, with their path",
			"# A\none two three\n## B\nfour five six\n## C\nseven eight nine\n# D\nten eleven twelve", 1, 6, 20,
			[]part{
				{"# A\none two three", "A"},
				{"## B\nfour five six", "A > B"},
				{"## C\nseven eight nine", "A > C"},
				{"# D\nten eleven twelve", "D"},
			},
		},
		{
			"small sections share a chunk under what they have in common",
			"# A\n## B\none\n## C\ntwo\n# D\nthree four five six seven eight", 1, 10, 20,
			[]part{{"# A\n## B\none\n## C\ntwo", "A"}, {"# D\nthree four five six seven eight", "D"}},
		},
		{
			"between paragraphs", "one two three\n\nfour five\n\nsix seven", 1, 5, 20,
			[]part{{"one two three\n\nfour five", ""}, {"six seven", ""}},
		},
		{
			"between sentences", "One two three. Four five six. Seven eight.", 1, 6, 20,
			[]part{{"One two three. Four five six.", ""}, {"Seven eight.", ""}},
		},
		{"between words", "a b c d e f g", 1, 3, 3, []part{{"a b c", ""}, {"d e f", ""}, {"g", ""}}},
		{
			"code stays whole up to the hard limit", "one two\n\n```\na b c\n\nd e f\n```\n\nthree", 1, 5, 20,
			[]part{{"one two", ""}, {"```\na b c\n\nd e f\n```", ""}, {"three", ""}},
		},
		{
			"code above it is cut at lines", "one\n\n```\na b c\nd e f\n```", 1, 4, 4,
			[]part{{"one", ""}, {"```\na b c", ""}, {"d e f\n```", ""}},
		},
		{
			"a heading stays with its text", "one two three\n# T\nfour five six", 1, 5, 20,
			[]part{{"one two three", ""}, {"# T\nfour five six", "T"}},
		},
		{
			"a chunk below the minimum joins a neighbour", "one two three.\n\nfour\n\nfive six seven.", 2, 4, 20,
			[]part{{"one two three.\n\nfour", ""}, {"five six seven.", ""}},
		},
		{
			"a number sign in code is no heading", "```\n# no\n```\n\nx y z", 1, 3, 20,
			[]part{{"```\n# no\n```", ""}, {"x y z", ""}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []part
			for _, k := range Split(c.text, ChunkOptions{Min: c.min, Max: c.max, HardMax: c.hd, Count: words}) {
				got = append(got, part{k.Text, strings.Join(k.Headings, " > ")})
				if k.Tokens != words(k.Text) || k.Text != c.text[k.Start:k.End] {
					t.Errorf("chunk %+v", k)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("Split(%q) (-want +got):\n%s", c.text, diff)
			}
		})
	}
}

func TestSplitCutsLongWords(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("字", 100) + " " + strings.Repeat("x", 1000)
	chunks := Split(text, ChunkOptions{Min: 1, Max: 20, HardMax: 20})
	checkChunks(t, text, chunks, ChunkOptions{HardMax: 20})
	if len(chunks) < 10 {
		t.Errorf("%d chunks", len(chunks))
	}
}

func TestSplitDefaults(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("One two three four five. ", 500)
	chunks := Split(text, ChunkOptions{})
	if len(chunks) < 5 {
		t.Fatalf("%d chunks, want 5 or more", len(chunks))
	}
	if n := chunks[0].Tokens; n < 400 || n > 500 {
		t.Errorf("the first chunk has %d tokens, want 400 to 500", n)
	}
}

func TestAnnotateAndValidate(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	got := Annotate(Split("Hello there.", ChunkOptions{Min: 1}), "notes.md", at)
	want := []Chunk{{
		End: 12, Text: "Hello there.", Tokens: 3, Source: "notes.md", Time: at,
		Hash: "23ea498e82f4435b1c135324eedef4ba64061600897077bf76082a50b41a9c13",
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("chunks (-want +got):\n%s", diff)
	}
	if err := Validate(got, ChunkOptions{}, false); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		chunks []Chunk
		want   string
	}{
		{nil, "text is empty"},
		{[]Chunk{{}}, "text is empty"},
		{got, "text is too short: 3 tokens, fewer than 10"},
		{[]Chunk{{Text: "abcdefgh", Tokens: 2001}}, "chunk 0 has 2001 tokens, more than 2000"},
	} {
		if err := Validate(c.chunks, ChunkOptions{}, true); err == nil || err.Error() != c.want {
			t.Errorf("Validate(%v) = %v, want %q", c.chunks, err, c.want)
		}
	}
}
