package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"
)

const (
	maxLine  = 16 << 20 // bytes of a line with its newline
	maxHead  = 1 << 10  // more than any line takes up to its body
	hashLen  = 2 * sha256.Size
	saltLen  = 32
	timeForm = "2006-01-02T15:04:05.000Z"

	erasedEnd = `null,"erased":true}`
)

// Genesis is the prev of a ledger's first line: the SHA-256 of "GENESIS" in hexadecimal.
var Genesis = digest("GENESIS")

// digest is the SHA-256 of text in hexadecimal.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// ErrVersion means that a line is of a format this program does not know.
var ErrVersion = errors.New("written by a newer version of this program")

var errMalformed = errors.New("not a ledger line")

// line is a decoded line. Its slices point into the text it was decoded from.
type line struct {
	version                   int    // 1 or 2
	ledger                    string // "" in version 1
	seq                       int64
	time                      time.Time
	op, id                    string
	bodyHash, prev, hash, mac []byte
	head                      []byte // from the first byte to before `,"hash"`
	body                      []byte // nil once erased
}

// appendHead writes a line of the ledger called name up to before `,"hash"`, one of version 1 if it is "".
func appendHead(dst []byte, name string, seq int64, at time.Time, op, id string, bodyHash [sha256.Size]byte,
	prev string,
) []byte {
	if name == "" {
		dst = append(dst, `{"v":1,"seq":`...)
	} else {
		dst = append(dst, `{"v":2,"ledger":"`...)
		dst = append(dst, name...)
		dst = append(dst, `","seq":`...)
	}
	dst = strconv.AppendInt(dst, seq, 10)
	dst = append(dst, `,"time":"`...)
	dst = at.AppendFormat(dst, timeForm)
	dst = append(dst, `","op":"`...)
	dst = append(dst, op...)
	dst = append(dst, `","id":"`...)
	dst = append(dst, id...)
	dst = append(dst, `","body_hash":"`...)
	dst = hex.AppendEncode(dst, bodyHash[:])
	dst = append(dst, `","prev":"`...)
	dst = append(dst, prev...)
	return append(dst, '"')
}

// decodeHead reads a line up to `"body":` and returns what follows. It checks form, not hashes.
func decodeHead(text []byte) (l line, rest []byte, err error) {
	s := fields{rest: text}
	s.token(`{"v":`)
	switch v := s.until(','); {
	case v == "1":
		l.version = 1
	case v == "2":
		l.version = 2
		s.token(`,"ledger":"`)
		if l.ledger = s.until('"'); !isName(l.ledger) {
			return line{}, nil, errMalformed
		}
		s.token(`"`)
	case len(v) > 0 && len(v) < 10 && strings.Trim(v, "0123456789") == "" && v[0] != '0':
		return line{}, nil, ErrVersion
	default:
		return line{}, nil, errMalformed
	}
	s.token(`,"seq":`)
	seq := s.until(',')
	s.token(`,"time":"`)
	at := s.until('"')
	s.token(`","op":"`)
	l.op = s.until('"')
	s.token(`","id":"`)
	l.id = s.until('"')
	s.token(`","body_hash":"`)
	l.bodyHash = s.hex(hashLen)
	s.token(`","prev":"`)
	l.prev = s.hex(hashLen)
	s.token(`"`)
	l.head = text[:len(text)-len(s.rest)]
	s.token(`,"hash":"`)
	l.hash = s.hex(hashLen)
	s.token(`","mac":"`)
	l.mac = s.hex(hashLen)
	s.token(`","body":`)
	if s.bad || !isOp(l.op) || !isID(l.id) {
		return line{}, nil, errMalformed
	}
	// Numbers and times have one form only.
	l.seq, err = strconv.ParseInt(seq, 10, 64)
	if err != nil || l.seq < 1 || strconv.FormatInt(l.seq, 10) != seq {
		return line{}, nil, errMalformed
	}
	if len(at) != len(timeForm) || at[19] != '.' || at[23] != 'Z' {
		return line{}, nil, errMalformed
	}
	l.time, err = time.Parse(time.RFC3339Nano, at) // much faster than with timeForm
	if err != nil {
		return line{}, nil, errMalformed
	}
	return l, s.rest, nil
}

