package keyword

import (
	"slices"
	"sync"

	"github.com/yamo-protocol/yamo-mcp/internal/parallel"
)

// Scores is the result of Match, by document. A Scores can be passed to Match again, which saves allocations.
type Scores struct {
	Own     []float32 // for the query's terms in the document's head, and a little for those behind it
	Context []float32 // for the terms in its whole text and in the heads of its two predecessors, together
	Named   []float32 // 0 to 1, how much its most distinctive label of the query is like a name; empty without any
}

// Match scores all documents. In Own, a term that is also in the predecessor's head counts half: the memory that
// brings something up is usually wanted, not the replies to it. A term that is only behind the head counts a tenth.
// That hardly changes the order of memories with the words in their heads. But if there are none, the caller scales
// each signal by its maximum, so the memory that has the word anywhere is found.
func (x *Index) Match(q Query, s Statistics, m *Scores) { x.matchBlocks(q, s, m, blockSize) }

// matchBlocks is Match in blocks of up to size documents, which must not be more than blockSize.
func (x *Index) matchBlocks(q Query, s Statistics, m *Scores, size int) {
	terms, labelled := x.scored(q, s)
	m.Own, m.Context, m.Named = sized(m.Own, len(x.docs)), sized(m.Context, len(x.docs)), m.Named[:0]
	if labelled {
		m.Named = sized(m.Named, len(x.docs))
	}
	parallel.Ranges(len(x.docs), size, func(from, to int) {
		b := blocks.Get().(*block)
		defer blocks.Put(b)
		b.begin(x, from, to, m)
		for i := range terms {
			b.match(&terms[i])
			b.matchLabels(&terms[i])
		}
		b.x = nil
	})
}

// sized returns a slice of n numbers, in list's memory if it is large enough. It grows by an eighth more, since an
// index grows by one document at a time.
func sized(list []float32, n int) []float32 {
	if cap(list) < n {
		return make([]float32, n, n+n/8)
	}
	return list[:n]
}

// scoredTerm is a term of a query, with what an index has of it.
type scoredTerm struct {
	number   int32     // the stem's, if there are postings
	postings []posting // of the documents whose text has it
	labels   []int32   // the documents with a label that has it
	rarity   float64
	name     float32 // how much it is like a name, see matchLabels
	labelled bool    // some label has it, here or in another index

	// What a number of mentions is worth, for the numbers that occur in practice: see block.worth.
	own  [len(ownWeights)][len(saturated)]float32 // in the head, by block.echo
	tail [len(saturated)]float32                  // behind it
}

// scored returns the terms of q that x, or a label in any index, has. labelled reports whether a label has one.
func (x *Index) scored(q Query, s Statistics) (terms []scoredTerm, labelled bool) {
	for _, stem := range q.terms {
		number, inText := x.terms[stem]
		t := scoredTerm{number: number, labels: x.labels[stem], rarity: s.rarity(stem), labelled: s.labelled[stem] > 0}
		if inText {
			t.postings = x.postings[number]
			for n, worth := range saturated {
				for echo, weight := range ownWeights {
					t.own[echo][n] = float32(t.rarity * worth * weight)
				}
				t.tail[n] = float32(tailWeight * t.rarity * worth)
			}
		}
		if t.labelled {
			t.name = float32(s.labelled[stem]) / float32(max(s.containing[stem], s.labelled[stem]))
			labelled = true
		}
		if inText || t.labelled {
			terms = append(terms, t)
		}
	}
	return terms, labelled
}

// ownWeights are the weights of a term in the head of a document: usually, and where it is in its predecessor's too.
var ownWeights = [...]float64{1, echoWeight}

// blockSize is the number of documents that are scored for one term after the other, so that what is written for them
// stays in the cache of a core.
const blockSize = 1 << 14

// blocks keeps the memory of finished blocks.
var blocks = sync.Pool{New: func() any { return new(block) }}

// block scores the documents from one number up to another. Its slices are by document, from the first of the block.
type block struct {
	x                   *Index
	from, to            int32
	own, context, named []float32
	entrants            []entrant

	// Scratch space of match; all zero between terms.
	near [blockSize]uint32 // mentions of the term in the document and its context
	echo [blockSize]uint8  // 1 if the term is in the head of the document's predecessor
}

// entrant is a document of a block whose predecessor is before the block, and that one's predecessor.
type entrant struct{ doc, predecessor, second int32 }

