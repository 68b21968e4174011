package store

import (
	"sync"

	"github.com/yamo-protocol/yamo-mcp/mesh/keyword"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// bm25 is the keyword index of RFC-0011 §5.1. It is built when it is first needed, because the default ranking does
// not use it, and then follows the projection.
type bm25 struct {
	mu      sync.Mutex
	index   *keyword.BM25
	records []*record.Record // that are in index, by document; nil once removed
}

// BM25 locks the keyword index of RFC-0011 §5.1 and updates it to the snapshot. Its documents have the numbers of
// Snapshot.Docs. The caller calls release, before it releases the snapshot.
func (s *Snapshot) BM25() (index *keyword.BM25, release func()) {
	x := &s.p.bm25
	x.mu.Lock()
	x.follow(s.Docs)
	return x.index, x.mu.Unlock
}

// follow applies what has changed since the last call. Deletions are found by comparing, not by a list of them: the
// index may not exist yet when a memory is deleted. x.mu is held.
func (x *bm25) follow(docs []Document) {
	if x.index == nil {
		x.index = keyword.NewBM25()
	}
	for doc, r := range x.records {
		if r != nil && docs[doc].Record == nil {
			x.index.Remove(doc, r.Content)
			x.records[doc] = nil
		}
	}
	for doc := len(x.records); doc < len(docs); doc++ {
		r, text := docs[doc].Record, ""
		if r != nil {
			text = r.Content
		}
		x.index.Add(text)
		if r == nil {
			x.index.Remove(doc, "") // it was deleted before it was seen here
		}
		x.records = append(x.records, r)
	}
}
