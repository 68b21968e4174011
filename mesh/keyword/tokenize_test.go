package keyword

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestWords(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, text, want string }{
		{"plain", "The quick, brown fox!", "the quick brown fox"},
		{"camelCase", "getUserID fooBar", "get user id foo bar"},
		{"acronym first", "HTTPServer parseJSONBody", "http server parse json body"},
		{"acronym only", "HTTP API", "http api"},
		{"digits", "utf8 sha256Sum v2Beta 3.14", "utf8 sha256 sum v2 beta 3 14"},
		{"snake_case", "snake_case __init__ MAX_SIZE", "snake case init max size"},
		{"kebab", "well-known", "well known"},
		{"possessive", "Jon's mother’s car", "jon mother car"},
		{"not possessive", "it'sy 'some o's", "it sy some o"},
		{"contraction", "don't we'll", "don t we ll"},
		{"accents", "Crème brûlée À LA CARTE", "crème brûlée à la carte"},
		{"decomposed", "cafe\u0301", "cafe\u0301"},
		{"German", "Straße ÄRGER", "straße ärger"},
		{"Cyrillic", "Привет, Мир", "привет мир"},
		{"Arabic", "مرحبا بالعالم", "مرحبا بالعالم"},
		{"Hebrew", "שלום עולם", "שלום עולם"},
		{"Han", "我喜欢猫", "我喜 喜欢 欢猫"},
		{"Han only", "猫", "猫"},
		{"Japanese", "東京タワー", "東京 京タ タワ ワー"},
		{"Korean has spaces", "안녕 세계", "안녕 세계"},
		{"Thai", "ไทย", "ไท ทย"},
		{"mixed", "iPhone用ケース", "i phone 用ケ ケー ース"},
		{"emoji", "I ❤️ 🍕 pizza👍🏽 1️⃣", "i pizza 1"},
		{"invalid UTF-8", "good\xff\xfebad", "good bad"},
		{"nothing", " \t\n…!?", ""},
	} {
		var got []string
		eachWord(test.text, func(w string) { got = append(got, w) })
		if diff := cmp.Diff(test.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestTerms(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Go is an OK language":  "language",
		"getUserID from the DB": "get user from the",
		"мы да нет":             "мы да нет",
		"猫 犬小屋":                 "犬小 小屋",
	} {
		if diff := cmp.Diff(want, strings.Join(Terms(text), " ")); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

// stems returns the stem of every word of text, in order.
func stems(text string) (list []string) {
	eachWord(text, func(w string) { list = append(list, stem(w)) })
	return list
}

func TestStems(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"meetings met meeting":   "meet met meet",
		"running runner's flies": "run runner fli",
		"Laufen встречи":         "laufen встречи",
	} {
		if diff := cmp.Diff(want, strings.Join(stems(text), " ")); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Query{
		"Where is my car?": {
			terms: []string{"my", "car"},
			pairs: [][2]string{{"where", "is"}, {"is", "my"}, {"my", "car"}},
		},
		"car car cars": {terms: []string{"car"}, pairs: [][2]string{{"car", "car"}}},
		"to be or not to be": {
			terms: []string{"to", "be", "or", "not"},
			pairs: [][2]string{{"to", "be"}, {"be", "or"}, {"or", "not"}, {"not", "to"}},
		},
		"?!": {},
		"Jon's HTTPServer up": {
			terms: []string{"jon", "http", "server"},
			pairs: [][2]string{{"jon", "http"}, {"http", "server"}, {"server", "up"}},
		},
	} {
		if diff := cmp.Diff(want, Parse(text), cmp.AllowUnexported(Query{})); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func FuzzWords(f *testing.F) {
	for _, seed := range []string{
		"", "getUserID's", "我喜欢猫abc", "a_b__c", "\xff\xfe", "İstanbul ß ﬃ",
		"’s 's", "x'sé",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		eachWord(text, func(w string) {
			if w == "" || strings.ContainsAny(w, " _\t\n") {
				t.Errorf("%q has the word %q", text, w)
			}
			if !utf8.ValidString(w) && utf8.ValidString(text) {
				t.Errorf("%q has the word %q, which is not UTF-8", text, w)
			}
			stem(w) // must not panic
		})
		end, words := headEnd(text)
		if end < 0 || end > len(text) {
			t.Errorf("%q: the head ends at %d", text, end)
		}
		if words < 0 {
			t.Errorf("%q: %d words", text, words)
		}
		// Remove relies on this: the head and the rest have the same words as the whole text.
		if whole, parts := stems(text), append(stems(text[:end]), stems(text[end:])...); !slices.Equal(whole, parts) {
			t.Errorf("%q: %q cut at %d gives %q", text, whole, end, parts)
		}
	})
}
