package keyword

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// chain builds an index of texts of one session.
func chain(texts ...string) *Index {
	x := New()
	for i, text := range texts {
		x.Add(text, i-1)
	}
	return x
}

func match(x *Index, query string) (own, context []float32) {
	q := Parse(query)
	var s Statistics
	x.Count(q, &s)
	var m Scores
	x.Match(q, s, &m)
	return m.Own, m.Context
}

var near = cmpopts.EquateApprox(0, 1e-5)

func TestMatch(t *testing.T) {
	t.Parallel()
	idf := func(documents, with float64) float64 { return math.Log(1 + (documents-with+.5)/(with+.5)) }
	sat := func(n float64) float64 { return n * 1.9 / (n + .9) }
	long := strings.Repeat("filler ", headWords) + "needle"
	for _, test := range []struct {
		name         string
		x            *Index
		query        string
		own, context []float64
	}{
		{
			"once", chain("a needle", "hay", "hay", "hay"), "needle",
			[]float64{idf(4, 1), 0, 0, 0},
			[]float64{idf(4, 1), idf(4, 1), idf(4, 1), 0},
		},
		{
			"twice counts less than double", chain("needle needle"), "needles",
			[]float64{idf(1, 1) * sat(2)},
			[]float64{idf(1, 1) * sat(2)},
		},
		{
			"echo", chain("needle", "needle", "hay"), "needle",
			[]float64{idf(3, 2), idf(3, 2) / 2, 0},
			[]float64{idf(3, 2), idf(3, 2) * sat(2), idf(3, 2) * sat(2)},
		},
		{"behind the head", chain(long, "hay"), "needle", []float64{idf(2, 1) / 10, 0}, []float64{idf(2, 1), 0}},
		{"function words do not count", chain("where is it"), "where is the needle", []float64{0}, []float64{0}},
	} {
		own, context := match(test.x, test.query)
		for i := range own {
			want := []float64{test.own[i], test.context[i]}
			got := []float64{float64(own[i]), float64(context[i])}
			if diff := cmp.Diff(want, got, near); diff != "" {
				t.Errorf("%s: document %d, own and context (-want +got):\n%s", test.name, i, diff)
			}
		}
	}
	apart := New()
	apart.Add("needle", -1)
	apart.Add("hay", -1)
	if _, context := match(apart, "needle"); context[1] != 0 {
		t.Errorf("a memory of another session has context %v", context[1])
	}
}

func TestPairs(t *testing.T) {
	t.Parallel()
	x := chain("the red car is fast", "red is the car", strings.Repeat("x ", headWords)+"red car")
	q := Parse("red car")
	var s Statistics
	x.Count(q, &s)
	for doc, want := range []bool{true, false, false} {
		if got := x.Pairs(q, s).In(doc) > 0; got != want {
			t.Errorf("document %d has the pair: %v", doc, got)
		}
	}
}

func TestHead(t *testing.T) {
	t.Parallel()
	sixty := strings.TrimSpace(strings.Repeat("word ", headWords))
	for _, test := range []struct {
		text       string
		end, words int
	}{
		{"", 0, 0},
		{"  ", 2, 0},
		{"one", 3, 1},
		{" one two ", 9, 2},
		{sixty, len(sixty), 60},
		{sixty + "\nmore", len(sixty), 61},
	} {
		if end, words := headEnd(test.text); end != test.end || words != test.words {
			t.Errorf("%.20q: %d, %d, want %d, %d", test.text, end, words, test.end, test.words)
		}
	}
}

func TestManyMentionsDoNotOverflow(t *testing.T) {
	t.Parallel()
	x := chain(strings.Repeat("needle ", 3*math.MaxUint16))
	_, context := match(x, "needle")
	if want := math.Log(1+.5/1.5) * 1.9; math.Abs(float64(context[0])-want) > 1e-3 {
		t.Errorf("context %v, want about %v", context[0], want)
	}
	x.Remove(0, strings.Repeat("needle ", 3*math.MaxUint16))
	if _, context := match(x, "needle"); context[0] != 0 {
		t.Errorf("context %v after the removal", context[0])
	}
}

