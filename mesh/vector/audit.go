package vector

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
)

// Audit is what a whole reading of a set's file finds, whichever model it is of.
type Audit struct {
	Model     string // in the file's header; "" without a file. Of a name too long for it, the beginning
	Dimension int
	Rows      int // whole and undamaged, of different ids
	Damaged   int // whose checksum is wrong
	Strangers int // of Rows: those of no document
	Torn      int // bytes of an interrupted write at the end, which the next one overwrites
}

// Audit reads the file of s from its beginning and changes nothing, in memory or on disk.
func (s *Set) Audit() (a Audit, err error) {
	f, err := os.Open(s.path)
	if errors.Is(err, os.ErrNotExist) {
		return a, nil
	}
	if err != nil {
		return a, fmt.Errorf("audit vectors: %w", err)
	}
	defer func() { _ = f.Close() }() // opened for reading
	head := make([]byte, headerSize)
	n, err := io.ReadFull(f, head)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		a.Torn = n
		return a, nil
	}
	if err != nil {
		return a, fmt.Errorf("audit vectors: %w", err)
	}
	a.Model = string(bytes.TrimRight(head[nameAt:], "\x00"))
	a.Dimension = int(binary.LittleEndian.Uint32(head[len(magic):]))
	if version := string(head[:len(magic)]); version != magic && version != magic1 || a.Dimension <= 0 || a.Dimension > maxDimension {
		return a, errors.New("audit vectors: the file is no vectors' file")
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	seen := map[key]bool{}
	row := make([]byte, rowHead+4*a.Dimension)
	for {
		n, err := io.ReadFull(f, row)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			a.Torn = n
			a.Rows = len(seen)
			return a, nil
		}
		if err != nil {
			return a, fmt.Errorf("audit vectors: %w", err)
		}
		k := key(row[:keySize])
		if binary.LittleEndian.Uint32(row[keySize:]) != crc32.Checksum(row[rowHead:], castagnoli) {
			a.Damaged++
			continue
		}
		if _, known := s.docs[k]; !known && !seen[k] {
			a.Strangers++
		}
		seen[k] = true
	}
}

// maxDimension is more than any model has.
const maxDimension = 1 << 16

// Of reports whether a file with this audit holds vectors of the model, or nothing at all.
func (a Audit) Of(model string, dim int) bool {
	return a.Model == "" || a.Model == fitted(model) && a.Dimension == dim
}
