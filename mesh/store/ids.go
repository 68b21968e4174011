package store

import (
	"hash/maphash"
	"math/bits"
)

// ids finds documents by their ids: a hash table with open addressing, in 16 bytes a memory where a map of strings
// takes 52. It has no ids itself: they are in the held documents, which its methods are given.
type ids struct {
	slots []idSlot // a power of two of them, at most two thirds of which are used
	used  int      // slots that have been used since the table was made
}

// idSlot is a place for a document. One whose id has the hash h is in the first slot from h on that was free.
type idSlot struct {
	mark uint32 // the upper half of the hash, so that other ids need hardly ever be looked at
	doc  int32  // its number + 1, noDoc or goneDoc
}

const (
	noDoc   = 0  // the slot was never used
	goneDoc = -1 // what was in the slot was removed
)

var idSeed = maphash.MakeSeed()

// newIDs returns a table for n documents.
func newIDs(n int) ids {
	return ids{slots: make([]idSlot, 1<<bits.Len64(uint64(max(8, n+n/2))))}
}

// slot returns the place of id, which has the hash h: the one where it is, else the first free one.
func (t *ids) slot(id string, h uint64, held []held) *idSlot {
	last := uint64(len(t.slots) - 1) //nolint:gosec // not negative
	for at := h; ; at++ {
		s := &t.slots[at&last]
		if s.doc == noDoc || s.doc != goneDoc && s.mark == uint32(h>>32) && held[s.doc-1].id == id {
			return s
		}
	}
}

// find returns the document that was put last with an id.
func (t *ids) find(id string, held []held) (doc int, ok bool) {
	s := t.slot(id, maphash.String(idSeed, id), held)
	return int(s.doc) - 1, s.doc != noDoc
}

// put makes doc, which is in held, the document that is found by its id.
func (t *ids) put(doc int, held []held) {
	if t.used >= len(t.slots)/3*2 {
		t.grow(held)
	}
	h := maphash.String(idSeed, held[doc].id)
	s := t.slot(held[doc].id, h, held)
	if s.doc == noDoc {
		t.used++
	}
	s.mark, s.doc = uint32(h>>32), int32(doc)+1 //nolint:gosec // fewer than 2^31 memories
}

// grow makes a table with place for more, without what was removed.
func (t *ids) grow(held []held) {
	old, n := t.slots, 0
	for _, s := range old {
		if s.doc > 0 {
			n++
		}
	}
	*t = newIDs(n + n/4)
	for _, s := range old {
		if s.doc > 0 {
			t.put(int(s.doc)-1, held)
		}
	}
}

// remove undoes put. The document is still in held.
func (t *ids) remove(id string, held []held) {
	if s := t.slot(id, maphash.String(idSeed, id), held); s.doc != noDoc {
		s.doc = goneDoc
	}
}
