package turns

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/atomicfile"
)

// A digest is a file for each log: a magic number and frames, each of which is complete or ignored:
//
//	length uint32, CRC-32C of the rest uint32, then in varints:
//	end of what is read of the log, its modification time (ns), length of the head, 8 bytes of the head's SHA-256,
//	length and bytes of the folder, number of lines that could not be read, number of turns, and for each turn
//	  offset, flags, time (s), 8 bytes of the key's hash, number of words, and 4 bytes for each word in ascending order
//
// A word is the FNV-1a hash of its stem. Text of the log is in no digest, except the folder that the host ran in.
const digestMagic = "yamotrn4"

const (
	frameHead = 8
	maxFrame  = 16 << 20 // bytes, of a frame that is read
)

// Flags of a turn: its role in the lowest two bits, and what else is known of it.
const (
	roleOther = iota
	roleUser
	roleAssistant
	roleTool
	roleMask = 3

	flagSpoken = 1 << 2 // something was said in it
	flagClean  = 1 << 3 // there is no credential in what was said
	flagWhole  = 1 << 4 // what was said is all of it
	flagCut    = 1 << 5 // its text goes on after what is found by its words
	flagData   = 1 << 6 // a part of its text looks like data, and is not found by its words
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// entry is a turn in a digest.
type entry struct {
	offset int64
	flags  byte
	time   int64 // Unix seconds; math.MinInt64 if it is not known
	key    uint64
	words  []byte // 4 bytes each, little endian, ascending; valid until the next entry is read
}

// frame is a part of a digest.
type frame struct {
	end      int64
	modified int64
	headLen  int64
	head     uint64
	folder   string
	unread   int // lines
	entries  []entry
}

// position is how far a digest is.
type position struct {
	end, modified, headLen int64
	head                   uint64
	folder                 string
	turns, unread          int
	size                   int64 // of the digest, up to its last complete frame
}

// digestPath returns the file of a log's digest.
func digestPath(dir, log string) string {
	sum := sha256.Sum256([]byte(log))
	return filepath.Join(dir, hex.EncodeToString(sum[:12])+".turns")
}

// encode returns the frame in the form of the file.
func (f *frame) encode() []byte {
	b := make([]byte, frameHead, 1<<16)
	b = binary.AppendUvarint(b, uint64(f.end)) //nolint:gosec // offsets are not negative
	b = binary.AppendVarint(b, f.modified)
	b = binary.AppendUvarint(b, uint64(f.headLen)) //nolint:gosec // likewise
	b = binary.LittleEndian.AppendUint64(b, f.head)
	b = binary.AppendUvarint(b, uint64(len(f.folder)))
	b = append(b, f.folder...)
	b = binary.AppendUvarint(b, uint64(f.unread)) //nolint:gosec // likewise
	b = binary.AppendUvarint(b, uint64(len(f.entries)))
	for _, e := range f.entries {
		b = binary.AppendUvarint(b, uint64(e.offset)) //nolint:gosec // likewise
		b = append(b, e.flags)
		b = binary.AppendVarint(b, e.time)
		b = binary.LittleEndian.AppendUint64(b, e.key)
		b = binary.AppendUvarint(b, uint64(len(e.words)/4))
		b = append(b, e.words...)
	}
	binary.LittleEndian.PutUint32(b, uint32(len(b)-frameHead)) //nolint:gosec // frames are cut at a few MiB
	binary.LittleEndian.PutUint32(b[4:], crc32.Checksum(b[frameHead:], castagnoli))
	return b
}

// cursor reads the numbers of a frame.
type cursor struct {
	b   []byte
	bad bool
}

func (c *cursor) take(n uint64) []byte {
	if c.bad || n > uint64(len(c.b)) {
		c.bad = true
		return nil
	}
	part := c.b[:n]
	c.b = c.b[n:]
	return part
}

func (c *cursor) uvarint() uint64 {
	x, n := binary.Uvarint(c.b)
	if n <= 0 || x > math.MaxInt64 {
		c.bad = true
		return 0
	}
	c.b = c.b[n:]
	return x
}

func (c *cursor) varint() int64 {
	x, n := binary.Varint(c.b)
	if n <= 0 {
		c.bad = true
		return 0
	}
	c.b = c.b[n:]
	return x
}

func (c *cursor) uint64() uint64 {
	if b := c.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// readDigest calls visit, unless it is nil, with the turns of a digest in order, and returns how far it is. from is the
// position of an earlier call, the zero position for the beginning. A missing digest has the zero position; what is
// after a damaged frame counts as missing.
func readDigest(path string, from position, visit func(ordinal int, e entry)) (p position, err error) {
	f, err := atomicfile.Open(path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, atomicfile.ErrLinked) {
		return position{}, nil
	}
	if err != nil {
		return position{}, fmt.Errorf("open digest: %w", err)
	}
	defer func() { _ = f.Close() }() // opened for reading
	info, err := f.Stat()
	if err != nil {
		return position{}, fmt.Errorf("read digest: %w", err)
	}
	p = from
	if info.Size() < p.size {
		p = position{}
	}
	if p.size == 0 {
		magic := make([]byte, len(digestMagic))
		if _, err := io.ReadFull(f, magic); err != nil || string(magic) != digestMagic {
			return position{}, nil
		}
		p.size = int64(len(digestMagic))
	} else if _, err := f.Seek(p.size, io.SeekStart); err != nil {
		return position{}, fmt.Errorf("read digest: %w", err)
	}
	head := make([]byte, frameHead)
	var body []byte
	for {
		if _, err := io.ReadFull(f, head); err != nil {
			return p, nil // the end, or a torn frame
		}
		n := binary.LittleEndian.Uint32(head)
		if n > maxFrame {
			return p, nil
		}
		body = slices.Grow(body[:0], int(n))[:n]
		if _, err := io.ReadFull(f, body); err != nil ||
			crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(head[4:]) {
			return p, nil
		}
		next, ok := readFrame(body, p, visit)
		if !ok {
			return p, nil
		}
		p = next
		p.size += frameHead + int64(n)
	}
}

// readFrame reads the frame in body, after what p tells.
func readFrame(body []byte, p position, visit func(ordinal int, e entry)) (position, bool) {
	c := &cursor{b: body}
	p.end, p.modified = int64(c.uvarint()), c.varint() //nolint:gosec // checked by uvarint
	p.headLen, p.head = int64(c.uvarint()), c.uint64() //nolint:gosec // likewise
	p.folder = cmp.Or(string(c.take(c.uvarint())), p.folder)
	p.unread += int(min(c.uvarint(), math.MaxInt32))
	n := c.uvarint()
	for range n {
		var e entry
		e.offset = int64(c.uvarint()) //nolint:gosec // likewise
		if flags := c.take(1); flags != nil {
			e.flags = flags[0]
		}
		e.time, e.key = c.varint(), c.uint64()
		e.words = c.take(4 * min(c.uvarint(), maxFrame))
		if c.bad {
			return p, false
		}
		if visit != nil {
			visit(p.turns, e)
		}
		p.turns++
	}
	return p, !c.bad
}

// appendFrame writes a frame after size bytes of the digest at path, or as its first.
func appendFrame(path string, size int64, f *frame) (written int64, err error) {
	data := f.encode()
	if size == 0 {
		data = append([]byte(digestMagic), data...)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return 0, fmt.Errorf("create the folder of digests: %w", err)
	}
	file, err := atomicfile.Open(path, os.O_RDWR|os.O_CREATE)
	if errors.Is(err, atomicfile.ErrLinked) {
		if err = os.Remove(path); err == nil { // only the name is removed
			file, err = atomicfile.Open(path, os.O_RDWR|os.O_CREATE)
		}
	}
	if err != nil {
		return 0, fmt.Errorf("open digest: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if _, err := file.WriteAt(data, size); err != nil {
		return 0, errors.Join(fmt.Errorf("write digest: %w", err), file.Truncate(size))
	}
	if err := file.Truncate(size + int64(len(data))); err != nil {
		return 0, fmt.Errorf("write digest: %w", err)
	}
	return size + int64(len(data)), nil
}

// hashOf returns the fingerprint of a stem.
func hashOf(stem string) uint32 {
	h := uint32(2166136261)
	for i := range len(stem) {
		h = (h ^ uint32(stem[i])) * 16777619
	}
	return h
}

// keyOf returns the hash of a row's key, 0 for none.
func keyOf(key string) uint64 {
	if key == "" {
		return 0
	}
	h := fnv.New64a()
	_, _ = io.WriteString(h, key)
	return max(1, h.Sum64())
}

// headOf returns the hash of a log's beginning.
func headOf(head []byte) uint64 {
	sum := sha256.Sum256(head)
	return binary.LittleEndian.Uint64(sum[:])
}

// packed returns words in the form of entry, sorted and without repetitions. It changes words.
func packed(words []uint32) []byte {
	slices.Sort(words)
	words = slices.Compact(words)
	b := make([]byte, 0, 4*len(words))
	for _, w := range words {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

// has reports whether the entry has a word.
func (e entry) has(word uint32) bool {
	low, high := 0, len(e.words)/4
	for low < high {
		mid := (low + high) / 2
		switch x := binary.LittleEndian.Uint32(e.words[4*mid:]); {
		case x == word:
			return true
		case x < word:
			low = mid + 1
		default:
			high = mid
		}
	}
	return false
}

// moment returns the entry's time, the zero time if it is not known.
func (e entry) moment() time.Time {
	if e.time == math.MinInt64 {
		return time.Time{}
	}
	return time.Unix(e.time, 0).UTC()
}
