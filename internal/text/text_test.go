package text

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestLines(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ in, oneLine, plain, printable string }{
		"white space": {" a \t b\n\n c ", "a b c", " a \t b\n\n c ", "a b c"},
		"line ends":   {"a\r\nb\rc\u2028d\u2029e", "a b c d e", "a\nb\nc\nd\ne", "a b c d e"},
		"escape":      {"a\x1b[31mb", "a\x1b[31mb", "a[31mb", "a [31mb"},
		"bidi":        {"a\u202eb\u2066c", "a\u202eb\u2066c", "abc", "a b c"},
		"joiners": {
			"م\u200cخ👩\u200d🔧", "م\u200cخ👩\u200d🔧",
			"م\u200cخ👩\u200d🔧", "م خ👩 🔧",
		},
		"tags":          {"a\U000e0041b", "a\U000e0041b", "a\U000e0041b", "a b"},
		"no-break":      {"a\u00a0b", "a b", "a\u00a0b", "a b"},
		"invalid UTF-8": {"a\xffb", "a\xffb", "a\uFFFDb", "a\uFFFDb"},
		"empty":         {},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := OneLine(test.in); got != test.oneLine {
				t.Errorf("OneLine: %q, want %q", got, test.oneLine)
			}
			if got := Plain(test.in); got != test.plain {
				t.Errorf("Plain: %q, want %q", got, test.plain)
			}
			if got := Printable(test.in); got != test.printable {
				t.Errorf("Printable: %q, want %q", got, test.printable)
			}
		})
	}
}

func TestShortenAndFit(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		in           string
		n            int
		shorten, fit string
	}{
		{"", 1, "", ""},
		{"abc", 4, "abc", "abc"},
		{"abc", 3, "abc", "abc"},
		{"abc", 2, "ab…", "a…"},
		{"abc", 1, "a…", "…"},
		{"äöü", 3, "äöü", "äöü"},
		{"äöü", 2, "äö…", "ä…"},
		{"日本語", 1, "日…", "…"},
	} {
		if got := Shorten(test.in, test.n); got != test.shorten {
			t.Errorf("Shorten(%q, %d): %q, want %q", test.in, test.n, got, test.shorten)
		}
		if got, cut := Fit(test.in, test.n); got != test.fit || cut != (test.fit != test.in) {
			t.Errorf("Fit(%q, %d): %q, %t, want %q", test.in, test.n, got, cut, test.fit)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("a\r\nb\u202e\x00", 1)
	f.Add("日本語 text", 4)
	f.Fuzz(func(t *testing.T, s string, n int) {
		n = max(1, n)
		plain := Plain(s)
		if again := Plain(plain); again != plain {
			t.Errorf("Plain of %q is %q, then %q", s, plain, again)
		}
		if line := Printable(s); strings.ContainsAny(line, "\r\n\t") || Printable(line) != line {
			t.Errorf("Printable of %q: %q", s, line)
		}
		fitted, cut := Fit(plain, n)
		if !utf8.ValidString(fitted) {
			t.Errorf("Fit(%q, %d) is not UTF-8: %q", plain, n, fitted)
		}
		if length := utf8.RuneCountInString(plain); cut != (length > n) || utf8.RuneCountInString(fitted) != min(length, n) {
			t.Errorf("Fit(%q, %d): %q, %t", plain, n, fitted, cut)
		}
	})
}