// decodeLine reads a line without its newline and checks it against its own hashes.
func decodeLine(text []byte) (line, error) {
	l, rest, err := decodeHead(text)
	if err != nil {
		return line{}, err
	}
	if string(rest) != erasedEnd {
		body, ok := bytes.CutSuffix(rest, []byte{'}'})
		if !ok {
			return line{}, errMalformed
		}
		if !hashes(body, l.bodyHash) {
			return line{}, errors.New("the body does not match its hash")
		}
		l.body = body
	}
	var scratch [maxHead]byte
	if !hashes(append(append(scratch[:0], l.head...), '}'), l.hash) {
		return line{}, errors.New("the head does not match its hash")
	}
	return l, nil
}

// hashes reports whether hexHash is the SHA-256 of text.
func hashes(text, hexHash []byte) bool {
	sum := sha256.Sum256(text)
	var digits [hashLen]byte
	hex.Encode(digits[:], sum[:])
	return bytes.Equal(digits[:], hexHash)
}

// entry makes an Entry of a line, copying what it keeps. prev is l.prev as a string.
func (l line) entry(prev string) (Entry, error) {
	e := Entry{Seq: l.seq, Time: l.time, Op: l.op, ID: l.id, PrevHash: prev, Hash: string(l.hash), Erased: l.body == nil}
	if l.body == nil {
		return e, nil
	}
	s := fields{rest: l.body}
	s.token(`{"salt":"`)
	s.hex(saltLen)
	s.token(`","block":`)
	text := s.jsonString()
	s.token(`,"data":`)
	data, ok := bytes.CutSuffix(s.rest, []byte{'}'})
	if s.bad || !ok || json.Unmarshal(text, &e.Block) != nil || !json.Valid(data) {
		return Entry{}, errors.New("the body is not one of a ledger line")
	}
	if string(data) != "null" {
		e.Data = bytes.Clone(data)
	}
	return e, nil
}

// fields reads a text of fixed form from left to right. Once bad it stays bad.
type fields struct {
	rest []byte
	bad  bool
}

// token consumes want, which must come next.
func (s *fields) token(want string) {
	rest, ok := bytes.CutPrefix(s.rest, []byte(want))
	if s.bad = s.bad || !ok; !s.bad {
		s.rest = rest
	}
}

// until takes what precedes the next end byte, which stays.
func (s *fields) until(end byte) string {
	i := bytes.IndexByte(s.rest[:min(len(s.rest), maxHead)], end)
	if s.bad = s.bad || i < 0; s.bad {
		return ""
	}
	text := string(s.rest[:i])
	s.rest = s.rest[i:]
	return text
}

// hexDigit is a table because every line has a few hundred digits.
var hexDigit = func() (table [256]bool) {
	for _, c := range []byte("0123456789abcdef") {
		table[c] = true
	}
	return table
}()

// hex takes n lowercase hexadecimal digits.
func (s *fields) hex(n int) []byte {
	if s.bad = s.bad || len(s.rest) < n; s.bad {
		return nil
	}
	digits := s.rest[:n]
	for _, c := range digits {
		if !hexDigit[c] {
			s.bad = true
			return nil
		}
	}
	s.rest = s.rest[n:]
	return digits
}

// jsonString takes a JSON string with its quotes; what is between them is not checked.
func (s *fields) jsonString() []byte {
	if s.bad = s.bad || len(s.rest) == 0 || s.rest[0] != '"'; s.bad {
		return nil
	}
	for i := 1; i < len(s.rest); i++ {
		switch s.rest[i] {
		case '\\':
			i++
		case '"':
			text := s.rest[:i+1]
			s.rest = s.rest[i+1:]
			return text
		}
	}
	s.bad = true
	return nil
}

// isOp reports whether s may be an entry's operation.
func isOp(s string) bool {
	if s == "" || len(s) > 32 || s[0] < 'a' || s[0] > 'z' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return true
}

// isName reports whether s can be the name of a ledger.
func isName(s string) bool { return s != "" && isID(s) }

// isID reports whether s may be an entry's ID; "" is allowed.
func isID(s string) bool {
	if len(s) > 128 {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '.', c == ':', c == '-':
		default:
			return false
		}
	}
	return true
}
