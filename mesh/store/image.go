package store

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/fxamacker/cbor/v2"

	"github.com/yamo-protocol/yamo-mcp/internal/atomicfile"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/keyword"
)

// An image is a file with the projection as it was at a checkpoint of the ledger, so that a process need not decode and
// tokenize everything again. It is derived, and can be deleted. It is used only if
//
//   - its seal is right, which needs the workspace's key and names the ledger,
//   - each of its sections has the hash that is sealed, and
//   - the ledger begins with exactly the bytes that it was made of: all of them are hashed again.
//
// The entries after the checkpoint are then read from the ledger. A file is
//
//	imageMagic, sections, header (CBOR), seal (32 bytes), length of the header (uint32, little endian)
//
// and the first section is imageState, the second the keyword index, the others have imageChunk documents each, and the
// last one up to that many: see appendDocuments.
const (
	imageMagic = "yamoimg1"
	imageChunk = 2048
	sealSize   = sha256.Size
	tailSize   = sealSize + 4
	maxImage   = 1 << 40
	readPart   = 64 << 10 // bytes that are read and hashed at a time
)

// imageFormat changes when the types in an image do, and when the same entry would be decoded to something else or its
// text understood in another way: record.Record.Clean, Words, IsStanding, HasParts. TestImageFormat notices.
var imageFormat = fmt.Sprintf("11.%d", keyword.Version)

// The number of entries after an image from which a new one is worth its time: imageAfter, and one in imageShare of
// all.
const (
	imageAfter = 10
	imageShare = 50
)

// imageHeader describes the file. The seal covers it, and by the hashes everything else.
type imageHeader struct {
	Format   string
	At       ledger.Checkpoint
	Sections []imageSection
}

// imageSection is the size in bytes and the checksum of one part of an image.
type imageSection struct {
	Size int64
	Sum  []byte // SHA-256
}

var errNoImage = errors.New("not an image of this program")

var (
	imageEncoding = must(cbor.EncOptions{Time: cbor.TimeRFC3339Nano, Sort: cbor.SortBytewiseLexical}.EncMode())
	imageDecoding = must(cbor.DecOptions{
		DefaultMapType: mapType, MaxArrayElements: 1 << 30, MaxMapPairs: 1 << 30,
	}.DecMode())
)

// must returns mode; an error would be a mistake in the program.
func must[M any](mode M, err error) M {
	if err != nil {
		panic(err) // the options are constants
	}
	return mode
}

// start restores the projection from the image, once, if there is one that can be used. Otherwise the ledger is read
// from its beginning.
func (c *Compartment) start(ctx context.Context) {
	if c.Image == "" {
		return
	}
	c.once.Do(func() {
		err := c.restore(ctx)
		if err == nil || errors.Is(err, fs.ErrNotExist) || ctx.Err() != nil {
			return
		}
		c.Logger.Debug("the start-up image cannot be used; reading the ledger", "compartment", c.Visibility, "reason", err)
		c.useless.Store(true)
	})
}

// dropUseless removes an image that could not be used, once the ledger was read: if it was the ledger that is damaged,
// nothing is changed.
//
// SECURITY: an older program, which knows no images, may have erased something since.
func (c *Compartment) dropUseless(ctx context.Context) {
	if c.useless.CompareAndSwap(true, false) {
		_ = c.ledger.Exclude(ctx, c.removeImage) // the next image replaces it otherwise
	}
}

