package vector

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"slices"
	"sync"

	"github.com/yamo-protocol/yamo-mcp/internal/atomicfile"
	"github.com/yamo-protocol/yamo-mcp/internal/parallel"
)

// loadBatch is the number of rows that are read at a time: so few that they stay in the cache of a core.
const loadBatch = 64

// rowLabel is what a row of the file has besides its vector.
type rowLabel struct {
	key
	part, parts uint16
	ok          bool // its checksum and part numbers are right: a power failure can leave zeros
}

// label reads the beginning of a row and checks it.
func label(row []byte) rowLabel {
	l := rowLabel{
		key: key(row[:keySize]), part: binary.LittleEndian.Uint16(row[keySize+4:]),
		parts: binary.LittleEndian.Uint16(row[keySize+6:]),
	}
	l.ok = binary.LittleEndian.Uint32(row[keySize:]) == crc32.Checksum(row[rowHead:], castagnoli) &&
		l.part <= l.parts && (l.part > 0 || l.parts == 0)
	return l
}

// decode reads a vector from the part of a row that has it.
func decode(body []byte, vector []float32) {
	for j := range vector {
		vector[j] = math.Float32frombits(binary.LittleEndian.Uint32(body[4*j : 4*j+4]))
	}
}

// read loads the rows of f between s.offset and size, on all cores.
func (s *Set) read(f *os.File, size int64) error {
	n := int((size - s.offset) / int64(s.rowSize()))
	if n <= 0 {
		return nil
	}
	first := s.matrix.extend(n)
	labels := make([]rowLabel, n)
	var failed error
	var once sync.Once
	batch := loadBatch * s.rowSize() // a variable, because a pool with s would keep s in memory for a while
	buffers := sync.Pool{New: func() any { b := make([]byte, batch); return &b }}
	parallel.Ranges(n, loadBatch, func(from, to int) {
		pooled, v := buffers.Get().(*[]byte), make([]float32, s.dim)
		defer buffers.Put(pooled)
		buf := (*pooled)[:(to-from)*s.rowSize()]
		if _, err := f.ReadAt(buf, s.offset+int64(from)*int64(s.rowSize())); err != nil {
			once.Do(func() { failed = err })
			return
		}
		for i := from; i < to; i++ {
			row := buf[(i-from)*s.rowSize():][:s.rowSize()]
			if labels[i] = label(row); labels[i].ok {
				s.matrix.set(first+i, numbers(row[rowHead:], v))
			}
		}
	})
	if failed != nil {
		s.matrix.truncate(first)
		return fmt.Errorf("read vectors: %w", failed)
	}
	s.placeAll(labels, first)
	s.offset += int64(n) * int64(s.rowSize())
	return nil
}

// placeAll is place for rows from number first on. Of two rows with one key the later counts.
func (s *Set) placeAll(labels []rowLabel, first int) {
	const many = 4096
	if len(labels) >= many {
		s.docs.each(func(shard int) {
			docs := s.docs[shard]
			for i := range labels {
				l := &labels[i]
				if l.shard() != shard || !l.ok || l.part > 0 { // the others' ok is not for this goroutine to read
					continue
				}
				if doc, ok := docs[l.key]; ok {
					s.rowOf[doc] = int32(first + i) //nolint:gosec // fewer than 2^31 rows
					l.ok = false                    // done
				}
			}
		})
	}
	for i, l := range labels {
		if l.ok {
			s.place(l.key, int(l.part), int(l.parts), int32(first+i)) //nolint:gosec // fewer than 2^31 rows
		}
	}
}

// rows reads exact vectors from the file. It is opened for a search and closed after it: an open file that another
// process has replaced would keep the vectors of deleted memories on the disk.
type rows struct {
	file *os.File // nil if it is not the one that was loaded any more
}

// reader opens the file that was loaded. s.mu is held.
func (s *Set) reader() rows {
	f, head, _, err := s.open()
	if err != nil || f == nil {
		return rows{}
	}
	if !bytes.Equal(head, s.head) {
		_ = f.Close() // opened for reading
		return rows{}
	}
	return rows{f}
}

func (r rows) close() {
	if r.file != nil {
		_ = r.file.Close() // opened for reading
	}
}

// read reads the vector of row at. It reports whether it could be read undamaged. row is memory for a row of the file.
func (r rows) read(at int, row []byte, vector []float32) bool {
	if r.file == nil {
		return false
	}
	if _, err := r.file.ReadAt(row, headerSize+int64(at)*int64(len(row))); err != nil || !label(row).ok {
		return false
	}
	decode(row[rowHead:], vector)
	return true
}

// rewrite replaces the file with one that has only the vectors of documents, and drops the others from memory. load
// must have been called.
func (s *Set) rewrite() error {
	old, _, _, err := s.open()
	if err != nil {
		return err
	}
	if old != nil {
		defer func() { _ = old.Close() }() // opened for reading
	}
	// SECURITY: what a process that was killed here left may have vectors of what is deleted now.
	if err := atomicfile.RemoveParts(s.path); err != nil {
		return fmt.Errorf("replace vectors: %w", err)
	}
	head, kept := s.newHeader(), int32(0)
	moved := make([]int32, s.matrix.rows) // where each row is afterwards, or missing
	err = atomicfile.WriteCacheFrom(s.path, func(w io.Writer) error {
		if _, err := w.Write(head); err != nil || s.head == nil || old == nil {
			return err // there is none, or it is of another model
		}
		buf := make([]byte, loadBatch*s.rowSize())
		for at := 0; at < s.matrix.rows; at += loadBatch {
			part := buf[:min(loadBatch, s.matrix.rows-at)*s.rowSize()]
			if _, err := old.ReadAt(part, headerSize+int64(at)*int64(s.rowSize())); err != nil {
				return err
			}
			for i := at; len(part) > 0; i, part = i+1, part[s.rowSize():] {
				if moved[i] = missing; !s.current(label(part[:s.rowSize()]), int32(i)) {
					continue
				}
				if _, err := w.Write(part[:s.rowSize()]); err != nil {
					return err
				}
				moved[i] = kept
				kept++
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("replace vectors: %w", err)
	}
	s.relocate(moved)
	s.matrix.truncate(int(kept))
	s.head, s.offset, s.other = head, headerSize+int64(kept)*int64(s.rowSize()), nil
	return nil
}

// relocate moves each row to its new place, which is never behind its old one.
func (s *Set) relocate(moved []int32) {
	for from, to := range moved {
		if to >= 0 {
			s.matrix.move(int(to), from)
		}
	}
	for doc, at := range s.rowOf {
		if at >= 0 {
			s.rowOf[doc] = moved[at]
		}
	}
	clear(s.orphans)
	s.texts = slices.DeleteFunc(s.texts, func(t *text) bool {
		for i, at := range t.rows {
			if at >= 0 {
				t.rows[i] = moved[at]
			}
		}
		_, ok := s.docs.find(t.key)
		if !ok {
			delete(s.parts, t.key)
		} else if _, wanted := s.wanted[t.key]; wanted && !t.complete() {
			s.incomplete[t.key] = struct{}{}
		}
		return !ok
	})
}

// current reports whether row at of the file, with label l, is the vector of a document or of a part of one.
func (s *Set) current(l rowLabel, at int32) bool {
	doc, ok := s.docs.find(l.key)
	if !l.ok || !ok {
		return false
	}
	if l.part == 0 {
		return s.rowOf[doc] == at
	}
	t := s.parts[l.key]
	return t != nil && len(t.rows) == int(l.parts) && t.rows[l.part-1] == at
}
