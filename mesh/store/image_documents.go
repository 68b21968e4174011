package store

import (
	"encoding/binary"
	"math"
	"time"
	"unique"

	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// The documents of an image are in sections. Each is
//
//   - a table of the strings that many documents have, such as sessions and agents,
//   - a table of the origins of its documents, by the numbers of their strings,
//   - its documents: numbers of variable length, and what few of them have,
//   - the ids and texts of all its documents, which are what a reader keeps of it.

// imageRest is what very few documents have. It is CBOR.
type imageRest struct {
	_          struct{} `cbor:",toarray"`
	Metadata   map[string]any
	Lesson     *record.Lesson
	Reflection *record.Reflection
	Heritage   *record.Heritage
	Imported   bool
	Redacted   int64
}

// Flags of a document.
const (
	isStanding = 1 << iota
	hasParts
	hasTags
	hasImportance
	hasRest
)

// Forms of a time.
const (
	zeroTime = iota
	utcTime  // seconds and nanoseconds
	textTime // RFC 3339
)

// strings are pointers to the strings of an origin, in the order of an image.
func (o *origin) strings() [7]*string {
	return [...]*string{&o.session, &o.kind, &o.source, &o.skill, &o.agent, &o.project, &o.consent}
}

// imageNumbers are bytes to which numbers and strings are written.
type imageNumbers []byte

func (w *imageNumbers) number(n int) {
	*w = binary.AppendUvarint(*w, uint64(n)) //nolint:gosec // no number is negative
}

func (w *imageNumbers) text(s string) {
	w.number(len(s))
	*w = append(*w, s...)
}

func (w *imageNumbers) time(t time.Time) {
	switch {
	case t.IsZero():
		w.number(zeroTime)
	case t.Location() == time.UTC:
		w.number(utcTime)
		*w = binary.AppendVarint(*w, t.Unix())
		w.number(t.Nanosecond())
	default:
		w.number(textTime)
		w.text(t.Format(time.RFC3339Nano))
	}
}

// documentWriter writes the documents of a section.
type documentWriter struct {
	imageNumbers // the documents
	texts        []byte
	table        numbered[string]
	origins      numbered[origin]
}

// numbered are values with numbers from 0, in the order in which they appeared.
type numbered[T comparable] struct {
	list   []T
	number map[T]int
}

func (n *numbered[T]) of(value T) int {
	at, ok := n.number[value]
	if !ok {
		if n.number == nil {
			n.number = map[T]int{}
		}
		at = len(n.list)
		n.list, n.number[value] = append(n.list, value), at
	}
	return at
}

// appendDocuments appends a section with the documents to out.
func appendDocuments(out []byte, list []imageDocument) ([]byte, error) {
	var w documentWriter
	for i := range list {
		if err := w.add(&list[i]); err != nil {
			return nil, err
		}
	}
	var origins imageNumbers
	for _, o := range w.origins.list {
		for _, s := range o.strings() {
			origins.number(w.table.of(*s))
		}
	}
	head := imageNumbers(out)
	head.number(len(w.texts))
	head.number(len(w.table.list))
	for _, s := range w.table.list {
		head.text(s)
	}
	head.number(len(w.origins.list))
	head = append(head, origins...)
	head.number(len(list))
	return append(append(head, w.imageNumbers...), w.texts...), nil
}

func (w *documentWriter) add(d *imageDocument) error {
	flags := 0
	set := func(flag int, is bool) {
		if is {
			flags |= flag
		}
	}
	set(isStanding, d.Standing)
	set(hasParts, d.Parts)
	set(hasTags, len(d.tags) > 0)
	set(hasImportance, d.importance != nil)
	set(hasRest, d.rest != nil)
	w.number(flags)
	for _, s := range []string{d.id, d.content} {
		w.number(len(s))
		w.texts = append(w.texts, s...)
	}
	w.number(w.origins.of(d.origin.Value()))
	w.number(w.table.of(d.Session))
	w.number(int(d.seq))
	w.imageNumbers = binary.AppendVarint(w.imageNumbers, d.created)
	w.imageNumbers = append(w.imageNumbers, d.Words[:]...)
	if len(d.tags) > 0 {
		w.number(len(d.tags))
		for _, tag := range d.tags {
			w.number(w.table.of(tag))
		}
	}
	if d.importance != nil {
		w.imageNumbers = binary.LittleEndian.AppendUint32(w.imageNumbers, math.Float32bits(*d.importance))
	}
	if d.rest == nil {
		return nil
	}
	return w.rest(d.rest)
}

func (w *documentWriter) rest(r *rest) error {
	for _, s := range []string{r.rationale, r.hypothesis, r.occurredAt} {
		w.text(s)
	}
	w.time(r.created)
	w.time(r.updated)
	if r.metadata == nil && r.lesson == nil && r.reflection == nil && r.heritage == nil && !r.imported && r.redacted == 0 {
		w.number(0)
		return nil
	}
	raw, err := imageEncoding.Marshal(imageRest{
		Metadata: r.metadata, Lesson: r.lesson, Reflection: r.reflection, Heritage: r.heritage, Imported: r.imported,
		Redacted: r.redacted,
	})
	w.text(string(raw))
	return err
}

// documentReader reads a section. Once bad it stays bad, and returns zeros.
type documentReader struct {
	section []byte
	at      int    // what follows is not read yet
	texts   string // ids and texts that are not read yet
	table   []string
	origins []unique.Handle[origin]
	numbers map[float32]*float32 // importances, of which many are the same
	bad     bool
}

// readDocuments reads a section to the documents, of which there must be enough, and returns their number. The section
// is not kept.
func readDocuments(section []byte, to []held, known []derived) (n int, err error) {
	r := documentReader{section: section, numbers: map[float32]*float32{}}
	if n := r.number(); n <= r.left() {
		r.texts, r.section = string(section[len(section)-n:]), section[:len(section)-n]
	} else {
		return 0, errNoImage
	}
	r.readTables()
	if n = r.number(); r.bad || n > len(to) {
		return 0, errNoImage
	}
	for i := range to[:n] {
		r.document(&to[i], &known[i])
	}
	if r.bad || r.left() > 0 || r.texts != "" {
		return 0, errNoImage
	}
	return n, nil
}

// readTables reads the strings and the origins.
func (r *documentReader) readTables() {
	r.table = make([]string, r.count())
	for i := range r.table {
		r.table[i] = r.text()
	}
	r.origins = make([]unique.Handle[origin], r.count())
	for i := range r.origins {
		var o origin
		for _, s := range o.strings() {
			*s = r.share()
		}
		r.origins[i] = unique.Make(o)
	}
}

// document reads a document.
func (r *documentReader) document(to *held, known *derived) {
	flags := r.number()
	known.Standing, known.Parts = flags&isStanding != 0, flags&hasParts != 0
	to.id, to.content = r.own(), r.own()
	if n := r.number(); n < len(r.origins) {
		to.origin = r.origins[n]
	} else {
		r.fail()
	}
	known.Session = r.share()
	to.seq, to.created = int64(r.number()), r.signed()
	copy(known.Words[:], r.bytes(len(known.Words)))
	if flags&hasTags != 0 {
		to.tags = make([]string, r.count())
		for i := range to.tags {
			to.tags[i] = r.share()
		}
	}
	if flags&hasImportance != 0 {
		to.importance = r.importance()
	}
	if flags&hasRest != 0 {
		to.rest = r.rest()
	}
}

func (r *documentReader) importance() *float32 {
	raw := r.bytes(4)
	if len(raw) == 0 {
		return nil
	}
	x := math.Float32frombits(binary.LittleEndian.Uint32(raw))
	known, ok := r.numbers[x]
	if !ok {
		known = &x
		r.numbers[x] = known
	}
	return known
}

func (r *documentReader) rest() *rest {
	more := &rest{
		rationale: r.text(), hypothesis: r.text(), occurredAt: r.text(), created: r.time(), updated: r.time(),
	}
	raw := r.bytes(r.number())
	if len(raw) == 0 {
		return more
	}
	var m imageRest
	if err := imageDecoding.Unmarshal(raw, &m); err != nil {
		r.fail()
	}
	more.metadata, more.lesson, more.reflection, more.heritage = m.Metadata, m.Lesson, m.Reflection, m.Heritage
	more.imported, more.redacted = m.Imported, m.Redacted
	return more
}

// fail makes r bad.
func (r *documentReader) fail() { r.bad, r.at = true, len(r.section) }

// left is the number of bytes that are not read yet.
func (r *documentReader) left() int { return len(r.section) - r.at }

func (r *documentReader) number() int {
	n, shift := uint64(0), 0
	for r.at < len(r.section) && shift < 63 {
		b := r.section[r.at]
		r.at++
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return int(n) //nolint:gosec // at most 63 bits
		}
		shift += 7
	}
	r.fail()
	return 0
}

