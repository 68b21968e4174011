package keyword

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// The constants of the word signals. They are round numbers that were not fitted to a test set.
const (
	headWords  = 60 // the words at the beginning of a text that say what it is about
	saturation = .9 // BM25's k1: how soon more of the same term counts no more
	echo       = .5 // what a term counts that stands in the predecessor's head already
	back       = 2  // predecessors that make up a document's context
)

// Index is the inverted index behind the context ranking: where in the documents each stem stands,
// and which documents stand beside each other. It is not safe for concurrent use; its readers (every
// method but Add and Remove) may run beside each other.
type Index struct {
	terms    map[string]int32 // stem -> its number
	words    map[string]int32 // word -> the number of its stem: stemming is what adding would spend its time with
	postings [][]posting      // by the stem's number, ascending by document
	docs     []document
	live     int // documents that were not removed
}

type posting struct {
	doc  int32
	all  uint16 // how often the stem stands in the document
	head uint16 // how often in its head
}

type document struct {
	predecessor, successor int32   // of the same session, -1 for none
	words                  int32   // separated by white space
	head                   []int32 // the head's stems in order
}

// New returns an index without documents.
func New() *Index { return &Index{terms: map[string]int32{}, words: map[string]int32{}} }

// Add adds text as the next document, the first being 0. predecessor is the document that was stored
// before it in the same session, -1 if there is none; it has no other successor.
func (x *Index) Add(text string, predecessor int) {
	doc := int32(len(x.docs))                                     //nolint:gosec // fewer than 2^31 memories
	d := document{predecessor: int32(predecessor), successor: -1} //nolint:gosec // as doc
	if predecessor >= 0 {
		x.docs[predecessor].successor = doc
	}
	end, words := headEnd(text)
	d.words = int32(words) //nolint:gosec // a memory has at most a million bytes
	eachWord(text[:end], func(w string) {
		t := x.term(w)
		d.head = append(d.head, t)
		p := x.posting(t, doc)
		p.all, p.head = bump(p.all), bump(p.head)
	})
	d.head = slices.Clip(d.head)
	eachWord(text[end:], func(w string) {
		p := x.posting(x.term(w), doc)
		p.all = bump(p.all)
	})
	x.docs = append(x.docs, d)
	x.live++
}

// Remove removes a document, whose text must be given as it was added. The documents beside it are
// beside each other then; no document's number changes. A document is removed once at most.
func (x *Index) Remove(doc int, text string) {
	number := int32(doc) //nolint:gosec // fewer than 2^31 memories
	seen := map[int32]bool{}
	eachWord(text, func(w string) {
		t := x.words[w]
		if seen[t] {
			return
		}
		seen[t] = true
		list := x.postings[t]
		if at, ok := slices.BinarySearchFunc(list, number, func(p posting, doc int32) int { return cmp.Compare(p.doc, doc) }); ok {
			x.postings[t] = slices.Delete(list, at, at+1)
		}
	})
	d := x.docs[doc]
	if d.predecessor >= 0 {
		x.docs[d.predecessor].successor = d.successor
	}
	if d.successor >= 0 {
		x.docs[d.successor].predecessor = d.predecessor
	}
	x.docs[doc] = document{predecessor: -1, successor: -1}
	x.live--
}

func bump(n uint16) uint16 {
	if n == math.MaxUint16 {
		return n
	}
	return n + 1
}

// headEnd is where the head of text ends, and how many words the whole text has.
func headEnd(text string) (end, words int) {
	end = len(text)
	rest := text
	for {
		rest = strings.TrimLeft(rest, " \t\r\n\v\f")
		if rest == "" {
			return end, words
		}
		words++
		n := strings.IndexAny(rest, " \t\r\n\v\f")
		if n < 0 {
			n = len(rest)
		}
		rest = rest[n:]
		if words == headWords {
			end = len(text) - len(rest)
		}
	}
}

// term is the number of a word's stem, a new one if the stem is new.
func (x *Index) term(word string) int32 {
	if t, ok := x.words[word]; ok {
		return t
	}
	stem := stem(word)
	t, ok := x.terms[stem]
	if !ok {
		t = int32(len(x.postings)) //nolint:gosec // fewer than 2^31 stems
		x.terms[strings.Clone(stem)] = t
		x.postings = append(x.postings, nil)
	}
	x.words[strings.Clone(word)] = t // not a part of the text, which would stay in memory
	return t
}

// posting is the posting of term t for the newest document.
func (x *Index) posting(t, doc int32) *posting {
	list := x.postings[t]
	if n := len(list); n == 0 || list[n-1].doc != doc {
		list = append(list, posting{doc: doc})
		x.postings[t] = list
	}
	return &list[len(list)-1]
}

// Len is the number of documents, removed ones too: one more than the highest number.
func (x *Index) Len() int { return len(x.docs) }

// Words is the number of words of a document.
func (x *Index) Words(doc int) int { return int(x.docs[doc].words) }

// Neighbours are the documents before and after doc in its session, -1 for none.
func (x *Index) Neighbours(doc int) (predecessor, successor int) {
	d := x.docs[doc]
	return int(d.predecessor), int(d.successor)
}

// Query is a question, taken apart once for all indexes.
type Query struct {
	terms []string    // distinct stems, without function words
	pairs [][2]string // distinct stems that stand side by side, function words too
}

