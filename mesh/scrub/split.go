package scrub

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/chars"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/markup"
)

// splitter is one run of Split.
type splitter struct {
	text string
	o    ChunkOptions
	out  []Chunk
}

func (s *splitter) count(start, end int) int { return s.o.Count(s.text[start:end]) }

// add appends text[start:end] as a chunk, without the white space around it.
func (s *splitter) add(start, end int, path []string) {
	for start < end {
		r, n := utf8.DecodeRuneInString(s.text[start:end])
		if !unicode.IsSpace(r) {
			break
		}
		start += n
	}
	end = start + len(strings.TrimRightFunc(s.text[start:end], unicode.IsSpace))
	if start == end {
		return
	}
	s.out = append(s.out, Chunk{
		Start: start, End: end, Text: s.text[start:end], Headings: path,
		Tokens: s.count(start, end),
	})
}

// packing is the part of the text that becomes the next chunk; start is -1
// without one.
type packing struct {
	start, end int
	tokens     int // at least those of text[start:end]
	path       []string
}

// grow extends p to end, if the chunk then still fits. The parts are counted
// one by one; only when their sum is too large is the whole counted.
func (s *splitter) grow(p *packing, end int) bool {
	n := p.tokens + s.count(p.end, end)
	if n > s.o.Max {
		if n = s.count(p.start, end); n > s.o.Max {
			return false
		}
	}
	p.end, p.tokens = end, n
	return true
}

// flush adds the chunk that is being packed, and begins the next.
func (s *splitter) flush(p *packing) {
	if p.start >= 0 {
		s.add(p.start, p.end, p.path)
	}
	p.start = -1
}

// sections packs blocks into chunks. A section that does not fit with what
// is before it begins a chunk; small neighbours share one, under the
// headings they have in common. A heading stays with what follows it.
func (s *splitter) sections() {
	var (
		path   []string // of the section at hand
		levels []int
	)
	p := packing{start: -1}
	blocks := markup.Blocks(s.text)
	for i, b := range blocks {
		if b.Kind == markup.Heading {
			for len(levels) > 0 && levels[len(levels)-1] >= b.Level {
				levels, path = levels[:len(levels)-1], path[:len(path)-1]
			}
			levels = append(levels, b.Level)
			path = append(slices.Clone(path), strings.TrimSpace(s.text[b.Start+b.Level:b.End]))
			if whole := p; p.start >= 0 && !s.grow(&whole, s.sectionEnd(blocks, i)) {
				s.flush(&p)
			}
		}
		if p.start >= 0 && s.grow(&p, b.End) {
			p.path = common(p.path, path)
			continue
		}
		if i > 0 && blocks[i-1].Kind == markup.Heading && p.start >= 0 {
			if title := blocks[i-1].Start; title > p.start { // the heading above would be left in the chunk before
				s.add(p.start, title, p.path)
				p = packing{start: title, end: blocks[i-1].End, tokens: s.count(title, blocks[i-1].End), path: slices.Clone(path)}
				if s.grow(&p, b.End) {
					continue
				}
			}
		}
		s.flush(&p)
		if n := s.count(b.Start, b.End); n <= s.o.Max {
			p = packing{start: b.Start, end: b.End, tokens: n, path: slices.Clone(path)}
			continue
		}
		s.cutBlock(b, slices.Clone(path))
	}
	s.flush(&p)
}

// sectionEnd returns where the section that blocks[i] heads ends.
func (s *splitter) sectionEnd(blocks []markup.Block, i int) int {
	for k := i + 1; k < len(blocks); k++ {
		if blocks[k].Kind == markup.Heading {
			return blocks[k-1].End
		}
	}
	return len(s.text)
}

// common returns the elements that a and b begin with.
func common(a, b []string) []string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return a[:n]
}

