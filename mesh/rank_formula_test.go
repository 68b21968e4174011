package mesh

import (
	"cmp"
	"context"
	"fmt"
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
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// The ranking is what its formula says, bit by bit: over several compartments, more memories than one goroutine looks at,
// sessions that alternate, long memories, deleted ones, and some without a vector.
func TestRankingIsItsFormula(t *testing.T) {
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
				if err := c.index.locked(t.Context(), func() error { return c.index.fill(t.Context(), c) }); err != nil {
					t.Fatal(err)
				}
			}
			appendTexts(t, c, done, min(size.n, done+100), func(i int) (text, session string) {
				text = vocabulary.text()
				if i%100 == 0 {
					text = minutes(400) + "\n\n" + ending(i)
				}
				if n := r.IntN(30); n > 0 {
					session = fmt.Sprint("s", i/200*30+n)
				}
				return text, session
			})
		}
		c.mu.Lock()
		for i := range size.n / 20 {
			c.remove(c.docs[20*i+1+r.IntN(19)].record.ID)
		}
		c.mu.Unlock()
		c.index.dirty = false // there is nothing to write when the test ends
	}
	everyThird := func(_ *compartment, doc int) bool { return doc%3 == 0 }
	all := func(*compartment, int) bool { return true }
	for i := range 12 {
		query := vocabulary.text()
		if i < 4 { // about the end of a long memory
			query = ending(100 * (i + 1))
		}
		for name, meaning := range map[string][]float32{"": wordVector(query), " by words alone": nil} {
			for _, admit := range []func(*compartment, int) bool{all, everyThird} {
				ranking := newRanking(stores, query, meaning)
				for _, limit := range []int{1, 10, 50} {
					got, want := ranking.top(limit, admit), formula(stores, query, meaning, limit, admit)
					if diff := gocmp.Diff(want, got); diff != "" {
						t.Fatalf("%q%s, the best %d (-formula +ranking):\n%.2000s", query, name, limit, diff)
					}
				}
				ranking.release()
			}
		}
	}
}

// ending is a passage of its own, of words that stand nowhere else.
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
	_, err := c.ledger.Append(context.Background(), c.apply, func(now time.Time) (drafts []ledger.Draft, err error) {
		for i := from; i < to; i++ {
			record := &record.Record{ID: fmt.Sprintf("%s_%06x", c.visibility, i), Memory: record.Memory{Type: "global"}, CreatedAt: now}
			record.Content, record.SessionID = text(i)
			drafts = append(drafts, ledger.Draft{Op: opRetain, ID: record.ID, Block: "agent: test;\n", Data: record})
		}
		return drafts, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// formula is Context's formula as it is written down, one array a signal, everything sorted.
func formula(stores []*compartment, query string, meaning []float32, limit int, admit func(*compartment, int) bool) []record.Hit {
	type memory struct {
		c                                              *compartment
		part, doc                                      int
		raw, smooth, own, context, pairs, alone, score float32
		session                                        float32
	}
	q := keyword.Parse(query)
	var stats keyword.Statistics
	for _, c := range stores {
		c.keywords.Count(q, &stats)
	}
	var cosine, own, context float32
	var list []*memory
	for i, c := range stores {
		var words keyword.Scores
		c.keywords.Match(q, stats, &words)
		docs := make([]*memory, len(c.docs))
		for doc, d := range c.docs {
			m := &memory{c: c, part: i, doc: doc, own: words.Own[doc], context: words.Context[doc]}
			docs[doc] = m
			if vector := c.index.vectors.Vector(doc); vector != nil && meaning != nil {
				m.raw = max(0, dot32(meaning, vector))
				if long(d.record.Content) {
					best, sum, parts := float32(-1), float32(0), partsOf(d.record.Content)
					for _, text := range parts {
						x := dot32(meaning, wordVector(text))
						best, sum = max(best, x), sum+max(x, 0)
					}
					if len(parts) > 1 {
						best -= sum / float32(len(parts))
					}
					m.raw = max(m.raw, best)
				}
			}
			cosine, own, context = max(cosine, m.raw), max(own, m.own), max(context, m.context)
		}
		for doc, m := range docs {
			sum, weight := m.raw, float32(1)
			before, after := c.keywords.Neighbours(doc)
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
		return m.c.docs[m.doc].record == nil || m.context == 0 && m.raw < leastCosine || !admit(m.c, m.doc)
	})
	sort := func(value func(*memory) float32) {
		slices.SortFunc(list, func(a, b *memory) int {
			return cmp.Or(cmp.Compare(value(b), value(a)), cmp.Compare(a.part, b.part), cmp.Compare(a.doc, b.doc))
		})
	}
	for _, m := range list {
		m.alone = cosineWeight*share(m.smooth, cosine) + ownWeight*share(m.own, own) + contextWeight*share(m.context, context) - m.c.docs[m.doc].long
	}
	sort(func(m *memory) float32 { return m.alone })
	pairs := float32(0)
	for _, m := range list[:min(len(list), pairsAmong)] {
		m.pairs = float32(m.c.keywords.Pairs(q, stats).In(m.doc))
		pairs = max(pairs, m.pairs)
	}
	best := map[string]float32{}
	for _, m := range list {
		m.pairs = pairsWeight * share(m.pairs, pairs)
		m.alone += m.pairs
		session := string(m.c.visibility) + m.c.docs[m.doc].record.SessionID
		if known, ok := best[session]; !ok || m.alone > known {
			best[session] = m.alone
		}
	}
	for _, m := range list {
		m.session = sessionWeight * m.alone
		if record := m.c.docs[m.doc].record; record.SessionID != "" {
			m.session = sessionWeight * best[string(m.c.visibility)+record.SessionID]
		}
		m.score = m.alone + m.session
	}
	sort(func(m *memory) float32 { return m.score })
	hits := []record.Hit{}
	for _, m := range list[:min(len(list), limit)] {
		strength := max(list[0].raw, min(1, list[0].own/float32(stats.Rarity(q))))
		hit := record.Hit{Record: m.c.docs[m.doc].record, Visibility: m.c.visibility, Signals: []record.Signal{
			{Name: "cosine", Value: round2(m.raw)},
			{Name: "meaning", Value: round2(cosineWeight * share(m.smooth, cosine))},
			{Name: "own_words", Value: round2(ownWeight * share(m.own, own))},
			{Name: "context_words", Value: round2(contextWeight * share(m.context, context))},
			{Name: "word_pairs", Value: round2(m.pairs)},
			{Name: "length", Value: 0 - round2(m.c.docs[m.doc].long)},
			{Name: "session", Value: round2(m.session)},
		}}
		if first := list[0].score; first > 0 {
			hit.Score = round2(min(1, max(0, strength*m.score/first)))
		}
		hits = append(hits, hit)
	}
	return hits
}

func dot32(a, b []float32) float32 {
	return blas32.Dot(blas32.Vector{N: len(a), Inc: 1, Data: a}, blas32.Vector{N: len(b), Inc: 1, Data: b})
}
