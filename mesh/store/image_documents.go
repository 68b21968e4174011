package store

import (
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"time"

	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// The documents of an image are in sections, each a table of the strings that many documents have, such as sessions and
// agents, and then the documents: numbers of variable length and strings. What few documents have is CBOR, so that a
// new field of a record needs no code here. Nothing is decoded by itself: the strings of a section are parts of one.

// imageRest is what a document has besides the fields of imageFields.
type imageRest struct {
	_        struct{} `cbor:",toarray"`
	Record   *record.Record
	Heritage *record.Heritage
}

// imageFields are the fields of a document that are written by code, as pointers to them.
type imageFields struct {
	own        []*string // strings of their own
	shared     []*string // that other documents have too
	tags       *[]string
	importance **float32
	created    *time.Time
}

func fieldsOf(r *record.Record) imageFields {
	return imageFields{
		own: []*string{&r.ID, &r.Content, &r.Rationale, &r.Hypothesis, &r.OccurredAt},
		shared: []*string{
			&r.SessionID, &r.Type, &r.Source, &r.Skill, &r.AgentID, &r.Project, &r.Consent,
		},
		tags: &r.Tags, importance: &r.Importance, created: &r.CreatedAt,
	}
}

// Flags of a document.
const (
	isStanding = 1 << iota
	hasParts
	hasImportance
	hasRest
)

// Forms of a time.
const (
	zeroTime = iota
	utcTime  // seconds and nanoseconds
	textTime // RFC 3339
)

// documentWriter writes the documents of a section.
type documentWriter struct {
	out    []byte
	table  []string
	shared map[string]int
}

// appendDocuments appends a section with the documents to out.
func appendDocuments(out []byte, list []imageDocument) ([]byte, error) {
	w := documentWriter{shared: map[string]int{}}
	w.number(len(list))
	for _, d := range list {
		if err := w.add(d); err != nil {
			return nil, err
		}
	}
	table := documentWriter{out: out}
	table.number(len(w.table))
	for _, s := range w.table {
		table.text(s)
	}
	return append(table.out, w.out...), nil
}

func (w *documentWriter) add(d imageDocument) error {
	rest := *d.Record // a copy, from which what is written is removed
	rest.Heritage, rest.Seq, rest.UpdatedAt = nil, 0, time.Time{}
	f := fieldsOf(&rest)
	flags := 0
	set := func(flag int, is bool) {
		if is {
			flags |= flag
		}
	}
	set(isStanding, d.Derived.Standing)
	set(hasParts, d.Derived.Parts)
	set(hasImportance, *f.importance != nil)
	var fields documentWriter
	fields.table, fields.shared = w.table, w.shared
	for _, s := range f.own {
		fields.text(*s)
		*s = ""
	}
	for _, s := range f.shared {
		fields.share(*s)
		*s = ""
	}
	fields.share(d.Derived.Session)
	fields.number(len(*f.tags))
	for _, tag := range *f.tags {
		fields.share(tag)
	}
	if *f.importance != nil {
		fields.out = binary.LittleEndian.AppendUint32(fields.out, math.Float32bits(**f.importance))
	}
	fields.number(int(d.Seq))
	fields.time(*f.created)
	fields.time(d.Updated)
	fields.out = append(fields.out, d.Derived.Words[:]...)
	*f.tags, *f.importance, *f.created = nil, nil, time.Time{}
	if d.Heritage != nil || !reflect.ValueOf(rest).IsZero() {
		set(hasRest, true)
		raw, err := imageEncoding.Marshal(imageRest{Record: &rest, Heritage: d.Heritage})
		if err != nil {
			return err
		}
		fields.text(string(raw))
	}
	w.number(flags)
	w.out, w.table = append(w.out, fields.out...), fields.table
	return nil
}

func (w *documentWriter) number(n int) {
	w.out = binary.AppendUvarint(w.out, uint64(n)) //nolint:gosec // no number is negative
}

func (w *documentWriter) text(s string) {
	w.number(len(s))
	w.out = append(w.out, s...)
}

// share writes the number of a string in the table.
func (w *documentWriter) share(s string) {
	n, ok := w.shared[s]
	if !ok {
		n = len(w.table)
		w.table, w.shared[s] = append(w.table, s), n
	}
	w.number(n)
}

func (w *documentWriter) time(t time.Time) {
	switch {
	case t.IsZero():
		w.number(zeroTime)
	case t.Location() == time.UTC:
		w.number(utcTime)
		w.out = binary.AppendVarint(w.out, t.Unix())
		w.number(t.Nanosecond())
	default:
		w.number(textTime)
		w.text(t.Format(time.RFC3339Nano))
	}
}

// documentReader reads a section. Once bad it stays bad, and returns zeros.
type documentReader struct {
	section string
	at      int // what follows is not read yet
	table   []string
	bad     bool
}

// readDocuments returns the documents of a section.
func readDocuments(section string) ([]imageDocument, error) {
	r := documentReader{section: section}
	n := r.number()
	if r.bad || n > r.left() {
		return nil, errNoImage
	}
	r.table = make([]string, n)
	for i := range r.table {
		r.table[i] = r.text()
	}
	n = r.number()
	if r.bad || n > r.left() {
		return nil, errNoImage
	}
	// One allocation for many: most of the time would be spent on them otherwise.
	list, records, importances := make([]imageDocument, n), make([]record.Record, n), make([]float32, n)
	for i := range list {
		list[i].Record = &records[i]
		if err := r.document(&list[i], &importances[i]); err != nil {
			return nil, err
		}
	}
	if r.bad || r.left() > 0 {
		return nil, errNoImage
	}
	return list, nil
}

// document reads d. importance is memory for a number that it may need.
func (r *documentReader) document(d *imageDocument, importance *float32) error {
	to := d.Record
	flags := r.number()
	d.Derived.Standing, d.Derived.Parts = flags&isStanding != 0, flags&hasParts != 0
	to.ID, to.Content, to.Rationale, to.Hypothesis, to.OccurredAt = r.text(), r.text(), r.text(), r.text(), r.text()
	to.SessionID, to.Type, to.Source, to.Skill = r.share(), r.share(), r.share(), r.share()
	to.AgentID, to.Project, to.Consent = r.share(), r.share(), r.share()
	d.Derived.Session = r.share()
	if n := r.number(); n > r.left() {
		return errNoImage
	} else if n > 0 {
		to.Tags = make([]string, n)
		for i := range to.Tags {
			to.Tags[i] = r.share()
		}
	}
	if flags&hasImportance != 0 {
		if raw := r.bytes(4); raw != "" {
			*importance = math.Float32frombits(binary.LittleEndian.Uint32([]byte(raw)))
			to.Importance = importance
		}
	}
	d.Seq = int64(r.number())
	to.CreatedAt, d.Updated = r.time(), r.time()
	copy(d.Derived.Words[:], r.bytes(len(d.Derived.Words)))
	if flags&hasRest == 0 {
		return nil
	}
	// The fields that were read are empty in it.
	var more imageRest
	if err := imageDecoding.Unmarshal([]byte(r.text()), &more); err != nil || more.Record == nil {
		return errors.Join(errNoImage, err)
	}
	for i, from := range fieldsOf(to).own {
		*fieldsOf(more.Record).own[i] = *from
	}
	for i, from := range fieldsOf(to).shared {
		*fieldsOf(more.Record).shared[i] = *from
	}
	more.Record.Tags, more.Record.Importance, more.Record.CreatedAt = to.Tags, to.Importance, to.CreatedAt
	*to, d.Heritage = *more.Record, more.Heritage
	return nil
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

// bytes reads n bytes.
func (r *documentReader) bytes(n int) string {
	if n < 0 || n > r.left() {
		r.fail()
		return ""
	}
	r.at += n
	return r.section[r.at-n : r.at]
}

func (r *documentReader) text() string { return r.bytes(r.number()) }

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
		n := r.number()
		seconds := int64(n >> 1)
		if n&1 == 1 {
			seconds = ^seconds
		}
		return time.Unix(seconds, int64(r.number())).UTC()
	default:
		t, err := time.Parse(time.RFC3339Nano, r.text())
		r.bad = r.bad || err != nil
		return t
	}
}