// cutBlock cuts a block of more than Max tokens.
func (s *splitter) cutBlock(b markup.Block, path []string) {
	if (b.Kind == markup.Code || b.Kind == markup.Table) && s.count(b.Start, b.End) <= s.o.HardMax {
		s.add(b.Start, b.End, path)
		return
	}
	ends := sentenceEnds
	if b.Kind != markup.Prose {
		ends = lineEnds
	}
	s.pack(b.Start, b.End, path, ends(s.text, b.Start, b.End), func(start, end int) {
		s.pack(start, end, path, wordEnds(s.text, start, end), func(start, end int) {
			s.cutWord(start, end, path)
		})
	})
}

// pack joins the pieces that end at ends into chunks, and has what is still
// too large cut.
func (s *splitter) pack(start, end int, path []string, ends []int, cut func(start, end int)) {
	p := packing{start: start, end: start, path: path}
	for _, e := range append(ends, end) {
		if e <= p.end || s.grow(&p, e) {
			continue
		}
		at := p.end
		s.flush(&p)
		p = packing{start: at, end: at, path: path}
		if !s.grow(&p, e) {
			cut(at, e)
			p.start, p.end = e, e
		}
	}
	s.flush(&p)
}

// cutWord cuts a word of more than Max tokens: whole up to HardMax, then
// between characters.
func (s *splitter) cutWord(start, end int, path []string) {
	if s.count(start, end) <= s.o.HardMax {
		s.add(start, end, path)
		return
	}
	for start < end {
		lo, hi := 1, min(end-start, 32*s.o.Max) // the longest prefix within Max, by halving
		for lo < hi {
			mid := (lo + hi + 1) / 2
			if s.count(start, runeBoundary(s.text, start+mid, start)) <= s.o.Max {
				lo = mid
			} else {
				hi = mid - 1
			}
		}
		next := runeBoundary(s.text, start+lo, start)
		s.add(start, next, path)
		start = next
	}
}

// runeBoundary moves i back to the beginning of a rune, or past the first
// rune after start.
func runeBoundary(text string, i, start int) int {
	for i > start && i < len(text) && !utf8.RuneStart(text[i]) {
		i--
	}
	if i == start {
		_, n := utf8.DecodeRuneInString(text[start:])
		i += n
	}
	return i
}

// lineEnds returns the offsets after each line feed of text[start:end].
func lineEnds(text string, start, end int) []int {
	var out []int
	for i := start; i < end; i++ {
		if text[i] == '\n' {
			out = append(out, i+1)
		}
	}
	return out
}

// sentenceEnds returns the positions after sentences and lines.
func sentenceEnds(text string, start, end int) []int {
	var out []int
	for i, r := range text[start:end] {
		p := start + i
		switch r {
		case '\n':
			out = append(out, p+1)
		case '.', '!', '?', '…':
			if n := p + utf8.RuneLen(r); n < end && text[n] == ' ' {
				out = append(out, p+utf8.RuneLen(r)+1)
			}
		case '。', '！', '？', '؟', '।':
			out = append(out, p+utf8.RuneLen(r))
		}
	}
	return out
}

// wordEnds returns the offsets at which text[start:end] may be cut between words: after white space, and after each
// character of a script without spaces.
func wordEnds(text string, start, end int) []int {
	var out []int
	for i, r := range text[start:end] {
		if unicode.IsSpace(r) {
			out = append(out, start+i+utf8.RuneLen(r))
		} else if chars.IsUnspaced(r) {
			out = append(out, start+i+utf8.RuneLen(r))
		}
	}
	return out
}

// joinSmall joins chunks below Min tokens to a neighbour they fit with.
func (s *splitter) joinSmall() {
	for i := 0; i < len(s.out); i++ {
		if s.out[i].Tokens >= s.o.Min || len(s.out) == 1 {
			continue
		}
		for _, k := range []int{i, i - 1} { // with the next, else the one before
			if k < 0 || k+1 >= len(s.out) || s.count(s.out[k].Start, s.out[k+1].End) > s.o.Max {
				continue
			}
			a, b := s.out[k], s.out[k+1]
			s.out = slices.Delete(s.out, k, k+2)
			whole := s.out
			s.out = nil
			s.add(a.Start, b.End, common(a.Headings, b.Headings))
			s.out = slices.Insert(whole, k, s.out[0])
			i = max(-1, k-1)
			break
		}
	}
}
