package mesh

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/keyword"
	"github.com/yamo-protocol/yamo-mcp/mesh/rank"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

// The ranking follows its formula, bit by bit: over several compartments, more memories than one goroutine looks
// at, sessions that alternate, long memories, deleted ones, and some without a vector.
func TestRankingIsItsFormula(t *testing.T) {
	t.Parallel()
	dm := open(t, t.TempDir(), audience.DM(), new(words))
	r := rand.New(rand.NewPCG(3, 4))
	vocabulary := newCorpus(5)
	var stores []*compartment
	for _, size := range []struct {
		v record.Visibility
		n int
	}{{record.Private, 5000}, {record.Shared, 300}, {"group:red", 40}} {
		c, err := dm.open(size.v)
		if err != nil {
			t.Fatal(err)
		}
		stores = append(stores, c)
		for done := 0; done < size.n; done += 100 {
			if done+100 >= size.n { // the last have no vector
				if err := c.index.Update(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			appendTexts(t, c, done, min(size.n, done+100), func(i int) (text, session string) {
				text = vocabulary.text() + "?" // a newer statement may be put before an older one
				if i%100 == 0 {
					text = minutes(400) + "\n\n" + ending(i)
				}
				if n := r.IntN(30); n > 0 {
					session = fmt.Sprint("s", i/200*30+n)
				}
				return text, session
			})
		}
		s := c.Snapshot()
		var gone []string
		for i := range size.n / 20 {
			gone = append(gone, s.Record(20*i+1+r.IntN(19)).ID)
		}
		s.Release()
		c.Remove(gone...)
	}
	everyThird := func(r *record.Record) bool { return r.Seq%3 == 0 }
	anyRecord := func(*record.Record) bool { return true }
	for i := range 12 {
		query := vocabulary.text()
		if i < 4 { // about the end of a long memory
			query = ending(100 * (i + 1))
		}
		for name, meaning := range map[string][]float32{"": wordVector(query), " by words only": nil} {
			for _, admit := range []func(*record.Record) bool{anyRecord, everyThird} {
				ranking := dm.candidates(dm.sources(stores), query, meaning)
				for _, limit := range []int{1, 10, 50} {
					got := ranking.Top(limit, rank.Filter{Admit: admit})
					want := formula(stores, query, meaning, limit, admit)
					if diff := gocmp.Diff(want, got); diff != "" {
						ranking.Release() // or closing the memory waits for it forever
						t.Fatalf("%q%s, the best %d (-formula +ranking):\n%.2000s", query, name, limit, diff)
					}
				}
				ranking.Release()
			}
		}
	}
}

// ending is a passage of its own, of words that occur nowhere else.
func ending(i int) string {
	words := make([]string, 50)
	for j := range words {
		words[j] = rareWord(100_000 + i*len(words) + j)
	}
	return strings.Join(words, " ")
}

// appendTexts makes texts memories of c, from the number from on, without an embedder noticing.
func appendTexts(t *testing.T, c *compartment, from, to int, text func(i int) (text, session string)) {
	t.Helper()
	err := c.Append(context.Background(), func(_ *store.Snapshot, now time.Time) (drafts []ledger.Draft, err error) {
		for i := from; i < to; i++ {
			r := &record.Record{
				ID: fmt.Sprintf("%s_%06x", c.Visibility, i), Memory: record.Memory{Type: "global"}, CreatedAt: now,
			}
			r.Content, r.SessionID = text(i)
			drafts = append(drafts, ledger.Draft{Op: store.OpRetain, ID: r.ID, Block: "agent: test;\n", Data: r})
		}
		return drafts, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The formula's numbers, as docs/ranking.md has them.
const (
	cosineWeight  = 1.
	ownWeight     = .7
	contextWeight = .4
	pairsWeight   = .3
	sessionWeight = .5
	sideWeight    = .2
	pairsAmong    = 200
	passageShare  = .7
	passagePairs  = .3
)

func share(x, largest float32) float32 {
	if largest == 0 {
		return 0
	}
	return x / largest
}

// formula is Context's formula as it is written down, one array a signal, everything sorted.
func formula(
	stores []*compartment, query string, meaning []float32, limit int, admit func(*record.Record) bool,
) []record.Hit {
	projections, release := snapshots(stores)
	defer release()
	type memory struct {
		c                                             *store.Snapshot
		part, doc                                     int
		raw, smooth, own, context, pairs, base, score float32
		near, session, inPassage                      float32
		passage, place                                string
	}
	q := keyword.Parse(query)
	var stats keyword.Statistics
	for _, c := range projections {
		c.Keywords.Count(q, &stats)
	}
	var cosine, own, context float32
	var list []*memory
	for i, c := range projections {
		var words keyword.Scores
		c.Keywords.Match(q, stats, &words)
		docs := make([]*memory, len(c.Docs))
		for doc := range c.Docs {
			m := &memory{c: c, part: i, doc: doc, own: words.Own[doc], context: words.Context[doc]}
			docs[doc] = m
			if vector := stores[i].Vectors.Vector(doc); vector != nil && meaning != nil {
				m.raw = max(0, dot32(meaning, vector))
				if chunks := store.Chunks(c.Content(doc)); store.HasParts(c.Content(doc)) && len(chunks) > 1 {
					best, sum, parts := float32(-1), float32(0), chunks[1:]
					for _, chunk := range parts {
						x := dot32(meaning, wordVector(chunk.Text))
						sum, best = sum+max(x, 0), max(best, x)
					}
					if len(parts) > 1 {
						best -= sum / float32(len(parts))
					}
					m.raw = max(m.raw, best)
				}
			}
			if !c.Docs[doc].Deleted && store.HasParts(c.Content(doc)) {
				matcher, best, bestPairs := c.Keywords.Matcher(q, stats), 0., 0.
				for _, chunk := range store.Chunks(c.Content(doc)) {
					if w, p := matcher.Score(c.Keywords.WordsOf(chunk.Text)); w+p > best+bestPairs {
						best, bestPairs = w, p
					}
				}
				ownShare, pairsShare := passageShare, passagePairs
				if count, whole := matcher.Pairs(); count >= 4 && bestPairs >= .8*whole { // it is quoted
					ownShare, pairsShare = 1, 1
				}
				m.own, m.inPassage = max(m.own, float32(ownShare*best)), float32(pairsShare*bestPairs)
				if meaning != nil && stores[i].Vectors.Vector(doc) == nil {
					m.raw = max(m.raw, .6*min(1, float32(best/stats.Rarity(q))))
				}
			}
			cosine, own, context = max(cosine, m.raw), max(own, m.own), max(context, m.context)
		}
		for doc, m := range docs {
			sum, weight := m.raw, float32(1)
			before, after := c.Keywords.Neighbours(doc)
			for _, beside := range []int{before, after} {
				if beside >= 0 {
					sum, weight = sum+sideWeight*docs[beside].raw, weight+sideWeight
				}
			}
			m.smooth = sum / weight
		}
		list = append(list, docs...)
	}
	list = slices.DeleteFunc(list, func(m *memory) bool {
		return m.c.Record(m.doc) == nil || m.context == 0 && m.raw < rank.MinCosine || !admit(m.c.Record(m.doc))
	})
	sort := func(value func(*memory) float32) {
		slices.SortFunc(list, func(a, b *memory) int {
			return cmp.Or(cmp.Compare(value(b), value(a)), cmp.Compare(a.part, b.part), cmp.Compare(a.doc, b.doc))
		})
	}
	for _, m := range list {
		m.near = share(m.smooth, cosine)
		if cosine > 0 && m.raw == 0 && stores[m.part].Vectors.Vector(m.doc) == nil {
			m.near = max(m.near, share(m.own, own)) // until it has a vector
		}
		m.base = cosineWeight*m.near + ownWeight*share(m.own, own) +
			contextWeight*share(m.context, context) - m.c.Docs[m.doc].Long
	}
	sort(func(m *memory) float32 { return m.base })
	pairs := float32(0)
	for _, m := range list[:min(len(list), pairsAmong)] {
		m.pairs = max(float32(m.c.Keywords.Pairs(q, stats).In(m.doc)), m.inPassage)
		pairs = max(pairs, m.pairs)
	}
	best := map[string]float32{}
	for _, m := range list {
		m.pairs = pairsWeight * share(m.pairs, pairs)
		m.base += m.pairs
		session := string(m.c.Visibility) + m.c.Record(m.doc).SessionID
		if known, ok := best[session]; !ok || m.base > known {
			best[session] = m.base
		}
	}
	for _, m := range list {
		m.session = sessionWeight * m.base
		if r := m.c.Record(m.doc); r.SessionID != "" {
			m.session = sessionWeight * best[string(m.c.Visibility)+r.SessionID]
		}
		m.score = m.base + m.session
	}
	sort(func(m *memory) float32 { return m.score })
	hits := []record.Hit{}
	for _, m := range list[:min(len(list), limit)] {
		// The part that fits best by meaning and words is shown.
		if chunks := store.Chunks(m.c.Record(m.doc).Content); m.c.Docs[m.doc].Parts {
			matcher, most := m.c.Keywords.Matcher(q, stats), float32(math.Inf(-1))
			for i, chunk := range chunks {
				text := chunk.Text
				if i == 0 {
					text = m.c.Record(m.doc).Content
				}
				w, p := matcher.Score(m.c.Keywords.WordsOf(chunk.Text))
				fits := ownWeight * share(float32(w+p), own)
				if meaning != nil && stores[m.part].Vectors.Vector(m.doc) != nil {
					fits += cosineWeight * share(max(0, dot32(meaning, wordVector(text))), cosine)
				}
				if fits <= most {
					continue
				}
				most, m.passage, m.place = fits, "", ""
				if i > 0 {
					m.passage = chunk.Text
					m.place = fmt.Sprintf("part %d of %d, offset %d", i+1, len(chunks), chunk.Start)
				}
			}
		}
		strength := max(list[0].raw, min(1, list[0].own/float32(stats.Rarity(q))))
		hit := record.Hit{Record: m.c.Record(m.doc), Visibility: m.c.Visibility, Passage: m.passage, Place: m.place}
		hit.Signals = []record.Signal{
			{Name: "cosine", Value: rank.Round(m.raw)},
			{Name: "meaning", Value: rank.Round(cosineWeight * m.near)},
			{Name: "own_words", Value: rank.Round(ownWeight * share(m.own, own))},
			{Name: "context_words", Value: rank.Round(contextWeight * share(m.context, context))},
			{Name: "word_pairs", Value: rank.Round(m.pairs)},
			{Name: "length", Value: 0 - rank.Round(m.c.Docs[m.doc].Long)},
			{Name: "session", Value: rank.Round(m.session)},
		}
		if first := list[0].score; first > 0 {
			hit.Score = rank.Round(min(1, max(0, strength*m.score/first)))
		}
		hits = append(hits, hit)
	}
	return hits
}

func dot32(a, b []float32) float32 {
	return blas32.Dot(blas32.Vector{N: len(a), Inc: 1, Data: a}, blas32.Vector{N: len(b), Inc: 1, Data: b})
}
