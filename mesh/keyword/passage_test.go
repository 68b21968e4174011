package keyword

import "testing"

// A passage scores like a document of its own with these words.
func TestMatcher(t *testing.T) {
	t.Parallel()
	passage := "The pump is blue and the pump leaks"
	x := New()
	x.Add("minutes of a meeting. "+passage+". More minutes.", -1)
	x.Add(passage, -1)
	x.Add("a red car", -1)
	restored := New() // as from an image: it knows stems, and no words
	restored.terms, restored.postings, restored.docs, restored.heads = x.terms, x.postings, x.docs, x.heads
	restored.many = x.many
	for _, query := range []string{"leaking blue pumps", "blue pump", "is blue and leaks", "violin", ""} {
		q := Parse(query)
		var stats Statistics
		x.Count(q, &stats)
		var scores Scores
		x.Match(q, stats, &scores)
		for name, index := range map[string]*Index{"built": x, "restored": restored} {
			own, pairs := index.Matcher(q, stats).Score(index.WordsOf(passage))
			if float32(own) != scores.Own[1] {
				t.Errorf("%s, %q: own is %v, want %v", name, query, own, scores.Own[1])
			}
			if want := x.Pairs(q, stats).In(1); pairs != want {
				t.Errorf("%s, %q: pairs is %v, want %v", name, query, pairs, want)
			}
		}
	}
}
