package suspect

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/prose"
)

const (
	whole  = 500 // bytes up to which a text is read as it is
	before = 300 // bytes before a suspect that are read of a longer one
	after  = 150 // and after it
)

// window returns what is read around a suspect: bytes [from,to) of the text, which begin and end between words.
func window(text string, s prose.Suspect) (from, to int) {
	if len(text) <= whole {
		return 0, len(text)
	}
	from, to = max(0, s.Start-before), min(len(text), s.End+after)
	if n := strings.IndexAny(text[from:s.Start], " \n\t"); from > 0 && n >= 0 {
		from += n + 1
	}
	if n := strings.LastIndexAny(text[s.End:to], " \n\t"); to < len(text) && n >= 0 {
		to = s.End + n
	}
	for from < s.Start && !utf8.RuneStart(text[from]) {
		from++
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	return from, to
}

// place is the bytes of a word of the tokenizer in its text.
type place struct{ start, end int }

// places returns where the words of a text are, which the tokenizer returns in lower case and without accents. A word
// that it does not know has no place.
func places(text string, names []string) []place {
	var plain []byte // as the tokenizer reads it
	var at []int     // for each byte, that of the text
	for i, r := range text {
		for _, c := range norm.NFD.String(string(r)) {
			if !unicode.Is(unicode.Mn, c) {
				n := len(plain)
				plain = utf8.AppendRune(plain, unicode.ToLower(c))
				for range len(plain) - n {
					at = append(at, i)
				}
			}
		}
	}
	at = append(at, len(text))
	const farthest = 60 // bytes between two words
	list, next := make([]place, len(names)), 0
	for i, name := range names {
		reach := string(plain[next:min(len(plain), next+farthest+len(name))])
		if n := strings.Index(reach, name); n >= 0 {
			list[i] = place{at[next+n], at[next+n+len(name)]}
			next += n + len(name)
		}
	}
	return list
}

// size is the number of features: three vectors, the length of the suspect, and whether it is several words. What
// package prose knows of it is none: in the texts that are learned its weights are always right.
var size = 3*dim + 2

// dim is the number of components of a token's vector.
var dim = embed.LocalModel.Dim

// features returns what the network judges a suspect of a text by: the mean of its tokens' vectors, those before and
// after it, and what prose knows of it. ok is false if the tokens do not have it, which may be cut off.
func features(text string, t embed.Tokens, s prose.Suspect) (x []float32, ok bool) {
	where := places(text, t.Names)
	first := slices.IndexFunc(where, func(w place) bool { return w.end > s.Start && w.start < s.End && w.end > w.start })
	if first < 0 {
		return nil, false
	}
	x = make([]float32, size)
	n, last := 0, first
	for i := first; i < len(where) && (where[i].start < s.End || where[i].end == 0); i++ {
		for _, vector := range t.Words[i] {
			for k, v := range vector {
				x[k] += v
			}
			n++
		}
		last = i
	}
	// A component of a vector of unit length is about 1/sqrt(dim).
	const scale = 20
	for k := range dim {
		x[k] *= scale / float32(n)
	}
	if first > 0 {
		for k, v := range t.Words[first-1][len(t.Words[first-1])-1] {
			x[dim+k] = scale * v
		}
	}
	if last+1 < len(t.Words) {
		for k, v := range t.Words[last+1][0] {
			x[2*dim+k] = scale * v
		}
	}
	own := x[3*dim:]
	own[0] = min(3, float32(s.End-s.Start)/8)
	if s.Phrase {
		own[1] = 1
	}
	return x, true
}
