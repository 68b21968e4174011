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
		"escape":      {"a\x1b[31mb", "a\x1b[31mb", "ab", "a [31mb"},
		"bidi":        {"a\u202eb\u2066c", "a\u202eb\u2066c", "abc", "a b c"},
		"joiners": {
			"م\u200cخ👩\u200d🔧", "م\u200cخ👩\u200d🔧",
			"م\u200cخ👩\u200d🔧", "م خ👩 🔧",
		},
		"tags":          {"a\U000e0041b", "a\U000e0041b", "ab", "a b"},
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

// TestPlain covers what can hide text from a person and show it to a model, and what scripts and emoji need.
func TestPlain(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ in, want string }{
		"tags spelling text":      {"ok\U000e0068\U000e0069\U000e007f", "ok"},
		"a run of selectors":      {"👍\ufe0f\ufe01\U000e0101\U000e0102", "👍\ufe0f"},
		"selectors after letters": {"a\ufe0eb\ufe0f\U000e0100", "ab"},
		"a run of joiners":        {"é\u200c\u200d\u200c\u200dx", "é\u200cx"},
		"joiners in Latin":        {"a\u200db\u200cc\u200ed", "abcd"},
		"invisible operators":     {"a\u2061b\u2062c\u2064d\u206ae", "abcde"},
		"fillers":                 {"a\u3164b\u115fc\uffa0d\u034fe", "abcde"},
		"isolates and overrides":  {"\u2066a\u2069\u202eb\u202c", "ab"},
		"zero width":              {"a\u200bb\ufeffc\u00add\u180ee", "abcde"},
		"musical and shorthand":   {"a\U0001d173b\U0001bca0c", "abc"},
		"noncharacters":           {"a\ufdd0b\uffffc", "abc"},
		"hidden joiner":           {"a\u200d\u200b\u2028é", "a\né"},
		"C1 control sequence":     {"a\u009b31mb", "a31mb"},
		"Persian":                 {"می\u200cخواهم", "می\u200cخواهم"},
		"Hindi":                   {"क्\u200dष", "क्\u200dष"},
		"Arabic number sign":      {"\u0600123", "\u0600123"},
		"family":                  {"👩\u200d👩\u200d👧", "👩\u200d👩\u200d👧"},
		"heart on fire":           {"❤\ufe0f\u200d🔥", "❤\ufe0f\u200d🔥"},
		"keycap":                  {"1\ufe0f\u20e3", "1\ufe0f\u20e3"},
		"Han variant":             {"葛\U000e0100", "葛\U000e0100"},
		"Mongolian":               {"ᠠ\u180b", "ᠠ\u180b"},
		"Latin":                   {"naïve café – «x»…", "naïve café – «x»…"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Plain(test.in); got != test.want {
				t.Errorf("Plain(%+q): %+q, want %+q", test.in, got, test.want)
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

func TestShowGaps(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"":                      "",
		"a\n\n\n\nb  c\n":       "a\n\n\n\nb  c\n",
		"a\n\n \n\u2800\n\t\nb": "a\n[4 empty lines]\nb",
		"+a\n" + strings.Repeat("+\n", 900) + "+b":       "+a\n[900 empty lines]\n+b",
		"a" + strings.Repeat(" \u2003", 30) + "b c":      "a [60 blanks] b c",
		"a" + strings.Repeat(" ", 40) + "b":              "a" + strings.Repeat(" ", 40) + "b",
		strings.Repeat("\n", 9) + "a\n\n" + "+\n-\n \nb": "[9 empty lines]\na\n[4 empty lines]\nb",
	} {
		if got := ShowGaps(s); got != want {
			t.Errorf("ShowGaps(%.40q) = %q, want %q", s, got, want)
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
		if line := Line(s); strings.ContainsAny(line, "\r\n\t\u2028") || Line(line) != line {
			t.Errorf("Line of %q: %q", s, line)
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