// count reads the number of what follows, each of which takes a byte or more.
func (r *documentReader) count() int {
	n := r.number()
	if n > r.left() {
		r.fail()
		return 0
	}
	return n
}

// signed reads a number that binary.AppendVarint has written.
func (r *documentReader) signed() int64 {
	n := r.number()
	if n&1 == 1 {
		return ^int64(n >> 1)
	}
	return int64(n >> 1)
}

// bytes reads n bytes.
func (r *documentReader) bytes(n int) []byte {
	if n < 0 || n > r.left() {
		r.fail()
		return nil
	}
	r.at += n
	return r.section[r.at-n : r.at]
}

func (r *documentReader) text() string { return string(r.bytes(r.number())) }

// own reads the length of one of the texts, and returns that text.
func (r *documentReader) own() (text string) {
	n := r.number()
	if n > len(r.texts) {
		r.fail()
		return ""
	}
	text, r.texts = r.texts[:n], r.texts[n:]
	return text
}

func (r *documentReader) share() string {
	n := r.number()
	if n >= len(r.table) {
		r.fail()
		return ""
	}
	return r.table[n]
}

func (r *documentReader) time() time.Time {
	switch r.number() {
	case zeroTime:
		return time.Time{}
	case utcTime:
		return time.Unix(r.signed(), int64(r.number())).UTC()
	default:
		t, err := time.Parse(time.RFC3339Nano, r.text())
		r.bad = r.bad || err != nil
		return t
	}
}
