// Package vector keeps the embeddings of one compartment in one flat float32 matrix: exact cosines
// for every memory in one pass, and a file that gives them back in milliseconds.
//
// LanceDB holds the same vectors durably, but lancedb-go can only return them as JSON text (measured:
// 0.15 to 0.5 ms a row), its approximate indexes lose neighbours, and the ranking needs the cosines of
// all memories and of their neighbours, not of the nearest few (docs/adr/0004). So the vectors are kept
// here too, and LanceDB's table is filled and compacted from here.
//
// The invariant: the file is a cache. A row that is torn, damaged or of another model is never
// returned; a missing row is embedded again.
package vector

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
)

// ErrModel means that the file holds vectors of another model.
var ErrModel = errors.New("the vectors were made by another embedding model; run `yamo-mcp index rebuild`")

type key [keySize]byte

func keyOf(id string) key {
	sum := sha256.Sum256([]byte(id))
	return key(sum[:keySize])
}

// What rowOf says of a document without a row.
const (
	missing   = -1 // its vector is not known
	untracked = -2 // it is no document any more
)

// Set is the vectors of one compartment. Its methods are safe for concurrent use; Append, Prune and
// Clear must be called by one process at a time (the holder of the compartment's index lock).
type Set struct {
	path, model string
	dim         int

	mu     sync.RWMutex
	docs   map[key]int // the documents, by number
	rowOf  []int       // document -> its row in matrix, or missing or untracked
	rows   map[key]int
	matrix []float32        // one row of dim numbers for each vector; those of forgotten keys are zero
	parts  map[key]*text    // those with parts
	texts  []*text          // the same, as they came: searches go through them
	wanted map[key]struct{} // the documents that are to have parts
	lack   map[key]struct{} // those of wanted whose parts are not all known
	head   []byte           // the header of the file that was read, nil if none was
	offset int64            // how much of it is in matrix
	epoch  int              // see Epoch
}

// Open returns the set at path, whose vectors have dim components and were made by model. It touches
// nothing; Refresh reads the file, which need not exist.
func Open(path, model string, dim int) *Set {
	return &Set{path: path, model: model, dim: dim, docs: map[key]int{}, rows: map[key]int{}, parts: map[key]*text{}, wanted: map[key]struct{}{}, lack: map[key]struct{}{}}
}

// Track makes id the next document: the first call names document 0, the next 1, and so on. Cosines
// answers in this order.
func (s *Set) Track(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, at := keyOf(id), missing
	if row, ok := s.rows[k]; ok {
		at = row
	}
	s.docs[k] = len(s.rowOf)
	s.rowOf = append(s.rowOf, at)
}

// Untrack makes doc, which is called id, no document any more: its cosine is NaN and it is not missing.
// Its vector stays in the file until Prune.
func (s *Set) Untrack(doc int, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rowOf[doc] = untracked
	if k := keyOf(id); s.docs[k] == doc {
		delete(s.docs, k)
		delete(s.wanted, k)
		delete(s.lack, k)
	}
}

// Refresh takes in the rows that any process has appended since the last call, or the whole file if it
// was replaced. It returns ErrModel if the file is of another model or dimension.
func (s *Set) Refresh() error {
	f, head, size, err := s.open()
	if err != nil {
		return err
	}
	if f != nil {
		defer func() { _ = f.Close() }() // opened for reading
	}
	s.mu.RLock()
	unchanged := bytes.Equal(head, s.head) && (f == nil || size >= s.offset && size-s.offset < int64(s.rowSize()))
	s.mu.RUnlock()
	if unchanged {
		return nil
	}
	return s.refresh()
}

// refresh is the slow way of Refresh.
func (s *Set) refresh() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.load()
}

// Epoch counts how often the vectors were read anew because the file was gone, replaced or cut.
func (s *Set) Epoch() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.epoch
}

func (s *Set) reset() {
	s.rows, s.parts, s.texts, s.matrix, s.head, s.offset = map[key]int{}, map[key]*text{}, nil, nil, nil, 0
	s.epoch++
	s.lack = maps.Clone(s.wanted)
	for doc, at := range s.rowOf {
		if at != untracked {
			s.rowOf[doc] = missing
		}
	}
}

// slot is the row of k, a new one if it has none.
func (s *Set) slot(k key) int {
	at, ok := s.rows[k]
	if !ok {
		at = s.grow()
		s.rows[k] = at
		if doc, ok := s.docs[k]; ok {
			s.rowOf[doc] = at
		}
	}
	return at
}

// grow adds a row to the matrix.
func (s *Set) grow() int {
	s.matrix = append(s.matrix, make([]float32, s.dim)...)
	return len(s.matrix)/s.dim - 1
}

// Append adds the vectors of ids, unit length and s's dimension each, to the file and to memory. The
// file is not synced: it is a cache.
func (s *Set) Append(ids []string, vectors [][]float32) error {
	rows := make([]row, len(ids))
	for i, id := range ids {
		rows[i] = row{key: keyOf(id), vector: vectors[i]}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.load(); err != nil {
		return err
	}
	return s.append(rows)
}

// Prune takes the vectors of everything that is not a document out of memory and out of the file, which
// is replaced by one without them. Every id that any process has appended a vector for must be tracked,
// or have been. Without such vectors it does nothing.
func (s *Set) Prune() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.load(); err != nil {
		return err
	}
	known := 0
	for _, at := range s.rowOf {
		if at >= 0 {
			known++
		}
	}
	for k := range s.parts {
		if _, ok := s.docs[k]; !ok {
			known = -1
		}
	}
	if known == len(s.rows) {
		return nil
	}
	return s.rewrite()
}

// vector is a row of the matrix.
func (s *Set) vector(at int) []float32 { return s.matrix[at*s.dim : (at+1)*s.dim] }

// Clear forgets every vector, in memory and on disk, also those of another model.
func (s *Set) Clear() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reset()
	if err := os.Remove(s.path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("clear vectors: %w", err)
	}
	return nil
}

// Has reports whether the vector of document doc is known.
func (s *Set) Has(doc int) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.rowOf[doc] >= 0
}

// Missing lists the first most documents whose vectors are not known, in order, and counts all of them.
func (s *Set) Missing(most int) (docs []int, count int) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for doc, at := range s.rowOf {
		if at == missing {
			if count++; count <= most {
				docs = append(docs, doc)
			}
		}
	}
	return docs, count
}

// Vector is a copy of the vector of document doc, nil if it is not known.
func (s *Set) Vector(doc int) []float32 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	at := s.rowOf[doc]
	if at < 0 {
		return nil
	}
	return slices.Clone(s.vector(at))
}
