// Package vector keeps the embeddings of one compartment in one matrix. It computes the cosines of all memories in one
// pass, and loads the matrix from its file in milliseconds. From 65,536 vectors on the matrix in memory has four bits
// for a number, and what is nearest is compared exactly, with the file.
//
// LanceDB stores the same vectors durably, but lancedb-go can only return them as JSON text (measured:
// 0.15 to 0.5 ms per row), its approximate indexes miss neighbours, and the ranking needs the cosines of
// all memories and of their neighbours, not only of the nearest few (docs/adr/0004). So the vectors are
// kept here too, and LanceDB's table is filled and compacted from here.
//
// Invariant: the file is a cache. A row that is torn, damaged or of another model is never returned; a
// missing row is embedded again.
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

// key identifies a memory in the file, where all rows have the same length.
type key [keySize]byte

// keyOf returns the key of a document's ID: a hash, so that all keys have one length in the file.
func keyOf(id string) key {
	sum := sha256.Sum256([]byte(id))
	return key(sum[:keySize])
}

// Values of rowOf for a document without a row.
const (
	missing   = -1 // its vector is not known
	untracked = -2 // it is not a document any more
)

// Set is the vectors of one compartment. Its methods are safe for concurrent use. Append, AppendParts, Prune
// and Clear must be called by one process at a time (the holder of the compartment's index lock).
type Set struct {
	path, model string
	dim         int

	mu         sync.RWMutex
	docs       documents
	rowOf      []int32          // by document: its row in matrix, or missing or untracked
	orphans    map[key]int32    // the rows of keys without a document
	matrix     matrix           // row i is the i-th of the file
	parts      map[key]*text    // the texts with parts
	texts      []*text          // the same, in order of appearance, for searches to iterate over
	wanted     map[key]struct{} // the documents that need parts
	incomplete map[key]struct{} // those of wanted whose parts are not all known
	head       []byte           // the header of the file that was read, nil if none was
	other      []byte           // the header of the file if it has vectors of another model, see load
	offset     int64            // how much of the file is in memory
	epoch      int              // see Epoch
}

// Open returns the set at path, whose vectors have dim components and were made by model. It opens no
// file; Refresh reads it, and it need not exist.
func Open(path, model string, dim int) *Set {
	return &Set{
		path: path, model: model, dim: dim, matrix: newMatrix(dim),
		docs: newDocuments(0), orphans: map[key]int32{}, parts: map[key]*text{},
		wanted: map[key]struct{}{}, incomplete: map[key]struct{}{},
	}
}

// Track makes id the next document. Documents are numbered from 0 in the order of the calls.
func (s *Set) Track(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, at := keyOf(id), int32(missing)
	if row, ok := s.orphans[k]; ok {
		at = row
		delete(s.orphans, k)
	} else if doc, ok := s.docs.find(k); ok {
		at = s.rowOf[doc] // two documents with one id
	}
	s.docs.set(k, len(s.rowOf))
	s.rowOf = append(s.rowOf, at)
}

// TrackAll is Track for many ids, on all cores.
func (s *Set) TrackAll(ids []string) {
	s.mu.Lock()
	idle := len(s.rowOf) == 0 && len(s.orphans) == 0
	if idle {
		s.docs, s.rowOf = documentsOf(ids), slices.Repeat([]int32{missing}, len(ids))
	}
	s.mu.Unlock()
	if !idle {
		for _, id := range ids {
			s.Track(id)
		}
	}
}

// Untrack removes the document doc, which is called id: its cosine is NaN and Missing does not return it.
// Its vector stays in the file until Prune.
func (s *Set) Untrack(doc int, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	row := s.rowOf[doc]
	s.rowOf[doc] = untracked
	k := keyOf(id)
	if known, ok := s.docs.find(k); !ok || known != doc {
		return
	}
	s.docs.remove(k)
	delete(s.wanted, k)
	delete(s.incomplete, k)
	if row >= 0 {
		s.orphans[k] = row
	}
}

// Refresh reads the rows that any process has appended since the last call, or the whole file if it was
// replaced. A file of another model or dimension counts as none, which the next Append or Prune replaces.
func (s *Set) Refresh() error {
	f, head, size, err := s.open()
	if err != nil {
		return err
	}
	if f != nil {
		defer func() { _ = f.Close() }() // opened for reading
	}
	s.mu.RLock()
	unchanged := bytes.Equal(head, s.head) && (f == nil || size >= s.offset && size-s.offset < int64(s.rowSize())) ||
		s.other != nil && bytes.Equal(head, s.other)
	s.mu.RUnlock()
	if unchanged { // the usual case, which does not block searches
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.load()
}

// Epoch returns how often all vectors had to be read again because the file was removed, replaced or truncated.
func (s *Set) Epoch() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.epoch
}

// OfAnotherModel reports whether the file has the vectors of another model still, because none was made with this one.
func (s *Set) OfAnotherModel() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.other != nil
}

// reset drops all vectors from memory.
func (s *Set) reset() {
	s.orphans, s.parts, s.texts, s.head, s.offset = map[key]int32{}, map[key]*text{}, nil, nil, 0
	s.matrix = matrix{dim: s.dim, limit: s.matrix.limit}
	s.other = nil
	s.epoch++
	s.incomplete = maps.Clone(s.wanted)
	for doc, at := range s.rowOf {
		if at != untracked {
			s.rowOf[doc] = missing
		}
	}
}

// Append adds the vectors of ids to the file and to memory. Vectors must have unit length and the set's
// dimension. The file is not fsynced, because it is a cache.
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

// Prune removes all vectors without a document from memory and from the file, which is replaced. It does
// nothing if there are none. Before the call every ID that any process has appended a vector for must have
// been tracked, or its vector is lost.
func (s *Set) Prune() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.load(); err != nil {
		return err
	}
	stale := len(s.orphans) > 0
	for k := range s.parts {
		if _, ok := s.docs.find(k); !ok {
			stale = true
		}
	}
	// The vectors of another model may be of deleted memories too.
	if !stale && s.other == nil {
		return nil
	}
	return s.rewrite()
}

// Clear removes all vectors, in memory and on disk, even those of another model.
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

// Missing returns the first documents, up to n, whose vectors are not known, in order, and the number of all such
// documents.
func (s *Set) Missing(n int) (docs []int, count int) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for doc, at := range s.rowOf {
		if at == missing {
			if count++; count <= n {
				docs = append(docs, doc)
			}
		}
	}
	return docs, count
}

// Vector returns a copy of the vector of document doc, nil if it is not known or its file was just replaced.
func (s *Set) Vector(doc int) []float32 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	at := s.rowOf[doc]
	if at < 0 {
		return nil
	}
	if !s.matrix.compact() {
		return slices.Clone(s.matrix.exact(int(at)))
	}
	f := s.reader()
	defer f.close()
	v := make([]float32, s.dim)
	if !f.read(int(at), make([]byte, s.rowSize()), v) {
		return nil
	}
	return v
}
