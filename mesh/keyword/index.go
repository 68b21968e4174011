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
	beyond     = .1 // what a term counts that stands behind the head and not in it
	back       = 2  // predecessors that make up a document's context
)

// Index is the inverted index behind the context ranking: where in the documents each stem stands,
// and which documents stand beside each other. It is not safe for concurrent use; its readers (every
// method but Add and Remove) may run beside each other.
type Index struct {
	terms    map[string]int32 // stem -> its number
	words    map[string]int32 // word -> the number of its stem: stemming is what adding would spend its time with
	postings [][]posting      // by the stem's number, ascending by document
	links    []link           // by document, apart from docs: matching reads them all the time
	docs     []document
	live     int // documents that were not removed
}

type posting struct {
	doc  int32
	all  uint16 // how often the stem stands in the document
	head uint16 // how often in its head
}

// link is what stands beside a document in its session, -1 for nothing. A predecessor's number is the lower one.
type link struct{ predecessor, successor int32 }

type document struct {
	words int32   // separated by white space
	head  []int32 // the head's stems in order
}

// New returns an index without documents.
func New() *Index { return &Index{terms: map[string]int32{}, words: map[string]int32{}} }

// Add adds text as the next document, the first being 0. predecessor is the document that was stored
// before it in the same session, -1 if there is none; it has no other successor.
func (x *Index) Add(text string, predecessor int) {
	doc := int32(len(x.docs))                               //nolint:gosec // fewer than 2^31 memories
	x.links = append(x.links, link{int32(predecessor), -1}) //nolint:gosec // as doc
	if predecessor >= 0 {
		x.links[predecessor].successor = doc
	}
	end, words := headEnd(text)
	d := document{words: int32(words)} //nolint:gosec // a memory has at most a million bytes
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
	l := x.links[doc]
	if l.predecessor >= 0 {
		x.links[l.predecessor].successor = l.successor
	}
	if l.successor >= 0 {
		x.links[l.successor].predecessor = l.predecessor
	}
	x.links[doc], x.docs[doc] = link{-1, -1}, document{}
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
	l := x.links[doc]
	return int(l.predecessor), int(l.successor)
}
