package vector

import (
	"bytes"
	"fmt"
	"slices"
)

// MaxParts is how many parts a text can have.
const MaxParts = 1<<16 - 1

// AppendParts adds the vectors of the parts of the text called id, in order, to the file and to memory, beside its own
// vector. They are all there is: it lacks none then. See Append.
func (s *Set) AppendParts(id string, vectors [][]float32) error {
	if len(vectors) == 0 || len(vectors) > MaxParts {
		return fmt.Errorf("append vectors: %d parts of %s, not 1 to %d", len(vectors), id, MaxParts)
	}
	rows := make([]row, len(vectors))
	for i, v := range vectors {
		rows[i] = row{keyOf(id), i + 1, len(vectors), v}
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

// text is what has parts: the matrix's rows of these, missing for those that are not known.
type text struct {
	key
	rows []int
}

func (t *text) whole() bool { return !slices.Contains(t.rows, missing) }

// place is the matrix's row of a text's own vector (part 0) or of one of its parts, a new one if there is none.
func (s *Set) place(k key, part, of int) int {
	if part == 0 {
		return s.slot(k)
	}
	t, ok := s.parts[k]
	if !ok {
		t = &text{key: k}
		s.parts[k], s.texts = t, append(s.texts, t)
	}
	if len(t.rows) != of { // the first of them, or the text was cut otherwise before
		t.rows = slices.Repeat([]int{missing}, of)
	}
	rows := t.rows
	if rows[part-1] == missing {
		rows[part-1] = s.grow()
	}
	if t.whole() {
		delete(s.lack, k)
	}
	return rows[part-1]
}

// WantParts says that the document called id is long and is to have the vectors of its parts too.
func (s *Set) WantParts(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := keyOf(id)
	s.wanted[k] = struct{}{}
	if t, ok := s.parts[k]; !ok || !t.whole() {
		s.lack[k] = struct{}{}
	}
}

// MissingParts lists the first most documents that want parts and lack some, in order, and counts all of them. Those
// that Missing has are not among them.
func (s *Set) MissingParts(most int) (docs []int, count int) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for k := range s.lack {
		if doc, ok := s.docs[k]; ok && s.rowOf[doc] >= 0 {
			docs = append(docs, doc)
		}
	}
	slices.Sort(docs)
	return docs[:min(most, len(docs))], len(docs)
}
