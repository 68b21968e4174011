package scrub

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/markup"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact"
)

// MaxBytes is the default limit of a text's size.
const MaxBytes = 1 << 20

// Options configure a Scrubber. The zero value has RFC-0011 §6.1's defaults;
// MemoryMesh returns those of §6.2.
type Options struct {
	MaxBytes   int // of a text; default MaxBytes
	Chunks     ChunkOptions
	EnforceMin bool // refuse a text of fewer than Chunks.Min tokens
	// Secrets finds credentials; nil means redact.GitleaksRules(). The detectors of
	// personal data and of announced passwords are always there.
	Secrets Detector
	List    Detector         // of redact.ParseList: what the operator wants redacted as well; nil for nothing
	Keep    []Kind           // kinds of values that are not redacted; only the operator may ask for it
	Source  string           // for the chunks
	Now     func() time.Time // for the chunks; nil leaves their time zero
}

// MemoryMesh returns the options of RFC-0011 §6.2: short memories are
// memories, so a chunk may have one token and no length is too short. count
// is the embedding model's token counter; nil means an estimate.
func MemoryMesh(count func(string) int) Options {
	return Options{Chunks: ChunkOptions{Min: 1, Count: count}}
}

// Scrubber is layer 0. It has no state but its options, is safe for
// concurrent use, and cheap: rules are loaded on the first use of any.
type Scrubber struct {
	o        Options
	redactor *redact.Redactor
}

// New returns a Scrubber. The first text that it redacts loads the rules of
// GitleaksRules, which takes some milliseconds once in a process; a call of
// Redact("") does it beforehand.
func New(o Options) *Scrubber {
	if o.MaxBytes <= 0 {
		o.MaxBytes = MaxBytes
	}
	return &Scrubber{o, redact.New(o.Secrets).Keeping(o.Keep...).With(o.List)}
}

// Result is a scrubbed text.
type Result struct {
	Text       string      // what is stored and given back
	Redactions []Redaction // what was redacted, sorted by kind; never nil
	// OnlySecret is set when the text was nothing but a credential: it belongs
	// in a secret store, not in a memory (RFC-0009 §4.2).
	OnlySecret bool
	Chunks     []Chunk // of Text; at least one
	Hash       string  // of Text: Hash(Text)
}

// maxRounds bounds how often the first three stages are repeated. Two rounds
// settle ordinary texts: one that changes, one that does not.
const maxRounds = 10

// Scrub takes a text through the six stages (RFC-0011 §6). The errors are
// ErrTooLarge (naming the limit), ErrEmpty and ErrTooShort.
func (s *Scrubber) Scrub(text string) (Result, error) {
	r, err := s.Text(text)
	if err != nil {
		return Result{}, err
	}
	r.Chunks, r.Hash = Split(r.Text, s.o.Chunks), Hash(r.Text)
	at := time.Time{}
	if s.o.Now != nil {
		at = s.o.Now()
	}
	Annotate(r.Chunks, s.o.Source, at)
	if err := Validate(r.Chunks, s.o.Chunks, s.o.EnforceMin); err != nil {
		return Result{}, err
	}
	return r, nil
}

// Text prepares a text for storage: redaction, the first three stages, and the
// check that something is left. The result has neither Chunks nor Hash: Split
// can cut its text at any later time. The errors are
// ErrTooLarge (naming the limit) and ErrEmpty.
func (s *Scrubber) Text(text string) (Result, error) {
	if len(text) > s.o.MaxBytes {
		return Result{}, fmt.Errorf("%w: %d bytes, the limit is %d", ErrTooLarge, len(text), s.o.MaxBytes)
	}
	counts := make(map[redact.Kind]int)
	out := s.settle(text, counts)
	if strings.TrimSpace(out) == "" {
		return Result{}, ErrEmpty
	}
	return Result{Text: out, Redactions: redact.Tally(counts), OnlySecret: onlySecret(out, counts)}, nil
}

// Redact returns text with personal data and credentials replaced by their
// placeholders (RFC-0011 §6.3), and what was replaced, sorted by kind. It
// changes nothing else. Redacting the result again changes nothing.
func (s *Scrubber) Redact(text string) (string, []Redaction) { return s.redactor.Redact(text) }

// RedactOnly is Redact for the values of some kinds: everything else stays as it is.
func (s *Scrubber) RedactOnly(text string, kinds []Kind) (string, []Redaction) {
	return s.redactor.RedactOnly(text, kinds)
}

// Replace returns text with placeholders for findings, which are in order and do not overlap, and their numbers.
func Replace(text string, found []Finding) (string, []Redaction) { return redact.Replace(text, found) }

// settle repeats redaction, cleaning, filtering and normalizing until nothing
// changes, which makes Scrub idempotent: its result is a fixed point. Should
// a text not settle, it is kept as it was, only redacted; that, too, is a fixed
// point, since the same text is treated the same way again.
//
// SECURITY: redaction precedes the other stages, so that they cannot take a
// value apart before it is recognized, and follows each of them, so that what
// they bring together is recognized.
func (s *Scrubber) settle(text string, counts map[redact.Kind]int) string {
	base := s.base(text, counts)
	cur := base
	more := make(map[redact.Kind]int)
	for range maxRounds {
		next := markup.Normalize(markup.Filter(markup.Clean(cur)))
		if next != cur {
			next = s.base(next, more)
		}
		if next == cur {
			for k, n := range more {
				counts[k] += n
			}
			return cur
		}
		cur = next
	}
	return base
}

// base sanitizes and redacts until nothing changes.
func (s *Scrubber) base(text string, counts map[redact.Kind]int) string {
	for {
		clean := Sanitize(text)
		text = s.redactor.Count(clean, counts)
		if text == clean {
			return text
		}
	}
}

// labelWords announce a secret or join it to its name; they add nothing to it.
var labelWords = strings.Fields(`a an the my our your is are was be this that it its here heres for of to and as in use
	using with new current
	api key keys token tokens secret secrets password passwords passwd pwd pass passphrase passcode passwort kennwort
	contraseña pin code
	access auth authorization bearer basic login credential credentials card credit debit number no ssn social security
	private export set value
	remember please note save store mein meine das ist lautet der die el la es mi mot de passe mon ma le est`)

// OnlySecret reports whether a redacted text contains nothing but the marks that there were
// secrets: next to their placeholders it has only the names they are assigned
// to and the words that announce them (RFC-0009 §4.2).
func OnlySecret(text string) bool { return onlySecret(text, nil) }

// onlySecret is OnlySecret for a text in which counts were found.
func onlySecret(text string, counts map[redact.Kind]int) bool {
	found := false
	for _, k := range redact.Kinds() {
		if k.Secret() && (counts[k] > 0 || strings.Contains(text, redact.Placeholder(k))) {
			found = true
			text = strings.ReplaceAll(text, redact.Placeholder(k), "\x00")
		}
	}
	if !found {
		return false
	}
	parts := strings.Split(text, "\x00")
	for i, p := range parts {
		if i < len(parts)-1 {
			p = withoutName(p)
		}
		for _, w := range strings.FieldsFunc(p, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			if !slices.Contains(labelWords, strings.ToLower(w)) {
				return false
			}
		}
	}
	return true
}

// withoutName cuts the name off that the value after p is assigned to.
func withoutName(p string) string {
	name, found := strings.CutSuffix(strings.TrimRight(p, " \"'`"), "=")
	if !found {
		if name, found = strings.CutSuffix(name, ":"); !found {
			return p
		}
	}
	return strings.TrimRightFunc(strings.TrimRight(name, " \"'`:"), func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-' || r == '.'
	})
}
