package scrub

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// pieces are the constructs whose combinations the properties are tried on.
var pieces = []string{
	"*", "**", "***", "_", "__", "`", "```", "~~~", "#", "## ", "- ", "* ", "+ ", "1. ", "> ", "---", "===", "***\n", "\n",
	"\n\n", "\n\n\n", " ", "  ", "    ", "\t",
	"[a](http://x.y/z)", "![i](p.png)", "[x]", "[x]: http://u.v", "](", "(", ")", "[", "]", "<b>", "</b>", "<div>",
	"</div>", "<br>", "<p>", "<li>", "<script>", "</script>",
	"<!-- c -->", "<!--", "-->", "<pre>", "</pre>", "<code>", "</code>", "<a href=\"http://q.r\">", "</a>",
	"<img alt='k' src='l.png'>", "<ul>", "</ul>", "<table>", "<tr>", "<td>", "</table>",
	"<sup>", "</sup>", "<!doctype html>", "<blockquote>", "</blockquote>", "<h2>", "</h2>", "<nav>", "</nav>",
	"<http://a.b>", "<String>", "a<b", "c>d", "&lt;", "&gt;", "&amp;", "&nbsp;", "&#42;", "&#x3c;", "\\_", "\\*", "\\",
	"|", "|---|", "| a | b |\n|---|---|\n",
	"word", "Two words. ", "snake_case", "__init__", "字", "。", "مرحبا", "\u200d", "\u200b", "\u202e", "\x00",
	"\r\n", "\r",
	"\x1b[31m", "\xff", "é", "e\u0301", "•", "• ", "\u00a0",
	"me@example.org", "password: ", "is ", "hunter2", "1.2.3.4", "52.1.2.3", "2024-01-02", "4111111111111111",
	"+49 171 1234567", "[REDACTED:email]", "[REDACTED:", "://", "u:p4ss@h.i",
	"bearer ", "abcdef0123456789", "token = ", "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----",
	"front: x\n---\n", "$x$", "\"", "'", "@", ":", "=", ".", ",", ";",
}

func anyText() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		parts := rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(pieces), rapid.StringN(0, 6, -1)), 0, 40).Draw(t, "parts")
		return strings.Join(parts, "")
	})
}

// checkScrub fails t where scrubbing x violates an invariant of the package.
func checkScrub(t interface {
	Helper()
	Fatalf(string, ...any)
}, s *Scrubber, x string,
) {
	t.Helper()
	r, err := s.Scrub(x)
	if err != nil {
		return
	}
	if !utf8.ValidString(r.Text) || r.Text != Sanitize(r.Text) {
		t.Fatalf("Scrub(%q) = %q, which is not sane", x, r.Text)
	}
	again, err := s.Scrub(r.Text)
	if err != nil || again.Text != r.Text {
		t.Fatalf("Scrub is not idempotent:\nx        %q\nscrubbed %q\nagain    %q (%v)", x, r.Text, again.Text, err)
	}
	if len(again.Redactions) > 0 {
		t.Fatalf("Scrub(%q) = %q left %v", x, r.Text, again.Redactions)
	}
	if r.Hash != again.Hash {
		t.Fatalf("Scrub(%q) has hash %s, its result %q has %s", x, r.Hash, r.Text, again.Hash)
	}
	if len(r.Chunks) != len(again.Chunks) {
		t.Fatalf("Scrub(%q) has %d chunks, its result %q has %d", x, len(r.Chunks), r.Text, len(again.Chunks))
	}
	if r.OnlySecret != again.OnlySecret {
		t.Fatalf("Scrub(%q) has OnlySecret %v, its result %q has %v", x, r.OnlySecret, r.Text, again.OnlySecret)
	}
}

func TestScrubProperties(t *testing.T) {
	t.Parallel()
	s := New(MemoryMesh(nil))
	rapid.Check(t, func(t *rapid.T) { checkScrub(t, s, anyText().Draw(t, "text")) })
}

func FuzzScrub(f *testing.F) {
	for _, p := range pieces {
		f.Add(p + "a " + p)
	}
	f.Add("# T\n\nSome **bold** [link](http://a.b) <b>x</b> `code` and my password is hunter2.\n\n- a\n- b\n")
	s := New(MemoryMesh(nil))
	f.Fuzz(func(t *testing.T, x string) { checkScrub(t, s, x) })
}

func TestSplitProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := anyText().Draw(t, "text")
		o := ChunkOptions{
			Min: rapid.IntRange(1, 5).Draw(t, "min"), Max: rapid.IntRange(1, 40).Draw(t, "max"),
			HardMax: rapid.IntRange(1, 80).Draw(t, "hard"),
		}
		o.HardMax = max(o.HardMax, o.Max)
		checkChunks(t, text, Split(text, o), o)
	})
}

// checkChunks fails t where chunks are not as Split promises.
func checkChunks(t interface {
	Helper()
	Fatalf(string, ...any)
}, text string, chunks []Chunk, o ChunkOptions,
) {
	t.Helper()
	at := 0
	for i, c := range chunks {
		switch {
		case c.Index != i:
			t.Fatalf("chunk %d of %q has index %d", i, text, c.Index)
		case c.Text == "" || strings.TrimSpace(c.Text) != c.Text:
			t.Fatalf("chunk %d of %q is empty or has outer white space: %q", i, text, c.Text)
		case c.Start < at:
			t.Fatalf("chunk %d of %q begins at %d, before the end of the one before", i, text, c.Start)
		case text[c.Start:c.End] != c.Text:
			t.Fatalf("chunk %d of %q is %q, not what its bounds enclose", i, text, c.Text)
		}
		if strings.TrimSpace(text[at:c.Start]) != "" {
			t.Fatalf("%q is in no chunk of %q", text[at:c.Start], text)
		}
		if n := EstimateTokens(c.Text); n != c.Tokens || n > o.HardMax && utf8.RuneCountInString(c.Text) > 1 {
			t.Fatalf("chunk %q has %d tokens (said %d), more than %d", c.Text, n, c.Tokens, o.HardMax)
		}
		at = c.End
	}
	if strings.TrimSpace(text[at:]) != "" {
		t.Fatalf("%q is in no chunk of %q", text[at:], text)
	}
}