// begin makes b the block of the documents in [from, to), with no scores.
func (b *block) begin(x *Index, from, to int, m *Scores) {
	b.x, b.from, b.to = x, int32(from), int32(to) //nolint:gosec // fewer than 2^31 memories
	b.own, b.context, b.named = m.Own[from:to], m.Context[from:to], m.Named[:0]
	clear(b.own)
	clear(b.context)
	if len(m.Named) > 0 {
		b.named = m.Named[from:to]
		clear(b.named)
	}
	b.entrants = b.entrants[:0]
	for i, l := range x.links[from:to] {
		if l.predecessor >= 0 && l.predecessor < b.from {
			doc := b.from + int32(i)
			b.entrants = append(b.entrants, entrant{doc, l.predecessor, x.links[l.predecessor].predecessor})
		}
	}
}

// match adds the scores of one term. The postings are sorted by document, so a predecessor comes before its successor.
func (b *block) match(t *scoredTerm) {
	list := b.postings(t)
	b.enter(t)
	from, links, own := b.from, b.x.links[b.from:b.to], b.own
	near, echo := b.near[:len(own)], b.echo[:len(own)]
	for _, p := range list {
		i, m := p.doc()-from, b.x.mentions(t.number, p)
		head := uint32(m.head)
		near[i] += head + uint32(m.tail)
		if head == 0 {
			own[i] += worth(&t.tail, uint32(m.tail), tailWeight*t.rarity)
			continue
		}
		// An index instead of a branch: of a common word a processor cannot guess it.
		own[i] += worth(&t.own[echo[i]&1], head, t.rarity*ownWeights[echo[i]&1])
		next := links[i].successor - from
		if uint32(next) >= uint32(len(echo)) { //nolint:gosec // -1 is none
			continue
		}
		echo[next] = 1
		near[next] += head
		if next = links[next].successor - from; uint32(next) < uint32(len(near)) { //nolint:gosec // as above
			near[next] += head
		}
	}
	b.finish(t, list)
}

// worth returns weight times saturate(n), from a table of that where it has n.
func worth(table *[len(saturated)]float32, n uint32, weight float64) float32 {
	if n < uint32(len(table)) {
		return table[n]
	}
	return float32(weight * saturate(n))
}

// finish adds the scores of the context, and makes the scratch space zero again.
func (b *block) finish(t *scoredTerm, list []posting) {
	if len(list) > len(b.own)/8 { // all are faster than those that are found one by one
		for i := range b.own {
			b.settle(t, int32(i))
		}
		return
	}
	for _, p := range list {
		b.settleAll(t, p.doc())
	}
	for _, e := range b.entrants {
		b.settleAll(t, e.doc)
	}
}

// settleAll settles a document of b and those in whose context it is.
func (b *block) settleAll(t *scoredTerm, doc int32) {
	for n := 0; n <= contextSize && doc >= 0 && doc < b.to; n++ {
		b.settle(t, doc-b.from)
		doc = b.x.links[doc].successor
	}
}

// settle adds what the mentions in and near document i of b are worth, once: 0 is worth nothing.
func (b *block) settle(t *scoredTerm, i int32) {
	b.context[i] += worth(&t.own[0], b.near[i], t.rarity)
	b.near[i], b.echo[i] = 0, 0
}

// postings returns the postings of a term for the documents of b.
func (b *block) postings(t *scoredTerm) []posting {
	from, _ := slices.BinarySearchFunc(t.postings, b.from, compareDoc)
	to, _ := slices.BinarySearchFunc(t.postings[from:], b.to, compareDoc)
	return t.postings[from : from+to]
}

// enter notes the mentions of a term in the heads of documents before the block, whose successors are in it.
func (b *block) enter(t *scoredTerm) {
	if len(t.postings) == 0 {
		return
	}
	for _, e := range b.entrants {
		if n := b.x.inHead(t, e.predecessor); n > 0 {
			b.echo[e.doc-b.from] = 1
			b.near[e.doc-b.from] += n
			if next := b.x.links[e.doc].successor; next >= 0 && next < b.to {
				b.near[next-b.from] += n
			}
		}
		if e.second >= 0 {
			b.near[e.doc-b.from] += b.x.inHead(t, e.second)
		}
	}
}

// shortHead is the number of bytes up to which looking at all of a head is faster than looking for its posting.
const shortHead = 4 * headWords

// inHead returns how often a term is in the head of a document.
func (x *Index) inHead(t *scoredTerm, doc int32) (n uint32) {
	if x.docs[doc].size > shortHead {
		if at, ok := slices.BinarySearchFunc(t.postings, doc, compareDoc); ok {
			n = uint32(x.mentions(t.number, t.postings[at]).head)
		}
		return n
	}
	for stem := range x.head(doc) {
		if stem == t.number {
			n++
		}
	}
	return n
}
