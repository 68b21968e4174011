package scrub

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind names a class of personal data or credential. The list is closed:
// [Kinds] holds all of them, and docs/redaction.md describes them.
type Kind string

// The kinds, in the order of docs/redaction.md.
const (
	Email      Kind = "email"
	Phone      Kind = "phone"
	Card       Kind = "card"
	IBAN       Kind = "iban"
	SSN        Kind = "ssn"
	IP         Kind = "ip"
	APIKey     Kind = "api_key"
	Token      Kind = "token"
	PrivateKey Kind = "private_key"
	Password   Kind = "password"
)

// Kinds returns every kind, in documentation order. The slice is the caller's.
func Kinds() []Kind {
	return []Kind{Email, Phone, Card, IBAN, SSN, IP, APIKey, Token, PrivateKey, Password}
}

// Placeholder is what stands in a text for a redacted value of kind k. It is
// a fixed point: scrubbing a text that contains placeholders keeps them.
func Placeholder(k Kind) string { return "[REDACTED:" + string(k) + "]" }

// secret reports whether a text that is nothing but a value of this kind
// belongs into a secret store and not into a memory (RFC-0009 §4.2).
func (k Kind) secret() bool {
	switch k {
	case APIKey, Token, PrivateKey, Password, Card, SSN:
		return true
	}
	return false
}

// rank orders kinds for overlapping findings: the lowest names the result.
func (k Kind) rank() int {
	return slices.Index([]Kind{PrivateKey, APIKey, Token, Password, Card, IBAN, SSN, Email, Phone, IP}, k)
}

// Redaction says how many values of one kind were removed; never which.
type Redaction struct {
	Kind  Kind `json:"kind"`
	Count int  `json:"count"`
}

// Finding is a value to redact: the bytes [Start,End) of the text searched.
type Finding struct {
	Kind       Kind
	Start, End int
}

// Detector finds values to redact. Implementations are safe for concurrent
// use, look at nothing but the text, and may return findings in any order,
// also overlapping ones.
type Detector interface {
	Detect(text string) []Finding
}

// detectorFunc adapts a function to Detector.
type detectorFunc func(string) []Finding

func (f detectorFunc) Detect(text string) []Finding { return f(text) }

// personal are the detectors that need no rule file.
var personal = []Detector{
	detectorFunc(findEmails),
	detectorFunc(findNumbers),
	detectorFunc(findIBANs),
	detectorFunc(findIPs),
	detectorFunc(findPrivateKeys),
	detectorFunc(findURLPasswords),
	detectorFunc(findAuthHeaders),
	detectorFunc(findTokens),
	detectorFunc(findPasswords),
}

// maxPasses bounds how often a text is searched again after a change. A value
// can come to light when its neighbour is replaced, but two passes settle
// every text seen, and each pass only ever removes.
const maxPasses = 8

// Redact returns text with personal data and credentials replaced by their
// placeholders (RFC-0011 §6.3), and what was replaced, sorted by kind. It
// changes nothing else. Redacting the result again changes nothing.
//
// SECURITY: everything that is stored, embedded, sent or logged has passed
// through here (Scrub calls it).
func (s *Scrubber) Redact(text string) (string, []Redaction) {
	counts := make(map[Kind]int)
	return s.redact(text, counts), tally(counts)
}

func (s *Scrubber) redact(text string, counts map[Kind]int) string {
	for range maxPasses {
		found := s.find(text)
		if len(found) == 0 {
			break
		}
		var b strings.Builder
		b.Grow(len(text))
		last := 0
		for _, f := range found {
			b.WriteString(text[last:f.Start])
			b.WriteString(Placeholder(f.Kind))
			counts[f.Kind]++
			last = f.End
		}
		b.WriteString(text[last:])
		text = b.String()
	}
	return text
}

