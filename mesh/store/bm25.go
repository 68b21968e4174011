package store

import (
	"sync"

	"github.com/yamo-protocol/yamo-mcp/mesh/keyword"
)

// bm25 is the keyword index of RFC-0011 §5.1. It is built when it is first needed, because the default ranking does
// not use it, and then follows the projection.
type bm25 struct {
	mu      sync.Mutex
	index   *keyword.BM25
	texts   []string // that are in index, by document; "" once removed
	removed []bool   // by document
}

// BM25 locks the keyword index of RFC-0011 §5.1 and updates it to the snapshot. Its documents have the numbers of
// Snapshot.Docs. The caller calls release, before it releases the snapshot.
func (s *Snapshot) BM25() (index *keyword.BM25, release func()) {
	x := &s.p.bm25
	x.mu.Lock()
	x.follow(s)
	return x.index, x.mu.Unlock
}

// follow applies what has changed since the last call. Deletions are found by comparing, not by a list of them: the
// index may not exist yet when a memory is deleted. x.mu is held.
func (x *bm25) follow(s *Snapshot) {
	if x.index == nil {
		x.index = keyword.NewBM25()
	}
	for doc, text := range x.texts {
		if s.Docs[doc].Deleted && !x.removed[doc] {
			x.index.Remove(doc, text)
			x.texts[doc], x.removed[doc] = "", true
		}
	}
	for doc := len(x.texts); doc < len(s.Docs); doc++ {
		text, deleted := s.Content(doc), s.Docs[doc].Deleted
		x.index.Add(text)
		if deleted {
			x.index.Remove(doc, "") // before it was seen here
		}
		x.texts, x.removed = append(x.texts, text), append(x.removed, deleted)
	}
}
