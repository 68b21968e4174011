package vector

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/yamo-protocol/yamo-mcp/internal/atomicfile"
)

// A file is a header and any number of rows, little endian:
//
//	header  "yamovec2", dimension uint32, 8 random bytes, 44 bytes of model name (zero-padded)
//	row     first 16 bytes of SHA-256(memory id), CRC-32C of the vector uint32, part uint16, parts uint16,
//	        dimension x float32
//
// The vector of a whole text is part 0 of 0; its parts are numbered from 1. "yamovec1" is the same without parts. Such
// files are read, and converted to "yamovec2" when a part is added, which older programs refuse to read.
const (
	magic      = "yamovec2"
	magic1     = "yamovec1"
	headerSize = 64
	nonceAt    = len(magic) + 4 // the random bytes distinguish a file from one that replaced it
	nameAt     = nonceAt + 8
	keySize    = 16
	rowHead    = keySize + 8
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// hasMagic reports whether head begins a file of a version that can be read.
func hasMagic(head []byte) bool {
	return bytes.HasPrefix(head, []byte(magic)) || bytes.HasPrefix(head, []byte(magic1))
}

// open opens the file and reads its header. It returns nil if there is no file, if its header is incomplete because it
// is being written or was torn, or if it is a link, which the next append replaces.
func (s *Set) open() (f *os.File, head []byte, size int64, err error) {
	f, err = atomicfile.Open(s.path, os.O_RDONLY)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, atomicfile.ErrLinked) {
		return nil, nil, 0, nil
	}
	if err != nil {
		return nil, nil, 0, fmt.Errorf("open vectors: %w", err)
	}
	head = make([]byte, headerSize)
	_, err = f.ReadAt(head, 0)
	if errors.Is(err, io.EOF) {
		return nil, nil, 0, f.Close()
	}
	var info os.FileInfo
	if err == nil {
		info, err = f.Stat()
	}
	if err != nil {
		return nil, nil, 0, errors.Join(fmt.Errorf("read vectors: %w", err), f.Close())
	}
	return f, head, info.Size(), nil
}

// load updates memory from the file. s.mu is held for writing, here and in the other unexported methods that change s.
func (s *Set) load() error {
	f, head, size, err := s.open()
	if err != nil {
		return err
	}
	if f != nil {
		defer func() { _ = f.Close() }() // opened for reading
	}
	if s.other != nil && bytes.Equal(head, s.other) {
		return nil
	}
	if !bytes.Equal(head, s.head) || size < s.offset {
		s.reset()
	}
	if f == nil {
		return nil
	}
	expected := s.header(head[nonceAt:nameAt])
	if !hasMagic(head) || !bytes.Equal(head[len(magic):], expected[len(magic):]) {
		s.other = head // as if there were no file: the vectors of two models cannot be compared
		return nil
	}
	if s.head == nil {
		s.head, s.offset = head, headerSize
	}
	return s.read(f, size)
}

func (s *Set) rowSize() int { return rowHead + 4*s.dim }

// header returns the header of a file of this set, with the given random bytes.
func (s *Set) header(nonce []byte) []byte {
	head := make([]byte, headerSize)
	copy(head, magic)
	binary.LittleEndian.PutUint32(head[len(magic):], uint32(s.dim)) //nolint:gosec // a model's dimension, a few thousand
	copy(head[nonceAt:nameAt], nonce)
	copy(head[nameAt:], headerName(s.model))
	return head
}

// headerName returns a model's name as the header has it: one that is too long is cut, and a hash of the whole name
// distinguishes it from others with the same beginning.
func headerName(name string) string {
	if len(name) <= headerSize-nameAt {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	tail := "#" + hex.EncodeToString(sum[:8])
	return name[:headerSize-nameAt-len(tail)] + tail
}

// newHeader returns the header of a new file. Its nonce tells other processes that the file was replaced.
func (s *Set) newHeader() []byte {
	nonce := make([]byte, nameAt-nonceAt)
	_, _ = rand.Read(nonce) // never fails
	return s.header(nonce)
}

// append writes rows behind s.offset and adds them to memory. load must have been called.
func (s *Set) append(rows []row) error {
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return fmt.Errorf("create vectors folder: %w", err)
	}
	f, err := atomicfile.Open(s.path, os.O_RDWR|os.O_CREATE)
	if errors.Is(err, atomicfile.ErrLinked) {
		// Only the name is removed. What it led to was not read, so that the file begins again.
		if err = os.Remove(s.path); err == nil {
			f, err = atomicfile.Open(s.path, os.O_RDWR|os.O_CREATE)
		}
	}
	if err != nil {
		return fmt.Errorf("open vectors: %w", err)
	}
	defer func() { _ = f.Close() }() // a cache: vectors that did not reach the disk are computed again
	head, out := s.head, []byte(nil)
	if head == nil {
		head = s.newHeader()
		out = append(out, head...)
	}
	for _, r := range rows {
		if len(r.vector) != s.dim {
			return fmt.Errorf("append vectors: %d components, want %d", len(r.vector), s.dim)
		}
		out = encode(out, r)
	}
	// This overwrites a row that a killed process left incomplete; Truncate removes the rest of it.
	if _, err := f.WriteAt(out, s.offset); err != nil {
		return errors.Join(fmt.Errorf("append vectors: %w", err), f.Truncate(s.offset))
	}
	if err := f.Truncate(s.offset + int64(len(out))); err != nil {
		return fmt.Errorf("append vectors: %w", err)
	}
	s.head, s.offset, s.other = head, s.offset+int64(len(out)), nil
	at := s.matrix.extend(len(rows))
	for i, r := range rows {
		s.matrix.set(at+i, r.vector)
		s.place(r.key, r.part, r.parts, int32(at+i)) //nolint:gosec // fewer than 2^31 rows
	}
	return nil
}

// row is a row of the file.
type row struct {
	key
	part, parts int // 0 and 0 for the vector of a whole text
	vector      []float32
}

// encode appends a row to out.
func encode(out []byte, r row) []byte {
	out = append(out, r.key[:]...)
	start := len(out)
	out = append(out, make([]byte, 4)...)
	out = binary.LittleEndian.AppendUint16(out, uint16(r.part))  //nolint:gosec // at most MaxParts
	out = binary.LittleEndian.AppendUint16(out, uint16(r.parts)) //nolint:gosec // at most MaxParts
	body := len(out)
	for _, x := range r.vector {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
	}
	binary.LittleEndian.PutUint32(out[start:], crc32.Checksum(out[body:], castagnoli))
	return out
}
