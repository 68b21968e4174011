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
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// ErrModel means that the file holds vectors of another model.
var ErrModel = errors.New("the vectors were made by another embedding model; run `yamo-mcp index rebuild`")

// A file is one header and any number of rows, little endian:
//
//	header  "yamovec2", dimension uint32, 8 random bytes, 44 bytes of model name (zero-padded)
//	row     first 16 bytes of SHA-256(memory id), CRC-32C of the vector uint32, part uint16, parts uint16,
//	        dimension x float32
//
// A text's own row is part 0 of 0; its parts count from 1. "yamovec1" is the same without parts: it is read, and becomes
// a "yamovec2" when a part is added, which programs that know no parts then refuse.
const (
	magic      = "yamovec2"
	magic1     = "yamovec1"
	headerSize = 64
	nonceAt    = len(magic) + 4 // the random bytes tell a file from one that took its place
	nameAt     = nonceAt + 8
	keySize    = 16
	rowHead    = keySize + 8
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

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
	parts  map[key][]int    // the matrix's rows of the parts of a text, missing for those that are not known
	wanted map[key]struct{} // the documents that are to have parts
	lack   map[key]struct{} // those of wanted whose parts are not all known
	head   []byte           // the header of the file that was read, nil if none was
	offset int64            // how much of it is in matrix
	epoch  int              // see Epoch
}

