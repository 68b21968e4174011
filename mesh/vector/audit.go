package vector

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/yamo-protocol/yamo-mcp/internal/atomicfile"
)

// Audit is the result of reading a set's whole file, whatever model it belongs to.
type Audit struct {
	Model     string // from the file's header, shortened if too long; "" without a file
	Dimension int
	Rows      int // complete and undamaged, with different keys
	Damaged   int // rows with a wrong checksum
	Orphans   int // of Rows: those without a document
	Torn      int // bytes of an interrupted write at the end, which the next write overwrites
}

// Audit reads the file of s from the beginning. It changes nothing, neither in memory nor on disk.
func (s *Set) Audit() (a Audit, err error) {
	f, err := atomicfile.Open(s.path, os.O_RDONLY)
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
	if !hasMagic(head) || a.Dimension <= 0 || a.Dimension > maxDimension {
		return a, errors.New("audit vectors: not a vector file")
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
		if _, known := s.docs.find(k); !known && !seen[k] {
			a.Orphans++
		}
		seen[k] = true
	}
}

// maxDimension is larger than the dimension of any model. It bounds the memory that a damaged header can claim.
const maxDimension = 1 << 16

// Matches reports whether the file contains vectors of the model, or nothing at all.
func (a Audit) Matches(model string, dim int) bool {
	return a.Model == "" || a.Model == headerName(model) && a.Dimension == dim
}
