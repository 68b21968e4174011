package keyword

import (
	"math"
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
// and which documents stand beside each other. It is not safe for concurrent use.
type Index struct {
	terms    map[string]int32 // stem -> its number
	postings [][]posting      // by the stem's number, ascending by document
	docs     []document
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
func New() *Index { return &Index{terms: map[string]int32{}} }

// Add adds text as the next document, the first being 0. predecessor is the document that was stored
// before it in the same session, -1 if there is none; it has no other successor.
func (x *Index) Add(text string, predecessor int) {
	doc := int32(len(x.docs)) //nolint:gosec // fewer than 2^31 memories
	d := document{predecessor: int32(predecessor), successor: -1}
	if predecessor >= 0 {
		x.docs[predecessor].successor = doc
	}
	end, words := headEnd(text)
	d.words = int32(words)
	for _, s := range stems(text[:end]) {
		t := x.term(s)
		d.head = append(d.head, t)
		p := x.posting(t, doc)
		p.all, p.head = bump(p.all), bump(p.head)
	}
	for _, s := range stems(text[end:]) {
		p := x.posting(x.term(s), doc)
		p.all = bump(p.all)
	}
	x.docs = append(x.docs, d)
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

func (x *Index) term(stem string) int32 {
	t, ok := x.terms[stem]
	if !ok {
		t = int32(len(x.postings)) //nolint:gosec // fewer than 2^31 stems
		x.terms[strings.Clone(stem)] = t
		x.postings = append(x.postings, nil)
	}
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

// Len is the number of documents.
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
	s.documents += len(x.docs)
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

func saturate(n float64) float64 { return n * (saturation + 1) / (n + saturation) }

// Match returns for each document what the query's terms in its head are worth (own), and what those
// in its whole text and in the heads of its two predecessors are worth together (context). A term in
// the head of the predecessor too counts half in own: the memory that brings something up is meant
// rather than the answers to it.
func (x *Index) Match(q Query, s Statistics) (own, context []float64) {
	own, context = make([]float64, len(x.docs)), make([]float64, len(x.docs))
	near := make([]uint32, len(x.docs))
	var touched []int32
	for _, stem := range q.terms {
		t, ok := x.terms[stem]
		if !ok {
			continue
		}
		rarity := s.rarity(stem)
		add := func(doc int32, n uint16) {
			if near[doc] == 0 {
				touched = append(touched, doc)
			}
			near[doc] += uint32(n)
		}
		list := x.postings[t]
		for i, p := range list {
			add(p.doc, p.all)
			if p.head == 0 {
				continue
			}
			worth := rarity * saturate(float64(p.head))
			if inHead(list[:i], x.docs[p.doc].predecessor) {
				worth *= echo
			}
			own[p.doc] += worth
			after := p.doc
			for range back {
				if after = x.docs[after].successor; after < 0 {
					break
				}
				add(after, p.head)
			}
		}
		for _, doc := range touched {
			context[doc] += rarity * saturate(float64(near[doc]))
			near[doc] = 0
		}
		touched = touched[:0]
	}
	return own, context
}

// inHead reports whether doc is in list, which ascends by document, with a mention in its head.
func inHead(list []posting, doc int32) bool {
	if doc < 0 {
		return false
	}
	low, high := 0, len(list)
	for low < high {
		middle := (low + high) / 2
		if list[middle].doc < doc {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low < len(list) && list[low].doc == doc && list[low].head > 0
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
