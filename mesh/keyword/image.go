package keyword

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
)

// An image of an index is what a later process restores it from, instead of tokenizing every text again: numbers of
// variable length, in the order of Index.Image. Its reader must know that a program with the same Version wrote it.

// Version changes when the same text would be indexed in another way.
const Version = 2

var errImage = errors.New("damaged image of a keyword index")

// Image writes the index in a form that FromImage reads. Documents that were removed are left out, and the others are
// numbered again, in order. What only removed documents contained is not in it.
func (x *Index) Image(to io.Writer) error {
	number := make([]int32, len(x.docs)) // of a document in the image
	removed := x.removed()
	docs := int32(0)
	for doc := range number {
		if removed[doc] {
			number[doc] = -1
			continue
		}
		number[doc] = docs
		docs++
	}
	stems := make([]string, len(x.postings))
	for stem, t := range x.terms {
		stems[t] = stem
	}
	kept, terms, postings := make([]int32, len(stems)), int32(0), 0
	for t, list := range x.postings {
		postings += len(list)
		if len(list) > 0 {
			kept[t] = terms
			terms++
		}
	}
	w := imageWriter{to: to}
	for _, n := range []int{int(docs), int(terms), postings} {
		w.number(n)
	}
	var head []byte
	for doc, d := range x.docs {
		if removed[doc] {
			continue
		}
		w.number(int(d.words))
		before := -1
		if p := x.links[doc].predecessor; p >= 0 {
			before = int(number[p])
		}
		w.number(before + 1)
		head = head[:0]
		for t := range x.head(int32(doc)) { // fewer than 2^31 memories
			head = binary.AppendUvarint(head, uint64(kept[t])) //nolint:gosec // not negative
		}
		w.bytes(head)
	}
	for t, list := range x.postings {
		if len(list) == 0 {
			continue
		}
		w.bytes([]byte(stems[t]))
		w.number(len(list))
		last := int32(0)
		for _, p := range list {
			n := number[p.doc()]
			w.number(int(n - last))
			last = n
			// Most words are in a text once, within its head.
			m := x.mentions(int32(t), p) // fewer than 2^31 stems
			if m.tail == 0 {
				w.number(int(m.head) << 1)
			} else {
				w.number(int(m.head)<<1 | 1)
				w.number(int(m.tail))
			}
		}
	}
	return w.flush()
}

// removed returns which documents were removed.
func (x *Index) removed() []bool {
	removed := make([]bool, len(x.docs))
	for doc, d := range x.docs {
		removed[doc] = d.words == gone
	}
	return removed
}

// FromImage returns the index of an image. The index does not use image's memory.
func FromImage(image []byte) (*Index, error) {
	r := imageReader{image: image}
	docs, terms, postings := r.number(), r.number(), r.number()
	// Each of them takes a byte or more.
	if r.bad || docs+terms+postings > len(image) || docs > maxDocuments {
		return nil, errImage
	}
	x := &Index{
		terms: make(map[string]int32, terms), words: map[string]int32{}, live: docs,
		postings: make([][]posting, terms), links: make([]link, docs), docs: make([]document, docs),
		many: map[place]mentions{},
	}
	var heads []byte // of the last headBlock documents
	for doc := range x.docs {
		words, before, head := r.number(), r.number()-1, r.bytes()
		if r.bad || before >= doc || !stemsBelow(terms, head) {
			return nil, errImage
		}
		//nolint:gosec // a text has at most a million words
		x.docs[doc] = document{words: int32(words), from: uint32(len(heads)), size: int32(len(head))}
		heads = append(heads, head...)
		if doc%headBlock == headBlock-1 || doc == docs-1 {
			x.heads, heads = append(x.heads, bytes.Clone(heads)), heads[:0]
		}
		x.links[doc] = link{int32(before), -1} //nolint:gosec // below doc
		if before >= 0 {
			x.links[before].successor = int32(doc) // fewer than 2^31 memories
		}
	}
	allPostings := make([]posting, 0, postings)
	for t := range x.postings {
		stem, n := string(r.bytes()), r.number()
		if r.bad || n > cap(allPostings)-len(allPostings) {
			return nil, errImage
		}
		from, doc := len(allPostings), 0
		for range n {
			doc += r.number()
			head, tail := r.number(), 0
			if head&1 == 1 {
				tail = r.number()
			}
			if doc >= docs || head>>1+tail == 0 {
				return nil, errImage
			}
			//nolint:gosec // they were of these types
			p := x.posting(int32(t), int32(doc), mentions{uint16(head >> 1), uint16(tail)})
			allPostings = append(allPostings, p)
		}
		x.terms[stem] = int32(t) // below terms
		x.postings[t] = slices.Clip(allPostings[from:])
	}
	if r.bad || r.at < len(image) {
		return nil, errImage
	}
	return x, nil
}

// stemsBelow reports whether a head has whole numbers below n only.
func stemsBelow(n int, head []byte) bool {
	r := imageReader{image: head}
	for r.at < len(head) {
		if r.number() >= n {
			return false
		}
	}
	return !r.bad
}

// imageWriter writes numbers and bytes, in the form that imageReader reads. Its error is that of flush.
type imageWriter struct {
	to  io.Writer
	buf []byte // not written yet
	err error
}

// imagePart is the number of bytes that are written at a time.
const imagePart = 64 << 10

func (w *imageWriter) number(n int) {
	w.buf = binary.AppendUvarint(w.buf, uint64(n)) //nolint:gosec // no number is negative
	if len(w.buf) >= imagePart {
		_ = w.flush() // which is called at the end, too
	}
}

// bytes writes their number and them.
func (w *imageWriter) bytes(b []byte) {
	w.number(len(b))
	w.buf = append(w.buf, b...)
}

// flush writes what is not written yet, unless an earlier write has failed.
func (w *imageWriter) flush() error {
	if w.err == nil {
		_, w.err = w.to.Write(w.buf)
	}
	w.buf = w.buf[:0]
	return w.err
}

// imageReader reads numbers and strings. Once bad it stays bad, and returns zeros.
type imageReader struct {
	image []byte
	at    int // what follows is not read yet
	bad   bool
}

// fail makes r bad.
func (r *imageReader) fail() {
	r.bad, r.at = true, len(r.image)
}

// number reads an unsigned varint. One above 2^40 is damage: no index has so many documents or words.
func (r *imageReader) number() int {
	// Most numbers have one byte.
	if r.at < len(r.image) && r.image[r.at] < 0x80 {
		r.at++
		return int(r.image[r.at-1])
	}
	return r.longNumber()
}

func (r *imageReader) longNumber() int {
	n := uint64(0)
	for shift := 0; shift <= 42 && r.at < len(r.image); shift += 7 {
		b := r.image[r.at]
		r.at++
		n |= uint64(b&0x7f) << shift
		if b < 0x80 && n <= 1<<40 {
			return int(n)
		} else if b < 0x80 {
			break
		}
	}
	r.fail()
	return 0
}

// bytes reads the number of bytes and these, which are image's.
func (r *imageReader) bytes() []byte {
	n := r.number()
	if n > len(r.image)-r.at {
		r.fail()
		return nil
	}
	r.at += n
	return r.image[r.at-n : r.at]
}