// Parse takes a question apart. One of function words alone keeps them.
func Parse(text string) Query {
	var q Query
	var all []string
	content := map[string]bool{}
	eachWord(text, func(w string) {
		s := stem(w)
		all = append(all, s)
		if !function[w] && !content[s] {
			content[s] = true
			q.terms = append(q.terms, s)
		}
	})
	if len(q.terms) == 0 {
		for _, s := range all {
			if !content[s] {
				content[s] = true
				q.terms = append(q.terms, s)
			}
		}
	}
	seen := map[[2]string]bool{}
	for i := 0; i+1 < len(all); i++ {
		pair := [2]string{all[i], all[i+1]}
		if !seen[pair] {
			seen[pair] = true
			q.pairs = append(q.pairs, pair)
		}
	}
	return q
}

// Statistics says how rare the words of a query are. The zero value knows no document.
type Statistics struct {
	documents int
	with      map[string]int // stem -> documents that have it
}

// Count adds x's documents to s.
func (x *Index) Count(q Query, s *Statistics) {
	if s.with == nil {
		s.with = map[string]int{}
	}
	s.documents += x.live
	counted := map[string]bool{}
	count := func(stem string) {
		if t, ok := x.terms[stem]; ok && !counted[stem] {
			counted[stem] = true
			s.with[stem] += len(x.postings[t])
		}
	}
	for _, stem := range q.terms {
		count(stem)
	}
	for _, pair := range q.pairs {
		count(pair[0])
		count(pair[1])
	}
}

// rarity is BM25's inverse document frequency of a stem.
func (s Statistics) rarity(stem string) float64 {
	df := float64(s.with[stem])
	return math.Log(1 + (float64(s.documents)-df+.5)/(df+.5))
}

// Rarity is the sum of the rarities of q's terms: what a document that has all of them could get from
// single mentions.
func (s Statistics) Rarity(q Query) float64 {
	sum := 0.
	for _, t := range q.terms {
		sum += s.rarity(t)
	}
	return sum
}

// saturated holds what the first few mentions of a term count together.
var saturated = func() (table [64]float64) {
	for n := range table {
		table[n] = float64(n) * (saturation + 1) / (float64(n) + saturation)
	}
	return table
}()

func saturate(n uint32) float64 {
	if n < uint32(len(saturated)) {
		return saturated[n]
	}
	return float64(n) * (saturation + 1) / (float64(n) + saturation)
}

// Scores is what Match found, by document. It may be used again, which spares allocations.
type Scores struct {
	Own     []float32 // what the query's terms in the document's head are worth
	Context []float32 // and those in its whole text and in the heads of its two predecessors, together

	// Zero between the terms.
	near    []uint32 // mentions of the term in the document's context
	inHead  []bool   // whether it stands in the document's head
	touched []int32  // the documents whose near is not 0
}

func (m *Scores) reset(n int) {
	m.Own, m.Context = cleared(m.Own, n), cleared(m.Context, n)
	m.near, m.inHead = cleared(m.near, n), cleared(m.inHead, n)
}

func cleared[E any](list []E, n int) []E {
	if cap(list) < n {
		return make([]E, n, n+n/8)
	}
	list = list[:n]
	clear(list)
	return list
}

// Match scores all documents. A term that stands in the head of the predecessor too counts half in Own:
// the memory that brings something up is meant rather than the answers to it.
func (x *Index) Match(q Query, s Statistics, m *Scores) {
	m.reset(len(x.docs))
	for _, stem := range q.terms {
		if t, ok := x.terms[stem]; ok {
			x.match(x.postings[t], s.rarity(stem), m)
		}
	}
}

// match adds what one term is worth.
func (x *Index) match(list []posting, rarity float64, m *Scores) {
	for _, p := range list {
		if p.head > 0 {
			m.inHead[p.doc] = true
		}
	}
	for _, p := range list {
		m.mention(p.doc, p.all)
		if p.head == 0 {
			continue
		}
		worth := rarity * saturate(uint32(p.head))
		if before := x.docs[p.doc].predecessor; before >= 0 && m.inHead[before] {
			worth *= echo
		}
		m.Own[p.doc] += float32(worth)
		after := p.doc
		for range back {
			if after = x.docs[after].successor; after < 0 {
				break
			}
			m.mention(after, p.head)
		}
	}
	for _, doc := range m.touched {
		m.Context[doc] += float32(rarity * saturate(m.near[doc]))
		m.near[doc] = 0
	}
	m.touched = m.touched[:0]
	for _, p := range list {
		m.inHead[p.doc] = false
	}
}

func (m *Scores) mention(doc int32, n uint16) {
	if m.near[doc] == 0 {
		m.touched = append(m.touched, doc)
	}
	m.near[doc] += uint32(n)
}

// Pairs is what the pairs of neighbouring words that q and the head of doc share are worth.
func (x *Index) Pairs(q Query, s Statistics, doc int) float64 {
	sum := 0.
	head := x.docs[doc].head
	for _, pair := range q.pairs {
		a, okA := x.terms[pair[0]]
		b, okB := x.terms[pair[1]]
		if !okA || !okB {
			continue
		}
		for i := 0; i+1 < len(head); i++ {
			if head[i] == a && head[i+1] == b {
				sum += (s.rarity(pair[0]) + s.rarity(pair[1])) / 2
				break
			}
		}
	}
	return sum
}
