package keyword

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestExcerpt(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("The train was late and the garden wet. ", 30)
	unbroken := strings.Repeat("夜", 900)
	for name, test := range map[string]struct {
		text, query string
		want        string // is in it
		begins      string
		ends        string
		cut         bool
	}{
		"a short text":         {"all of it", "nothing", "all of it", "all", "it", false},
		"no word of the query": {filler, "submarine", "", "The train", "…", true},
		"at its beginning": {
			"The key is in Tromsø. " + filler, "key Tromsø", "The key is in Tromsø.", "The key", "…", true,
		},
		"at its end": {
			filler + "\n\nAunt Philomena keeps the yellow submarine's keys.", "who keeps the key?",
			"Aunt Philomena keeps the yellow submarine's keys.", "…The", "keys.", true,
		},
		"in the middle": {
			filler + "The key is yellow. " + filler, "yellow key", "The key is yellow.", "…The", "…", true,
		},
		"together, not apart": {
			"A key. " + filler + "A yellow key. " + filler, "yellow key", "A yellow key.", "…", "…", true,
		},
		"in a long line":   {strings.Repeat("word ", 400) + "yellow key", "key", "yellow key", "…word", "key", true},
		"without spaces":   {unbroken + "黄色い鍵" + unbroken, "黄色い鍵", "黄色い鍵", "…夜", "夜…", true},
		"of one line each": {strings.Repeat("\n", 5000) + "key", "key", "key", "…key", "key", true},
	} {
		t.Run(name, func(t *testing.T) {
			got, cut := Excerpt(test.text, test.query, 400)
			if cut != test.cut {
				t.Errorf("cut = %t, want %t", cut, test.cut)
			}
			if !strings.Contains(got, test.want) {
				t.Errorf("%q, want %q in it", got, test.want)
			}
			if !strings.HasPrefix(got, test.begins) || !strings.HasSuffix(got, test.ends) {
				t.Errorf("%q, want it to begin with %q and end with %q", got, test.begins, test.ends)
			}
			inner := strings.Trim(got, "…")
			if n := utf8.RuneCountInString(inner); n > 400 {
				t.Errorf("%d characters, want at most 400", n)
			}
			if test.cut && !strings.Contains(test.text, inner) {
				t.Errorf("%q is not a part of the text", inner)
			}
		})
	}
}

func TestPiecesLeaveNothingOut(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "x", "One. Two! Three?\nFour", strings.Repeat("a", 1000), strings.Repeat("word ", 100), "\n\n\xff\n",
	} {
		var all strings.Builder
		for p := range pieces(text) {
			if utf8.RuneCountInString(p) > pieceMost {
				t.Errorf("a piece of %d characters", utf8.RuneCountInString(p))
			}
			all.WriteString(p)
		}
		if all.String() != text {
			t.Errorf("%q gives %q", text, all.String())
		}
	}
}