// After any sequence of adds and removes, an index gives the same answers as one built from the remaining documents,
// and as one that was restored from its image.
func TestIncrementalEqualsFresh(t *testing.T) {
	t.Parallel()
	vocabulary := strings.Fields("red green car cars drive driving the of my house 猫が好き fooBar don't I")
	rapid.Check(t, func(r *rapid.T) {
		type entry struct {
			text    string
			session int
			doc     int
		}
		x := New()
		var live []entry
		last := func(session int) int {
			for _, e := range slices.Backward(live) {
				if e.session == session {
					return e.doc
				}
			}
			return -1
		}
		for range rapid.IntRange(1, 40).Draw(r, "steps") {
			if len(live) > 0 && rapid.IntRange(0, 2).Draw(r, "remove") == 0 {
				at := rapid.IntRange(0, len(live)-1).Draw(r, "at")
				x.Remove(live[at].doc, live[at].text)
				live = slices.Delete(live, at, at+1)
				continue
			}
			words := rapid.SliceOfN(rapid.SampledFrom(vocabulary), 0, 8).Draw(r, "words")
			if rapid.Bool().Draw(r, "long") {
				words = append(slices.Repeat([]string{"pad"}, headWords-3), words...)
			}
			e := entry{strings.Join(words, " "), rapid.IntRange(0, 2).Draw(r, "session"), x.Len()}
			x.Add(e.text, last(e.session))
			live = append(live, e)
		}
		fresh := New()
		number := map[int]int{-1: -1}
		before := map[int]int{}
		for i, e := range live {
			predecessor := -1
			if p, ok := before[e.session]; ok {
				predecessor = p
			}
			fresh.Add(e.text, predecessor)
			before[e.session], number[e.doc] = i, i
		}
		query := strings.Join(rapid.SliceOfN(rapid.SampledFrom(vocabulary), 1, 5).Draw(r, "query"), " ")
		q := Parse(query)
		var xs Statistics
		x.Count(q, &xs)
		var xm Scores
		x.Match(q, xs, &xm)
		x.Match(q, xs, &xm) // a reused Scores starts at zero
		kept := map[int]bool{}
		for name, other := range map[string]*Index{"fresh": fresh, "restored": restored(r, x)} {
			var s Statistics
			other.Count(q, &s)
			if xs.Rarity(q) != s.Rarity(q) {
				r.Fatalf("rarity %v, %s %v", xs.Rarity(q), name, s.Rarity(q))
			}
			var m Scores
			other.Match(q, s, &m)
			for i, e := range live {
				kept[e.doc] = true
				a, b := x.Neighbours(e.doc)
				oa, ob := other.Neighbours(i)
				got := fmt.Sprint(xm.Own[e.doc], xm.Context[e.doc], x.Pairs(q, xs).In(e.doc), x.Words(e.doc), number[a], number[b])
				want := fmt.Sprint(m.Own[i], m.Context[i], other.Pairs(q, s).In(i), other.Words(i), oa, ob)
				if got != want {
					r.Fatalf("document %d (%q): %s, %s %s", e.doc, e.text, got, name, want)
				}
			}
		}
		for doc := range x.Len() {
			if kept[doc] {
				continue
			}
			scores := []float64{float64(xm.Own[doc]), float64(xm.Context[doc]), x.Pairs(q, xs).In(doc)}
			if !slices.Equal(scores, []float64{0, 0, 0}) {
				r.Fatalf("the removed document %d still scores %v (own, context, pairs)", doc, scores)
			}
		}
	})
}

// restored returns the index of x's image. A part of the image is none.
func restored(r *rapid.T, x *Index) *Index {
	var image bytes.Buffer
	if err := x.Image(&image); err != nil {
		r.Fatal(err)
	}
	if _, err := FromImage(image.Bytes()[:rapid.IntRange(0, image.Len()-1).Draw(r, "part")]); err == nil {
		r.Fatal("a part of an image is taken for one")
	}
	restored, err := FromImage(image.Bytes())
	if err != nil {
		r.Fatal(err)
	}
	return restored
}

// Scores do not depend on where a block of documents ends, whichever sessions cross the border.
func TestBlocks(t *testing.T) {
	t.Parallel()
	vocabulary := strings.Fields("red car blue car needle hay my 红色的")
	rapid.Check(t, func(r *rapid.T) {
		x := New()
		last := []int{-1, -1, -1}
		for range rapid.IntRange(1, 60).Draw(r, "documents") {
			words := rapid.SliceOfN(rapid.SampledFrom(vocabulary), 0, 6).Draw(r, "words")
			switch rapid.IntRange(0, 5).Draw(r, "length") {
			case 0: // the words are behind the head
				words = append(slices.Repeat([]string{"pad"}, headWords-3), words...)
			case 1: // a head of very many stems
				words = append(words, strings.Repeat("红色的车", shortHead))
			}
			session, doc := rapid.IntRange(0, 3).Draw(r, "session"), x.Len()
			predecessor := -1
			if session < len(last) {
				predecessor, last[session] = last[session], doc
			}
			x.Add(strings.Join(words, " "), predecessor)
			if rapid.IntRange(0, 3).Draw(r, "labelled") == 0 {
				x.SetLabels(doc, nil, []string{rapid.SampledFrom(vocabulary).Draw(r, "label")})
			}
		}
		q := Parse(strings.Join(rapid.SliceOfN(rapid.SampledFrom(vocabulary), 1, 5).Draw(r, "query"), " "))
		var s Statistics
		x.Count(q, &s)
		var want Scores
		x.Match(q, s, &want)
		for _, size := range []int{1, 2, 3, 7, 20} {
			var got Scores
			x.matchBlocks(q, s, &got, size)
			if diff := cmp.Diff(want, got); diff != "" {
				r.Fatalf("in blocks of %d (-in one block +got):\n%s", size, diff)
			}
		}
	})
}
