package keyword

import (
	"encoding/binary"
	"iter"
	"math"
	"slices"
	"strings"
)

// The constants of the word signals. They are round numbers that were not fitted to a test set.
const (
	headWords   = 60 // words at the beginning of a text, which show what it is about
	saturation  = .9 // BM25's k1: how soon further mentions of a term stop counting
	echoWeight  = .5 // of a term that is also in the head of the document's predecessor
	tailWeight  = .1 // of a term that is only behind the head
	contextSize = 2  // predecessors that form a document's context
)

// Index is the inverted index of the context ranking (docs/adr/0005): which documents contain a stem, and
// which documents are neighbours in a session. It is not safe for concurrent use, except that its readers
// (every method but Add and Remove) may run concurrently.
type Index struct {
	terms    map[string]int32   // stem -> its number
	words    map[string]int32   // word -> its stem's number: a cache, because stemming would dominate the time of Add
	postings [][]posting        // by the stem's number, ascending by document
	many     map[place]mentions // what has no place in a posting
	links    []link             // by document; not in docs because Match reads only these
	docs     []document
	heads    [][]byte           // the stems of heads as varints, in order, each of the lists for headBlock documents
	labels   map[string][]int32 // stem -> the documents with a label that contains it, ascending
	live     int                // documents that were not removed
}

// link holds a document's neighbours in its session, -1 for none. A predecessor always has the lower number.
type link struct{ predecessor, successor int32 }

// document is what the index knows of a document besides its postings.
type document struct {
	words int32  // number of words, separated by white space; gone if it was removed
	from  uint32 // where its head begins in the list of heads
	size  int32  // number of bytes of its head
}

// gone is the number of words of a document that was removed.
const gone = -1

// headBlock is the number of documents whose heads are in one list: few enough that the list can grow.
const headBlock = 4096

// head yields the stems of the head of a document, in order.
func (x *Index) head(doc int32) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		d := &x.docs[doc]
		r := imageReader{image: x.heads[doc/headBlock][d.from:][:d.size]}
		for r.at < len(r.image) {
			if !yield(int32(r.number())) { //nolint:gosec // it was one
				return
			}
		}
	}
}

// New returns an empty index.
func New() *Index {
	return &Index{terms: map[string]int32{}, words: map[string]int32{}, many: map[place]mentions{}}
}

// Add adds text as the next document. Documents are numbered from 0. predecessor is the document that was
// stored before it in the same session, -1 if it has none; it must not have another successor.
func (x *Index) Add(text string, predecessor int) {
	doc := int32(len(x.docs))                               //nolint:gosec // fewer than 2^31 memories
	x.links = append(x.links, link{int32(predecessor), -1}) //nolint:gosec // as doc
	if predecessor >= 0 {
		x.links[predecessor].successor = doc
	}
	end, words := headEnd(text)
	if len(x.docs)%headBlock == 0 {
		x.heads = append(x.heads, nil)
	}
	heads := &x.heads[len(x.heads)-1]
	d := document{words: int32(words), from: uint32(len(*heads))} //nolint:gosec // a memory has at most a million bytes
	eachWord(text[:end], func(w string) {
		t := x.term(w)
		*heads = binary.AppendUvarint(*heads, uint64(t)) //nolint:gosec // not negative
		x.mention(t, doc, true)
	})
	d.size = int32(len(*heads)) - int32(d.from) //nolint:gosec // as above
	eachWord(text[end:], func(w string) { x.mention(x.term(w), doc, false) })
	x.docs = append(x.docs, d)
	x.live++
}

// Remove removes a document. text must be what was added, and a document must be removed only once. Its
// neighbours become each other's neighbours. The numbers of the other documents do not change.
func (x *Index) Remove(doc int, text string) {
	number := int32(doc) //nolint:gosec // fewer than 2^31 memories
	seen := map[int32]bool{}
	eachWord(text, func(w string) {
		t, ok := x.words[w]
		if !ok { // the index was restored
			t, ok = x.terms[stem(w)]
		}
		if !ok || seen[t] {
			return
		}
		seen[t] = true
		if at, ok := slices.BinarySearchFunc(x.postings[t], number, compareDoc); ok {
			x.postings[t] = slices.Delete(x.postings[t], at, at+1)
			delete(x.many, place{t, number})
		}
	})
	l := x.links[doc]
	if l.predecessor >= 0 {
		x.links[l.predecessor].successor = l.successor
	}
	if l.successor >= 0 {
		x.links[l.successor].predecessor = l.predecessor
	}
	x.links[doc], x.docs[doc] = link{-1, -1}, document{words: gone}
	x.live--
}

// bump increments n, without overflow.
func bump(n uint16) uint16 {
	if n == math.MaxUint16 {
		return n
	}
	return n + 1
}

// headEnd returns the byte offset at which the head of text ends, and the number of words of the whole text.
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

// term returns the number of a word's stem and assigns one to a new stem.
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
	x.words[strings.Clone(word)] = t // cloned, or the map would keep the whole text in memory
	return t
}

// Len returns the number of documents, including removed ones: one more than the highest number.
func (x *Index) Len() int { return len(x.docs) }

// Words returns a document's length in words, 0 if it was removed.
func (x *Index) Words(doc int) int { return max(0, int(x.docs[doc].words)) }

// Neighbours returns the documents before and after doc in its session, -1 for none.
func (x *Index) Neighbours(doc int) (predecessor, successor int) {
	l := x.links[doc]
	return int(l.predecessor), int(l.successor)
}