// restore reads the state from the image instead of from the whole ledger, if the image belongs to it. The state
// changes only after everything was read and checked.
func (c *Compartment) restore(ctx context.Context) error {
	// SECURITY: no link may lead to another compartment's image; the seal names the ledger as well.
	f, err := atomicfile.Open(c.Image, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // opened for reading
	header, err := c.readHeader(ctx, f)
	if err != nil {
		return err
	}
	var image decodedImage
	return c.ledger.Resume(ctx, header.At, func() error {
		return image.read(f, header)
	}, func() {
		c.imaged.Store(header.At.Seq)
		c.adopt(&image)
		c.begun.Store(true) // a rescan that follows is not of what is in memory
	})
}

// readHeader reads the header of f and checks its seal.
func (c *Compartment) readHeader(ctx context.Context, f *os.File) (h imageHeader, err error) {
	info, err := f.Stat()
	if err != nil {
		return h, err
	}
	tail := make([]byte, tailSize)
	if info.Size() < int64(len(imageMagic)+len(tail)) {
		return h, errNoImage
	}
	if _, err := f.ReadAt(tail, info.Size()-tailSize); err != nil {
		return h, err
	}
	size := int64(binary.LittleEndian.Uint32(tail[sealSize:]))
	if info.Size() < int64(len(imageMagic))+size+tailSize {
		return h, errNoImage
	}
	raw := make([]byte, size)
	if _, err := f.ReadAt(raw, info.Size()-tailSize-size); err != nil {
		return h, err
	}
	seal, err := c.ledger.Seal(ctx, raw)
	if err != nil {
		return h, err
	}
	// SECURITY: before anything is decoded.
	if !hmac.Equal(seal, tail[:sealSize]) {
		return h, errors.New("its seal is wrong")
	}
	if err := imageDecoding.Unmarshal(raw, &h); err != nil {
		return h, err
	}
	if h.Format != imageFormat || len(h.Sections) < 2 {
		return h, errNoImage
	}
	return h, nil
}

// decodedImage is the content of an image that was read and not used yet.
type decodedImage struct {
	state    imageState
	keywords *keyword.Index
	held     []held    // by document
	derived  []derived // by document
}

// read reads the sections of f, on all cores.
func (d *decodedImage) read(f *os.File, h imageHeader) error {
	most := (len(h.Sections) - 2) * imageChunk
	d.held, d.derived = make([]held, most, most+most/8), make([]derived, most)
	offsets, at := make([]int64, len(h.Sections)), int64(len(imageMagic))
	for i, s := range h.Sections {
		offsets[i] = at
		if at += s.Size; s.Size < 0 || at > maxImage {
			return errNoImage
		}
	}
	var next atomic.Int64
	var wait sync.WaitGroup
	var short atomic.Int64 // by how many the sections have less than imageChunk documents
	errs := make([]error, runtime.GOMAXPROCS(0))
	for worker := range errs {
		wait.Go(func() {
			var buf []byte
			for errs[worker] == nil {
				i := int(next.Add(1)) - 1
				if i >= len(h.Sections) {
					return
				}
				if buf, errs[worker] = readSection(f, offsets[i], h.Sections[i], buf); errs[worker] != nil {
					return
				}
				var n int
				if n, errs[worker] = d.section(buf, i); i >= 2 && i < len(h.Sections)-1 && n < imageChunk {
					errs[worker] = errors.Join(errs[worker], errNoImage)
				} else if i >= 2 {
					short.Add(int64(imageChunk - n))
				}
			}
		})
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	n := most - int(short.Load())
	d.held, d.derived = d.held[:n], d.derived[:n]
	if n != d.keywords.Len() {
		return errNoImage
	}
	return nil
}

// readSection returns a section of f, which is at offset at, in buf's memory if that is large enough.
func readSection(f *os.File, at int64, s imageSection, buf []byte) ([]byte, error) {
	buf = slices.Grow(buf[:0], int(s.Size))[:s.Size]
	hash := sha256.New()
	// In parts that are still in the cache of a core when they are hashed.
	for from := int64(0); from < s.Size; from += readPart {
		part := buf[from:min(s.Size, from+readPart)]
		if _, err := f.ReadAt(part, at+from); err != nil {
			return buf, err
		}
		hash.Write(part)
	}
	// SECURITY: the seal covers the hash.
	if !bytes.Equal(hash.Sum(nil), s.Sum) {
		return buf, errors.New("a section is damaged")
	}
	return buf, nil
}

// section decodes section i, without keeping it, and returns how many documents it has.
func (d *decodedImage) section(section []byte, i int) (docs int, err error) {
	switch i {
	case 0:
		return 0, imageDecoding.Unmarshal(section, &d.state)
	case 1:
		d.keywords, err = keyword.FromImage(section)
		return 0, err
	default:
		from := (i - 2) * imageChunk
		return readDocuments(section, d.held[from:from+imageChunk], d.derived[from:from+imageChunk])
	}
}

// SaveImage is Save for callers that lose nothing by an error, which is logged.
func (c *Compartment) SaveImage(ctx context.Context) {
	if err := c.Save(ctx); err != nil && ctx.Err() == nil {
		c.Logger.Debug("save a start-up image", "compartment", c.Visibility, "error", err)
	}
}

// Save writes an image of the projection, if there is none yet or much has been written since the last one. It takes
// the ledger's lock for the time of the write only.
func (c *Compartment) Save(ctx context.Context) error {
	if c.Image == "" {
		return nil
	}
	s := c.Snapshot()
	entries, since := s.p.entries, s.p.entries-c.imaged.Load()
	s.Release()
	if since < imageAfter+entries/imageShare {
		return nil
	}
	// An image is as large as half of what is in memory. So it is not made in memory, and made before the lock is taken;
	// until then it has no name under which a process that is killed would leave what is erased next.
	spool, err := atomicfile.Spool(c.Image)
	if err != nil {
		return c.explain("save an image of", err)
	}
	defer func() { _ = spool.Close() }() // which deletes it
	at, err := c.spool(ctx, spool)
	if err != nil || at.Seq == 0 {
		return c.explain("save an image of", err)
	}
	err = c.ledger.Replace(ctx, at, func() error {
		return errors.Join(c.removeImage(), atomicfile.WriteCacheFrom(c.Image, func(w io.Writer) error {
			_, err := io.Copy(w, io.NewSectionReader(spool, 0, maxImage))
			return err
		}))
	})
	if errors.Is(err, ledger.ErrChanged) {
		return nil // something was erased meanwhile; the next one is made after it
	}
	if err == nil {
		c.imaged.Store(at.Seq)
	}
	return c.explain("save an image of", err)
}

// spool writes an image to the file and returns the checkpoint that it is of, the zero value if there is none.
func (c *Compartment) spool(ctx context.Context, file *os.File) (ledger.Checkpoint, error) {
	h, out := imageHeader{Format: imageFormat}, bufio.NewWriterSize(file, readPart)
	err := c.ledger.Checkpoint(ctx, func(at ledger.Checkpoint) error {
		h.At = at
		return c.encode(out, &h)
	})
	if err != nil || h.At.Seq == 0 {
		return h.At, err
	}
	raw, err := imageEncoding.Marshal(h)
	if err != nil {
		return h.At, err
	}
	seal, err := c.ledger.Seal(ctx, raw)
	if err != nil {
		return h.At, err
	}
	size := binary.LittleEndian.AppendUint32(nil, uint32(len(raw))) //nolint:gosec // 50 bytes for 2048 documents
	_, err = out.Write(slices.Concat(raw, seal, size))
	return h.At, errors.Join(err, out.Flush())
}

// measured is a writer that counts and hashes what is written.
type measured struct {
	to   io.Writer
	size int64
	sum  hash.Hash
}

func (m *measured) Write(p []byte) (int, error) {
	n, err := m.to.Write(p)
	m.size += int64(n)
	m.sum.Write(p[:n])
	return n, err
}

// encode writes magic and sections to out, and describes these in h.
func (c *Compartment) encode(out io.Writer, h *imageHeader) error {
	s := c.Snapshot()
	defer s.Release()
	if _, err := io.WriteString(out, imageMagic); err != nil {
		return err
	}
	section := func(write func(io.Writer) error) error {
		m := &measured{to: out, sum: sha256.New()}
		if err := write(m); err != nil {
			return err
		}
		h.Sections = append(h.Sections, imageSection{m.size, m.sum.Sum(nil)})
		return nil
	}
	state := func(w io.Writer) error { return imageEncoding.NewEncoder(w).Encode(s.p.imageState()) }
	if err := errors.Join(section(state), section(s.Keywords.Image)); err != nil {
		return err
	}
	chunk := make([]imageDocument, 0, imageChunk)
	documents := func(w io.Writer) error {
		raw, err := appendDocuments(nil, chunk)
		if err == nil {
			_, err = w.Write(raw)
		}
		chunk = chunk[:0]
		return err
	}
	for d := range s.p.imageDocuments() {
		if chunk = append(chunk, d); len(chunk) < imageChunk {
			continue
		}
		if err := section(documents); err != nil {
			return err
		}
	}
	if len(chunk) > 0 {
		return section(documents)
	}
	return nil
}

// removeImage removes the image and what a process that was killed left of one. The caller holds the ledger's lock.
func (c *Compartment) removeImage() error {
	err := os.Remove(c.Image)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, atomicfile.RemoveParts(c.Image))
}