// find returns what is to be replaced in text: in order, without overlaps.
func (s *Scrubber) find(text string) []Finding {
	var all []Finding
	for _, d := range personal {
		all = append(all, d.Detect(text)...)
	}
	all = append(all, s.secrets.Detect(text)...)
	if len(all) == 0 {
		return nil
	}
	kept := placeholders(text)
	opaque := dataURIs(text)
	all = slices.DeleteFunc(all, func(f Finding) bool {
		return f.Start >= f.End || inside(opaque, f) || !hasValue(text, kept, f)
	})
	for i := range all {
		all[i] = widen(kept, all[i])
	}
	return merge(all)
}

// merge joins overlapping findings, so that no part of a value survives
// because another detector saw a shorter one.
func merge(all []Finding) []Finding {
	slices.SortFunc(all, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End), cmp.Compare(a.Kind.rank(), b.Kind.rank()))
	})
	out := all[:0]
	for _, f := range all {
		if n := len(out); n > 0 && f.Start < out[n-1].End {
			last := &out[n-1]
			last.End = max(last.End, f.End)
			if f.Kind.rank() < last.Kind.rank() {
				last.Kind = f.Kind
			}
			continue
		}
		out = append(out, f)
	}
	return out
}

// span is a byte range [start,end).
type span struct{ start, end int }

func inside(spans []span, f Finding) bool {
	for _, s := range spans {
		if f.Start >= s.start && f.End <= s.end {
			return true
		}
	}
	return false
}

// placeholders returns where text already has placeholders.
func placeholders(text string) []span {
	const open = "[REDACTED:"
	var spans []span
	for at := 0; ; {
		i := strings.Index(text[at:], open)
		if i < 0 {
			return spans
		}
		start := at + i
		at = start + len(open)
		for _, k := range Kinds() {
			if strings.HasPrefix(text[at:], string(k)+"]") {
				at += len(k) + 1
				spans = append(spans, span{start, at})
				break
			}
		}
	}
}

// hasValue reports whether a finding covers a letter or digit outside the
// placeholders; what covers none has been redacted before.
func hasValue(text string, kept []span, f Finding) bool {
	for i, r := range text[f.Start:f.End] {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			continue
		}
		if p := f.Start + i; !inside(kept, Finding{Start: p, End: p + utf8.RuneLen(r)}) {
			return true
		}
	}
	return false
}

// widen extends a finding that ends within a placeholder to all of it.
func widen(kept []span, f Finding) Finding {
	for _, p := range kept {
		if f.Start < p.end && p.start < f.End {
			f.Start, f.End = min(f.Start, p.start), max(f.End, p.end)
		}
	}
	return f
}

// dataURIs returns the base64 payloads of data URIs: images and the like,
// where any pattern may occur by chance.
func dataURIs(text string) []span {
	const mark = ";base64,"
	var spans []span
	for at := 0; ; {
		i := strings.Index(text[at:], mark)
		if i < 0 {
			return spans
		}
		start := at + i + len(mark)
		at = start
		for at < len(text) && isBase64(text[at]) {
			at++
		}
		if strings.Contains(text[max(0, start-100):start], "data:") {
			spans = append(spans, span{start, at})
		}
	}
}

func isBase64(c byte) bool {
	return isAlnum(c) || c == '+' || c == '/' || c == '='
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isAlpha(c byte) bool { return isUpper(c) || isLower(c) }
func isAlnum(c byte) bool { return isAlpha(c) || isDigit(c) }

func isHex(c byte) bool {
	return isDigit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// byteAt returns text[i], and a space beyond either end.
func byteAt(text string, i int) byte {
	if i < 0 || i >= len(text) {
		return ' '
	}
	return text[i]
}

// lowerASCII is strings.ToLower for ASCII alone: offsets stay the same.
func lowerASCII(s string) string {
	for i := range len(s) {
		if isUpper(s[i]) {
			b := []byte(s)
			for ; i < len(b); i++ {
				if isUpper(b[i]) {
					b[i] += 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return s
}

func tally(counts map[Kind]int) []Redaction {
	out := make([]Redaction, 0, len(counts))
	for k, n := range counts {
		out = append(out, Redaction{Kind: k, Count: n})
	}
	slices.SortFunc(out, func(a, b Redaction) int { return cmp.Compare(a.Kind, b.Kind) })
	return out
}
