package vector

import (
	"bytes"
	"fmt"
	"slices"
)

// MaxParts is the maximum number of parts of a text.
const MaxParts = 1<<16 - 1

// AppendParts adds the vectors of some of the n parts of the text called id, those from index first on, to the file and
// to memory. Its own vector stays. See Append for the requirements and errors.
func (s *Set) AppendParts(id string, first, n int, vectors [][]float32) error {
	if len(vectors) == 0 || first < 0 || first+len(vectors) > n || n > MaxParts {
		return fmt.Errorf("append vectors: %s has parts %d to %d of %d; must be 1 to %d", id, first+1, first+len(vectors), n,
			MaxParts)
	}
	rows := make([]row, len(vectors))
	for i, v := range vectors {
		rows[i] = row{keyOf(id), first + i + 1, n, v}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.load(); err != nil {
		return err
	}
	if bytes.HasPrefix(s.head, []byte(magic1)) {
		if err := s.rewrite(); err != nil {
			return err
		}
	}
	return s.append(rows)
}

// text is a text with parts: the rows of its parts in the matrix, or missing.
type text struct {
	key
	rows []int32
}

// complete reports whether the vectors of all parts are known.
func (t *text) complete() bool { return !slices.Contains(t.rows, missing) }

// place notes that the vector of a text (part 0), or of one of its parts, is in row at of the matrix.
func (s *Set) place(k key, part, parts int, at int32) {
	if part == 0 {
		if doc, ok := s.docs.find(k); ok {
			s.rowOf[doc] = at
		} else {
			s.orphans[k] = at
		}
		return
	}
	t, ok := s.parts[k]
	if !ok {
		t = &text{key: k}
		s.parts[k], s.texts = t, append(s.texts, t)
	}
	if len(t.rows) != parts { // the first one, or the text was split differently before
		t.rows = slices.Repeat([]int32{missing}, parts)
	}
	t.rows[part-1] = at
	if t.complete() {
		delete(s.incomplete, k)
	}
}

// WantParts marks the document called id as long: it needs the vectors of its parts too.
func (s *Set) WantParts(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := keyOf(id)
	s.wanted[k] = struct{}{}
	if t, ok := s.parts[k]; !ok || !t.complete() {
		s.incomplete[k] = struct{}{}
	}
}

// MissingParts returns the first documents, up to n, that have their own vector but need parts (see WantParts) that
// are not known, in order, and the number of all such documents.
func (s *Set) MissingParts(n int) (docs []int, count int) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for k := range s.incomplete {
		if doc, ok := s.docs.find(k); ok && s.rowOf[doc] >= 0 {
			docs = append(docs, doc)
		}
	}
	slices.Sort(docs)
	return docs[:min(n, len(docs))], len(docs)
}

// NextPart returns the index of the first of the n parts of the text called id whose vector is not known, n if all are.
func (s *Set) NextPart(id string, n int) int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	t, ok := s.parts[keyOf(id)]
	if !ok || len(t.rows) != n { // it was split differently before
		return 0
	}
	if at := slices.Index(t.rows, missing); at >= 0 {
		return at
	}
	return n
}
