package store

import (
	"iter"
	"slices"
	"sync"

	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// words finds documents by what identifies their words. Only those who write memories ask for that, and the maps take
// long to make for many documents: so they are made when somebody asks. Its methods may run concurrently, if none of
// them is add or remove.
type words struct {
	mu     sync.Mutex                // for readers that make the maps at the same time
	later  []wordsOf                 // in the order of add, not in the maps yet
	first  map[record.WordsKey]int   // the first document with these words, nil if the maps are not made yet
	others map[record.WordsKey][]int // the others, where there are any
}

// wordsOf is a document and its words.
type wordsOf struct {
	key record.WordsKey
	doc int32
}

// add notes the words of doc, whose key is given.
func (w *words) add(doc int, key record.WordsKey) {
	if w.first == nil {
		w.later = append(w.later, wordsOf{key, int32(doc)}) //nolint:gosec // fewer than 2^31 memories
		return
	}
	w.put(doc, key)
}

// put is add to the maps.
func (w *words) put(doc int, key record.WordsKey) {
	if _, taken := w.first[key]; taken {
		w.others[key] = append(w.others[key], doc)
	} else {
		w.first[key] = doc
	}
}

// ready makes the maps, once.
func (w *words) ready() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.first != nil {
		return
	}
	w.first, w.others = make(map[record.WordsKey]int, len(w.later)), map[record.WordsKey][]int{}
	for _, l := range w.later {
		w.put(int(l.doc), l.key)
	}
	w.later = nil
}

// remove undoes add.
func (w *words) remove(doc int, key record.WordsKey) {
	w.ready()
	others := w.others[key]
	if w.first[key] == doc {
		if len(others) == 0 {
			delete(w.first, key)
			return
		}
		w.first[key], others = others[0], others[1:]
	} else if at := slices.Index(others, doc); at >= 0 {
		others = slices.Delete(others, at, at+1)
	}
	if w.others[key] = others; len(others) == 0 {
		delete(w.others, key)
	}
}

// find yields the documents whose words have the key, the first stored first.
func (w *words) find(key record.WordsKey) iter.Seq[int] {
	return func(yield func(int) bool) {
		w.ready()
		doc, ok := w.first[key]
		if !ok || !yield(doc) {
			return
		}
		for _, doc := range w.others[key] {
			if !yield(doc) {
				return
			}
		}
	}
}

// keys returns the words of each of n documents, the zero value for those that have none here.
func (w *words) keys(n int) []record.WordsKey {
	keys := make([]record.WordsKey, n)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range w.later {
		keys[l.doc] = l.key
	}
	for key, doc := range w.first {
		keys[doc] = key
		for _, other := range w.others[key] {
			keys[other] = key
		}
	}
	return keys
}
