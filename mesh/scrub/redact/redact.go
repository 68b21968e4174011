package redact

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/chars"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/notation"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/prose"
)

// personal are the detectors that need no rule file.
var personal = []Detector{
	detectorFunc(findEmails),
	detectorFunc(findNumbers),
	detectorFunc(findIBANs),
	detectorFunc(findIPs),
	detectorFunc(findPrivateKeys),
	detectorFunc(findEncodedKeys),
	detectorFunc(findURLPasswords),
	detectorFunc(findAuthHeaders),
	detectorFunc(findTokens),
	detectorFunc(notation.Find),
	detectorFunc(prose.Find),
}

// maxPasses bounds how often a text is searched again after a change. A value
// can come to light when its neighbour is replaced, but two passes settle
// every text seen, and each pass only ever removes.
const maxPasses = 8

// Redactor replaces personal data and credentials. It is safe for concurrent
// use, and cheap: rules are loaded on the first use of any.
type Redactor struct {
	secrets Detector
	keep    []Kind
	list    Detector // nil for none
}

// New returns a Redactor that finds credentials with secrets; nil means
// GitleaksRules(). The detectors of personal data and of announced passwords
// are always used.
func New(secrets Detector) *Redactor {
	if secrets == nil {
		secrets = GitleaksRules()
	}
	return &Redactor{secrets: secrets}
}

// Keeping returns a Redactor that leaves values of the given kinds as they are.
//
// SECURITY: a value that another detector also sees is removed all the same: a credential that looks like an address
// is a credential.
func (r *Redactor) Keeping(kinds ...Kind) *Redactor { return &Redactor{r.secrets, kinds, r.list} }

// With returns a Redactor that also redacts what list finds, see [ParseList]. A nil list has nothing.
func (r *Redactor) With(list Detector) *Redactor { return &Redactor{r.secrets, r.keep, list} }

// Redact returns text with personal data and credentials replaced by their
// placeholders (RFC-0011 §6.3), and what was replaced, sorted by kind. It
// changes nothing else. Redacting the result again changes nothing.
//
// SECURITY: everything that is stored, embedded, sent or logged has passed
// through here.
func (r *Redactor) Redact(text string) (string, []Redaction) {
	counts := make(map[Kind]int)
	text = r.Count(text, counts)
	return text, Tally(counts)
}

// RedactOnly is Redact for the values of some kinds: everything else stays as it is.
func (r *Redactor) RedactOnly(text string, kinds []Kind) (string, []Redaction) {
	counts := make(map[Kind]int)
	text = r.replace(text, counts, func(f Finding) bool { return slices.Contains(kinds, f.Kind) })
	return text, Tally(counts)
}

// Count is Redact for a text that is redacted in several steps: it adds what
// was replaced to counts, which Tally lists.
func (r *Redactor) Count(text string, counts map[Kind]int) string {
	return r.replace(text, counts, func(Finding) bool { return true })
}

// replace replaces the findings that admit accepts.
func (r *Redactor) replace(text string, counts map[Kind]int, admit func(Finding) bool) string {
	if text == "" {
		return "" // without loading the rules, which takes longer than reading all lessons
	}
	for range maxPasses {
		found := slices.DeleteFunc(r.find(text), func(f Finding) bool { return !admit(f) })
		if len(found) == 0 {
			break
		}
		text = substitute(text, found, counts)
	}
	return text
}

// Replace returns text with placeholders for findings, which are in order and do not overlap, and their numbers. What
// is never redacted, such as a commit, stays.
func Replace(text string, found []Finding) (string, []Redaction) {
	counts := make(map[Kind]int)
	own := identifiers(text)
	found = slices.DeleteFunc(found, func(f Finding) bool { return inside(own, f) || isPublic(text, f) })
	return substitute(text, found, counts), Tally(counts)
}

// substitute is Replace, and adds the numbers to counts.
func substitute(text string, found []Finding, counts map[Kind]int) string {
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
	return b.String()
}

// Tally lists counts, sorted by kind; it is never nil.
func Tally(counts map[Kind]int) []Redaction {
	out := make([]Redaction, 0, len(counts))
	for k, n := range counts {
		out = append(out, Redaction{Kind: k, Count: n})
	}
	slices.SortFunc(out, func(a, b Redaction) int { return cmp.Compare(a.Kind, b.Kind) })
	return out
}

// find returns the values to replace in text, in order and without overlaps.
func (r *Redactor) find(text string) []Finding {
	var all []Finding
	read := fold(text)
	for _, d := range personal {
		all = append(all, d.Detect(read.text)...)
	}
	all = append(all, r.secrets.Detect(read.text)...)
	if len(all) > 0 {
		own := identifiers(read.text)
		all = slices.DeleteFunc(all, func(f Finding) bool { return inside(own, f) || isPublic(read.text, f) })
	}
	if r.list != nil {
		all = append(all, r.list.Detect(read.text)...)
	}
	for i := range all {
		all[i] = read.original(text, all[i])
	}
	all = slices.DeleteFunc(all, func(f Finding) bool { return slices.Contains(r.keep, f.Kind) })
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
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End), cmp.Compare(rank(a.Kind), rank(b.Kind)))
	})
	out := all[:0]
	for _, f := range all {
		if n := len(out); n > 0 && f.Start < out[n-1].End {
			last := &out[n-1]
			last.End = max(last.End, f.End)
			if rank(f.Kind) < rank(last.Kind) {
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

// inside reports whether f is within one of the spans.
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

// identifier is the ID of a memory, lesson or skill, or a token of evidence. Reflections quote them.
var identifier = regexp.MustCompile(`\b(?:[a-z]+_\d{13}_[0-9a-f]{6}|ev:\d{8}T\d{6}Z-[0-9A-Z]{26})\b`)

// identifiers returns where text has IDs of its own.
func identifiers(text string) (spans []span) {
	for _, m := range identifier.FindAllStringIndex(text, -1) {
		spans = append(spans, span{m[0], m[1]})
	}
	return spans
}

// dataURIs returns the base64 payloads of data URIs: images, for example,
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
		for at < len(text) && chars.IsBase64(text[at]) {
			at++
		}
		if strings.Contains(text[max(0, start-100):start], "data:") {
			spans = append(spans, span{start, at})
		}
	}
}
