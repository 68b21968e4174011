package ledger

import (
	"bytes"
	"errors"
	"io"
)

var errTooLong = errors.New("longer than a line may be")

// rawLine is what lies between two newlines.
type rawLine struct {
	off        int64  // of its first byte
	text       []byte // without newline, valid until the next call; nil if longer than a line may be
	terminated bool
	nul        bool // only for a line that is too long: it holds a NUL byte
}

// scanner splits the bytes [off, size) of a file into lines. It holds at most one line, of at most
// maxLine bytes, in memory.
type scanner struct {
	r         io.ReaderAt
	off, size int64  // of the bytes not read yet
	buf       []byte // read and not returned yet
	store     []byte // buf's memory
}

// next returns the next line, io.EOF behind the last.
func (s *scanner) next() (rawLine, error) {
	start := s.off - int64(len(s.buf))
	if start >= s.size {
		return rawLine{}, io.EOF
	}
	searched := 0
	for {
		if i := bytes.IndexByte(s.buf[searched:], '\n'); i >= 0 {
			i += searched
			raw := rawLine{off: start, text: s.buf[:i:i], terminated: true}
			s.buf = s.buf[i+1:]
			if i+1 > maxLine {
				raw.nul = bytes.IndexByte(raw.text, 0) >= 0
				raw.text = nil
			}
			return raw, nil
		}
		searched = len(s.buf)
		if s.off == s.size {
			raw := rawLine{off: start, text: s.buf}
			s.buf = nil
			return raw, nil
		}
		if len(s.buf) >= maxLine {
			return s.skip(start)
		}
		if err := s.fill(); err != nil {
			return rawLine{}, err
		}
	}
}

// skip passes over the rest of a line that is too long.
func (s *scanner) skip(start int64) (rawLine, error) {
	raw := rawLine{off: start}
	for {
		i := bytes.IndexByte(s.buf, '\n')
		part := s.buf
		if i >= 0 {
			part = s.buf[:i]
		}
		raw.nul = raw.nul || bytes.IndexByte(part, 0) >= 0
		if i >= 0 {
			raw.terminated = true
			s.buf = s.buf[i+1:]
			return raw, nil
		}
		s.buf = nil
		if s.off == s.size {
			return raw, nil
		}
		if err := s.fill(); err != nil {
			return rawLine{}, err
		}
	}
}

// fill reads more behind buf.
func (s *scanner) fill() error {
	const chunk = 256 << 10
	n := int(min(s.size-s.off, max(chunk, int64(len(s.buf)))))
	if have := len(s.buf); cap(s.store) < have+n {
		s.store = append(make([]byte, 0, have+n), s.buf...)
	} else {
		s.store = append(s.store[:0], s.buf...)
	}
	have := len(s.store)
	s.store = s.store[:have+n]
	// What was measured is there: less is an error, not an end.
	if _, err := s.r.ReadAt(s.store[have:], s.off); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	s.off += int64(n)
	s.buf = s.store
	return nil
}

// torn decides whether the bad line and what follows it are what an interrupted write left; see the
// package comment for the rule.
func (s *scanner) torn(bad rawLine) (bool, error) {
	if !bad.terminated {
		return true, nil
	}
	nul := bad.nul || bytes.IndexByte(bad.text, 0) >= 0
	for {
		raw, err := s.next()
		if errors.Is(err, io.EOF) {
			return nul, nil
		}
		if err != nil {
			return false, err
		}
		nul = nul || raw.nul || bytes.IndexByte(raw.text, 0) >= 0
		if raw.text != nil {
			if _, err := decodeLine(raw.text); err == nil {
				return false, nil
			}
		}
	}
}