// Open returns the set at path, whose vectors have dim components and were made by model. It touches
// nothing; Refresh reads the file, which need not exist.
func Open(path, model string, dim int) *Set {
	return &Set{path: path, model: model, dim: dim, docs: map[key]int{}, rows: map[key]int{}, parts: map[key][]int{}, wanted: map[key]struct{}{}, lack: map[key]struct{}{}}
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

// open opens the file and reads its header. A file that is not there, or has no whole header because it
// is being written or was torn, gives nil.
func (s *Set) open() (f *os.File, head []byte, size int64, err error) {
	f, err = os.Open(s.path)
	if errors.Is(err, os.ErrNotExist) {
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

// load brings memory up to the file. s.mu is held.
func (s *Set) load() error {
	f, head, size, err := s.open()
	if err != nil {
		return err
	}
	if f != nil {
		defer func() { _ = f.Close() }() // opened for reading
	}
	if !bytes.Equal(head, s.head) || size < s.offset {
		s.reset()
	}
	if f == nil {
		return nil
	}
	if mine := s.header(head[nonceAt:nameAt]); !bytes.Equal(head[len(magic):], mine[len(magic):]) || !bytes.HasPrefix(head, mine[:len(magic)]) && !bytes.HasPrefix(head, []byte(magic1)) {
		return ErrModel
	}
	if s.head == nil {
		s.head, s.offset = head, headerSize
	}
	return s.read(f, size)
}

// Epoch counts how often the vectors were read anew because the file was gone, replaced or cut.
func (s *Set) Epoch() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.epoch
}

func (s *Set) reset() {
	s.rows, s.parts, s.matrix, s.head, s.offset = map[key]int{}, map[key][]int{}, nil, nil, 0
	s.epoch++
	s.lack = maps.Clone(s.wanted)
	for doc, at := range s.rowOf {
		if at != untracked {
			s.rowOf[doc] = missing
		}
	}
}

func (s *Set) rowSize() int { return rowHead + 4*s.dim }

// read loads the rows of f between s.offset and size. s.mu is held.
func (s *Set) read(f *os.File, size int64) error {
	n := int((size - s.offset) / int64(s.rowSize()))
	if need := len(s.matrix) + n*s.dim; cap(s.matrix) < need {
		grown := make([]float32, len(s.matrix), need)
		copy(grown, s.matrix)
		s.matrix = grown
	}
	const batch = 256
	buf := make([]byte, batch*s.rowSize())
	for n > 0 {
		part := buf[:min(n, batch)*s.rowSize()]
		if _, err := f.ReadAt(part, s.offset); err != nil {
			return fmt.Errorf("read vectors: %w", err)
		}
		for i := 0; i < len(part); i += s.rowSize() {
			s.decode(part[i : i+s.rowSize()])
		}
		s.offset += int64(len(part))
		n -= len(part) / s.rowSize()
	}
	return nil
}

// decode adds one row, unless its checksum is wrong (power loss can leave zeros).
func (s *Set) decode(row []byte) {
	body := row[rowHead:]
	if binary.LittleEndian.Uint32(row[keySize:]) != crc32.Checksum(body, castagnoli) {
		return
	}
	k, part, of := key(row[:keySize]), int(binary.LittleEndian.Uint16(row[keySize+4:])), int(binary.LittleEndian.Uint16(row[keySize+6:]))
	if part > of || part == 0 && of > 0 {
		return
	}
	at := s.place(k, part, of)
	for j := range s.dim {
		s.matrix[at*s.dim+j] = math.Float32frombits(binary.LittleEndian.Uint32(body[4*j:]))
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

// header is a file's first bytes. A new file gets new random bytes.
func (s *Set) header(nonce []byte) []byte {
	head := make([]byte, headerSize)
	copy(head, magic)
	binary.LittleEndian.PutUint32(head[len(magic):], uint32(s.dim)) //nolint:gosec // a model's dimension, a few thousand
	copy(head[nonceAt:nameAt], nonce)
	copy(head[nameAt:], fitted(s.model))
	return head
}

// fitted is a model's name as there is room for: of a long one the beginning and what tells it from others.
func fitted(name string) string {
	if len(name) <= headerSize-nameAt {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	tail := "#" + hex.EncodeToString(sum[:8])
	return name[:headerSize-nameAt-len(tail)] + tail
}

func (s *Set) newHeader() []byte {
	nonce := make([]byte, nameAt-nonceAt)
	_, _ = rand.Read(nonce) // never fails
	return s.header(nonce)
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

// append is Append after load. s.mu is held.
func (s *Set) append(rows []row) error {
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return fmt.Errorf("create vectors folder: %w", err)
	}
	f, err := os.OpenFile(s.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("open vectors: %w", err)
	}
	defer func() { _ = f.Close() }() // a cache: what did not reach the disk is made again
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
	// A row that a killed process left half written is overwritten, the rest of it cut off.
	if _, err := f.WriteAt(out, s.offset); err != nil {
		return errors.Join(fmt.Errorf("append vectors: %w", err), f.Truncate(s.offset))
	}
	if err := f.Truncate(s.offset + int64(len(out))); err != nil {
		return fmt.Errorf("append vectors: %w", err)
	}
	s.head, s.offset = head, s.offset+int64(len(out))
	for _, r := range rows {
		at := s.place(r.key, r.part, r.of)
		copy(s.matrix[at*s.dim:], r.vector)
	}
	return nil
}

// row is a row of the file.
type row struct {
	key
	part, of int
	vector   []float32
}

func encode(out []byte, r row) []byte {
	out = append(out, r.key[:]...)
	start := len(out)
	out = append(out, make([]byte, 4)...)
	out = binary.LittleEndian.AppendUint16(out, uint16(r.part)) //nolint:gosec // at most MaxParts
	out = binary.LittleEndian.AppendUint16(out, uint16(r.of))   //nolint:gosec // at most MaxParts
	body := len(out)
	for _, x := range r.vector {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
	}
	binary.LittleEndian.PutUint32(out[start:], crc32.Checksum(out[body:], castagnoli))
	return out
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

// rewrite replaces the file by one of the documents' vectors, and forgets the others. s.mu is held.
func (s *Set) rewrite() error {
	out := s.newHeader()
	for k, at := range s.rows {
		if _, ok := s.docs[k]; !ok {
			clear(s.vector(at))
			delete(s.rows, k)
			continue
		}
		out = encode(out, row{key: k, vector: s.vector(at)})
	}
	for k, rows := range s.parts {
		_, ok := s.docs[k]
		for i, at := range rows {
			switch {
			case at < 0:
			case ok:
				out = encode(out, row{k, i + 1, len(rows), s.vector(at)})
			default:
				clear(s.vector(at))
			}
		}
		if !ok {
			delete(s.parts, k)
		}
	}
	return s.replace(out)
}

// vector is a row of the matrix.
func (s *Set) vector(at int) []float32 { return s.matrix[at*s.dim : (at+1)*s.dim] }

// replace puts a file with the given bytes in place of the present one, atomically.
func (s *Set) replace(out []byte) (err error) {
	tmp, err := os.CreateTemp(filepath.Dir(s.path), ".vectors-*")
	if err != nil {
		return fmt.Errorf("replace vectors: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("replace vectors: %w", err), os.Remove(tmp.Name()))
		}
	}()
	_, err = tmp.Write(out)
	if err = errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	if err = os.Rename(tmp.Name(), s.path); err != nil {
		return err
	}
	s.head, s.offset = bytes.Clone(out[:headerSize]), int64(len(out))
	return nil
}

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
