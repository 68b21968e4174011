package keyword

import (
	"encoding/binary"
	"errors"
	"slices"
)

// An image of an index is what a later process restores it from, instead of tokenizing every text again: numbers of
// variable length, in the order of Index.Image. Its reader must know that a program with the same Version wrote it.

// Version changes when the same text would be indexed in another way.
const Version = 1

var errImage = errors.New("damaged image of a keyword index")

// Image returns the index in a form that FromImage reads. Documents that were removed are left out, and the others are
// numbered again, in order. What only removed documents contained is not in it.
func (x *Index) Image() []byte {
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
	heads := 0
	for _, d := range x.docs {
		heads += int(d.size)
	}
	w := imageWriter(make([]byte, 0, 4*(postings+heads)))
	for _, n := range []int{int(docs), int(terms), postings, heads} {
		w.number(n)
	}
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
		w.number(int(d.size))
		for _, t := range x.head(int32(doc)) { // fewer than 2^31 memories
			w.number(int(kept[t]))
		}
	}
	for t, list := range x.postings {
		if len(list) == 0 {
			continue
		}
		w.number(len(stems[t]))
		w = append(w, stems[t]...)
		w.number(len(list))
		last := int32(0)
		for _, p := range list {
			n := number[p.doc]
			w.number(int(n - last))
			last = n
			// Most words are in a text once, within its head.
			if p.all == p.head {
				w.number(int(p.all) << 1)
			} else {
				w.number(int(p.all)<<1 | 1)
				w.number(int(p.head))
			}
		}
	}
	return w
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
	docs, terms, postings, heads := r.number(), r.number(), r.number(), r.number()
	// Each of them takes a byte or more.
	if r.bad || docs+terms+postings+heads > len(image) {
		return nil, errImage
	}
	x := &Index{
		terms: make(map[string]int32, terms), words: map[string]int32{}, live: docs,
		postings: make([][]posting, terms), links: make([]link, docs), docs: make([]document, docs),
	}
	allHeads, block := make([]int32, 0, heads), 0 // block is where the list of the last headBlock documents begins
	for doc := range x.docs {
		if doc%headBlock == 0 {
			block = len(allHeads)
			x.heads = append(x.heads, nil)
		}
		words, before, n := r.number(), r.number()-1, r.number()
		if r.bad || before >= doc || n > cap(allHeads)-len(allHeads) {
			return nil, errImage
		}
		from := len(allHeads)
		for range n {
			t := r.number()
			if t >= terms {
				return nil, errImage
			}
			allHeads = append(allHeads, int32(t)) //nolint:gosec // below terms
		}
		//nolint:gosec // a text has at most a million words
		x.docs[doc] = document{words: int32(words), from: uint32(from - block), size: int32(n)}
		x.heads[len(x.heads)-1] = slices.Clip(allHeads[block:])
		x.links[doc] = link{int32(before), -1} //nolint:gosec // below doc
		if before >= 0 {
			x.links[before].successor = int32(doc) // fewer than 2^31 memories
		}
	}
	allPostings := make([]posting, 0, postings)
	for t := range x.postings {
		stem, n := r.text(), r.number()
		if r.bad || n > cap(allPostings)-len(allPostings) {
			return nil, errImage
		}
		from, doc := len(allPostings), 0
		for range n {
			doc += r.number()
			all := r.number()
			head := all >> 1
			if all&1 == 1 {
				head = r.number()
			}
			if doc >= docs {
				return nil, errImage
			}
			//nolint:gosec // they were of these types
			allPostings = append(allPostings, posting{int32(doc), uint16(all >> 1), uint16(head)})
		}
		x.terms[stem] = int32(t) // below terms
		x.postings[t] = slices.Clip(allPostings[from:])
	}
	if r.bad || r.at < len(image) {
		return nil, errImage
	}
	return x, nil
}

// imageWriter appends numbers and strings, in the form that imageReader reads.
type imageWriter []byte

func (w *imageWriter) number(n int) {
	*w = binary.AppendUvarint(*w, uint64(n)) //nolint:gosec // no number is negative
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

// text reads a string: its length in bytes and its bytes.
func (r *imageReader) text() string {
	n := r.number()
	if n > len(r.image)-r.at {
		r.fail()
		return ""
	}
	r.at += n
	return string(r.image[r.at-n : r.at])
}
