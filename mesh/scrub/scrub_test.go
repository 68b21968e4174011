package scrub

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSanitize(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"plain", "Plain text.", "Plain text."},
		{"outer space", " \n\n  text \n\n", "text"},
		{"code keeps its indentation", "\n    a\n      b\n", "    a\n      b"},
		{"line ends", "a\r\nb\rc\u2028d\u0085e\ff", "a\nb\nc\nd\ne\nf"},
		{"invalid UTF-8", "a\xffb\xc3", "a\uFFFDb\uFFFD"},
		{"NUL and controls", "a\x00b\x07c\x7fd\u0080e\tf", "abcde\tf"},
		{"terminal colours", "\x1b[1;31mred\x1b[0m text", "red text"},
		{"bidirectional overrides", "abc\u202edef\u202c \u2066x\u2069", "abcdef x"},
		{"zero width", "pass\u200bword\ufeff so\u00adft \u2060x", "password soft x"},
		{"joiner between Latin letters", "a\u200db\u200ec", "abc"},
		{"joiner of Persian", "می\u200cخواهم", "می\u200cخواهم"},
		{"joiner of an emoji", "👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧"},
		{"mark of Arabic", "عربي\u200f (x)", "عربي\u200f (x)"},
		{"tags", "hi\U000E0041\U000E0042", "hi"},
		{"noncharacters", "a\ufffe\uffffb", "ab"},
		{"canonical composition", "e\u0301 한", "é 한"},
	} {
		got := Sanitize(c.in)
		if got != c.want {
			t.Errorf("%s: Sanitize(%q) = %q, want %q", c.name, c.in, got, c.want)
		}
		if again := Sanitize(got); again != got {
			t.Errorf("%s: not idempotent: %q", c.name, again)
		}
	}
}

func TestScrub(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	o := MemoryMesh(words)
	o.Source, o.Now = "chat", func() time.Time { return at }
	got, err := New(o).Scrub("  **Mail** me at a@b.io  ")
	if err != nil {
		t.Fatal(err)
	}
	text := "Mail me at [REDACTED:email]"
	want := Result{
		Text: text, Redactions: []Redaction{{Kind: Email, Count: 1}}, Hash: Hash(text),
		Chunks: []Chunk{{End: len(text), Text: text, Tokens: 4, Source: "chat", Hash: Hash(text), Time: at}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}

// What is kept at once is what all six stages would give.
func TestText(t *testing.T) {
	t.Parallel()
	s := New(MemoryMesh(nil))
	for _, x := range []string{
		shortMemory, strings.Repeat(longMemory, 20), "mail a@b.io", "password: hunter2secret",
		"ﬀ\u200b **x**",
	} {
		text, err := s.Text(x)
		if err != nil {
			t.Fatal(err)
		}
		all, err := s.Scrub(x)
		if err != nil {
			t.Fatal(err)
		}
		all.Chunks, all.Hash = nil, ""
		if diff := cmp.Diff(all, text); diff != "" {
			t.Errorf("%.40q (-all stages +text):\n%s", x, diff)
		}
	}
	for _, x := range []string{"", " \n", "<!-- nothing -->", "***"} {
		_, wantErr := s.Scrub(x)
		if _, err := s.Text(x); fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Errorf("Text(%q) = %v, want %v", x, err, wantErr)
		}
	}
}

func TestScrubErrors(t *testing.T) {
	t.Parallel()
	s := New(Options{MaxBytes: 20, EnforceMin: true})
	for _, c := range []struct {
		in, message string
		want        error
	}{
		{"", "text is empty", ErrEmpty},
		{" \n\u200b ", "text is empty", ErrEmpty},
		{"<!-- nothing -->", "text is empty", ErrEmpty},
		{"too few", "text is too short: 2 tokens, fewer than 10", ErrTooShort},
		{strings.Repeat("x", 21), "text is too large: 21 bytes, the limit is 20", ErrTooLarge},
	} {
		if _, err := s.Scrub(c.in); !errors.Is(err, c.want) || err.Error() != c.message {
			t.Errorf("Scrub(%q) = %v, want %q", c.in, err, c.message)
		}
	}
	if _, err := New(MemoryMesh(nil)).Scrub("x"); err != nil {
		t.Errorf("a memory of one letter: %v", err)
	}
}

// TestMarkupDoesNotHideSecrets: a value is found also where markup or
// invisible characters take it apart.
func TestMarkupDoesNotHideSecrets(t *testing.T) {
	t.Parallel()
	s := New(MemoryMesh(nil))
	for _, in := range []string{
		"my password is **hunter2**", "my password is `hunter2`", "my <b>password</b> is <i>hunter2</i>",
		"pass\u200bword: hun\u200bter2",
		"<p>password: hunter2</p>", "| password | x |\n|---|---|\n| password: hunter2 | y |",
		"[password: hunter2](http://x.y/z)", "password: hunter2\x00",
	} {
		r, err := s.Scrub(in)
		if err != nil || strings.Contains(r.Text, "hunter2") {
			t.Errorf("Scrub(%q) = %q, %v", in, r.Text, err)
		}
	}
}

// joined joins the parts of a made-up credential, so that secret scanners find none in this file.
func joined(parts ...string) string { return strings.Join(parts, "") }

func TestOnlySecret(t *testing.T) {
	t.Parallel()
	s := New(MemoryMesh(nil))
	for in, want := range map[string]bool{
		"my password is hunter2":                                            true,
		joined("gh", "p_0123456789abcdefghij0123456789abcdef"):              true,
		joined("GITHUB_TOKEN=gh", "p_0123456789abcdefghij0123456789abcdef"): true,
		"Please remember my card number: 4111 1111 1111 1111":               true,
		"SSN: 078-05-1120":                                   true,
		"the wifi password is swordfish":                     false,
		"Anna's password is hunter2, she changes it monthly": false,
		"me@example.org":                                     false,
		"The password is required":                           false,
		"my api key":                                         false,
	} {
		r, err := s.Scrub(in)
		if err != nil || r.OnlySecret != want {
			t.Errorf("Scrub(%q): OnlySecret is %v (%q, %v), want %v", in, r.OnlySecret, r.Text, err, want)
		}
	}
}

// TestHostileTexts are made to be slow: each must be done, and a fixed point.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	s := New(MemoryMesh(nil))
	for _, p := range append([]string{
		"[a](", "![", "<b>x</i>", "-----BEGIN PRIV" + "ATE KEY-----", "eyey",
		"key=abcdefgh12 ", "[REDACTED:email]x@y.zz ", "*a **b ", "> ", "://u:p@",
	}, pieces...) {
		checkScrub(t, s, strings.Repeat(p, 16<<10/len(p)))
	}
}
