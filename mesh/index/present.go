package index

import (
	"context"
	"slices"

	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

// present is which rows memory_entries has: of documents by their numbers, because their ids would take 70 bytes each.
type present struct {
	docs      []bool              // by document
	count     int                 // of those in docs
	strangers map[string]struct{} // the ids of rows of no document
}

// readPresent reads the ids of the table.
func (ix *Index) readPresent(ctx context.Context) (*present, error) {
	var p *present
	err := ix.Tables.IDs(ctx, func() func(string) {
		p = &present{strangers: map[string]struct{}{}}
		return func(id string) {
			if doc, ok := ix.c.Doc(id); ok {
				p.add(doc)
			} else {
				p.strangers[id] = struct{}{}
			}
		}
	})
	return p, err
}

func (p *present) has(doc int) bool { return doc < len(p.docs) && p.docs[doc] }

func (p *present) add(doc int) {
	if p.has(doc) {
		return
	}
	if more := doc + 1 - len(p.docs); more > 0 {
		p.docs = slices.Grow(p.docs, more)[:doc+1]
	}
	p.docs[doc] = true
	p.count++
}

func (p *present) remove(doc int) {
	if p.has(doc) {
		p.docs[doc] = false
		p.count--
	}
}

// rows returns the number of rows with different ids.
func (p *present) rows() int { return p.count + len(p.strangers) }

// outdated reports whether a memory with a row was deleted, or one of the strangers was stored: then the ids must be
// read again, because a deleted document has none.
func (p *present) outdated(s *store.Snapshot) bool {
	for doc, has := range p.docs {
		if has && s.Docs[doc].Deleted {
			return true
		}
	}
	for id := range p.strangers {
		if _, ok := s.Doc(id); ok {
			return true
		}
	}
	return false
}
