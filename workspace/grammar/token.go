package grammar

import (
	"encoding/hex"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/oklog/ulid/v2"

	"github.com/yamo-protocol/yamo-mcp/workspace/markdown"
)

// TokenForm is how an evidence token is written (seed 004 §5).
const TokenForm = "ev:YYYYMMDDThhmmssZ-ULID" //nolint:gosec // no credential

const tokenTime = "20060102T150405Z"

var (
	tokenForm = regexp.MustCompile(`ev:([0-9]{8}T[0-9]{6}Z)-([0-7][0-9A-HJKMNP-TV-Z]{25})`)
	// looksLikeToken matches what was probably meant as a token.
	looksLikeToken = regexp.MustCompile(`\bev:[0-9A-Za-z:_-]*`)
	memoryID       = regexp.MustCompile(`^mem_([0-9]{1,15})_([0-9a-f]{6})$`)
	// inText matches the IDs that can be in a text instead of a token.
	inText = regexp.MustCompile(`\bmem_[0-9]{1,15}_[0-9a-f]{6}\b`)
)

// memoryTag begins the random part of a memory's ULID, and the six hexadecimal digits of the memory's id end it. So a
// token leads back to the memory without a lookup, and cannot be confused with an event's, which has random bytes
// there.
const memoryTag = "\x00mem\x00\x00\x00"

// The same for passages of workspace files and for turns of session logs, with digests that are looked up in what the
// files and logs contain now. A random ID begins with such a tag once in four thousand million, and events come first.
const (
	passageTag = "\x00txt"
	turnTag    = "\x00trn"
)

// Token is an evidence token (seed 004 §5): it leads to an edit's event, to a memory, to a passage of a workspace file
// or to a turn of a session log.
type Token struct{ ID ulid.ULID }

// PassageToken returns the token of a passage of count blocks, up to 255, that was written at a time. Of digest, a
// keyed hash of the blocks, it takes the first 5 bytes.
func PassageToken(at time.Time, count int, digest []byte) Token {
	blocks := byte(min(count, math.MaxUint8)) //nolint:gosec // not more than a byte
	return tagged(at, passageTag+string([]byte{blocks})+string(digest[:5]))
}

// Passage returns what PassageToken was given, false for any other token.
func (t Token) Passage() (count int, digest []byte, ok bool) {
	rest, ok := strings.CutPrefix(string(t.ID.Entropy()), passageTag)
	if !ok {
		return 0, nil, false
	}
	return int(rest[0]), []byte(rest[1:]), true
}

// TurnToken returns the token of a turn that was said at a time. Of the keyed hashes of its session's id and of its
// text it takes the first 3 bytes each.
func TurnToken(at time.Time, session, turn []byte) Token {
	return tagged(at, turnTag+string(session[:3])+string(turn[:3]))
}

// Turn returns what TurnToken was given, false for any other token.
func (t Token) Turn() (session, turn []byte, ok bool) {
	rest, ok := strings.CutPrefix(string(t.ID.Entropy()), turnTag)
	if !ok {
		return nil, nil, false
	}
	return []byte(rest[:3]), []byte(rest[3:]), true
}

// tagged returns the token of a time and 10 bytes. A time before 1970 is 1970's beginning.
func tagged(at time.Time, entropy string) Token {
	var t Token
	ms := uint64(max(at.UnixMilli(), 0))
	if t.ID.SetTime(min(ms, ulid.MaxTime())) != nil || t.ID.SetEntropy([]byte(entropy)) != nil {
		return Token{}
	}
	return t
}

// Time returns the time in the token: of the event, of the memory, or of what was said.
func (t Token) Time() time.Time { return t.ID.Timestamp().UTC() }

// String returns the token in the form of TokenForm.
func (t Token) String() string {
	return "ev:" + t.ID.Timestamp().UTC().Format(tokenTime) + "-" + t.ID.String()
}

// MemoryID returns the id of the memory that the token leads to, "" if it leads to an event.
func (t Token) MemoryID() string {
	entropy := t.ID.Entropy()
	digits, ok := strings.CutPrefix(string(entropy), memoryTag)
	if !ok {
		return ""
	}
	return fmt.Sprintf("mem_%d_%s", t.ID.Time(), hex.EncodeToString([]byte(digits)))
}

// ParseToken reads a token, whose time must be the one in its ULID. It also accepts the id of an event and the id of a
// memory.
func ParseToken(text string) (Token, error) {
	if m := memoryID.FindStringSubmatch(text); m != nil {
		return memoryToken(text, m[1], m[2])
	}
	id, when := text, ""
	if m := tokenForm.FindStringSubmatch(text); m != nil && m[0] == text {
		when, id = m[1], m[2]
	}
	parsed, err := ulid.ParseStrict(id)
	if err != nil || parsed.String() != id {
		return Token{}, fmt.Errorf("%q is not an evidence token: must be %s, an event ID, or a memory ID (mem_…)",
			text, TokenForm)
	}
	t := Token{parsed}
	if when != "" && t.String() != text {
		return Token{}, fmt.Errorf("%q is not an evidence token: its time does not match its ULID, %s", text,
			t.ID.Timestamp().UTC().Format(tokenTime))
	}
	return t, nil
}

// memoryToken returns the token of a memory: its ULID has the ID's time and digits, so that the ID can be read back.
func memoryToken(id, millis, digits string) (Token, error) {
	ms, err := strconv.ParseUint(millis, 10, 48)
	tail, hexErr := hex.DecodeString(digits)
	var t Token
	if err != nil || hexErr != nil || ms > ulid.MaxTime() || t.ID.SetTime(ms) != nil ||
		t.ID.SetEntropy([]byte(memoryTag+string(tail))) != nil {
		return Token{}, fmt.Errorf("%q is no memory's id", id)
	}
	if t.MemoryID() != id { // leading zeros
		return Token{}, fmt.Errorf("%q is no memory's id", id)
	}
	return t, nil
}

// Tokens returns the valid tokens in a text, in order.
func Tokens(text string) []Token {
	var tokens []Token
	for _, found := range tokenForm.FindAllString(text, -1) {
		if t, err := ParseToken(found); err == nil {
			tokens = append(tokens, t)
		}
	}
	return tokens
}

// Tokenize returns a text with the IDs of memories in it as their tokens.
func Tokenize(text string) string {
	return inText.ReplaceAllStringFunc(text, func(id string) string {
		if t, err := ParseToken(id); err == nil {
			return t.String()
		}
		return id
	})
}

// quoted matches a quotation of one character or more.
var quoted = regexp.MustCompile(`"[^"]+"|“[^”]+”|„[^“”]+[“”]|«[^»]+»|‘[^’]+’`)

// Quotes returns what an item of evidence has between quotation marks, in order (seed 004 §5).
func Quotes(item string) (quotes []string) {
	for _, found := range quoted.FindAllString(item, -1) {
		_, open := utf8.DecodeRuneInString(found)
		_, end := utf8.DecodeLastRuneInString(found)
		quotes = append(quotes, found[open:len(found)-end])
	}
	return quotes
}

var (
	paraphrase  = regexp.MustCompile(`(?i)\(paraphrase\b`)
	openedToken = regexp.MustCompile(`\(ev:`)
)

// IsParaphrase reports whether an item of evidence is marked as no quote of what it cites (see Paraphrase).
func IsParaphrase(item string) bool { return paraphrase.MatchString(item) }

// Paraphrase returns an item of evidence marked as no quote: "… (paraphrase; ev:…)".
func Paraphrase(item string) string {
	switch at := openedToken.FindStringIndex(item); {
	case IsParaphrase(item):
		return item
	case at != nil:
		return item[:at[0]+1] + "paraphrase; " + item[at[0]+1:]
	}
	return item + " (paraphrase)"
}

// Citation is an evidence token in a file.
type Citation struct {
	Line  int // from 1
	Token Token
	Item  string // the item of evidence that has it, "" elsewhere
}

// Citations returns the valid tokens in text, the content of the file called name, outside of code.
func Citations(name, text string) (list []Citation) {
	typ, _ := TypeOf(name)
	for _, p := range Parse(text).Parts {
		items := map[int]string{} // by the lines of the body
		if typ.form(p.Name) == Evidence {
			for _, b := range blocks(p.Body) {
				for n := range strings.Count(b.raw, "\n") + 1 {
					if b.item {
						items[b.line+n] = b.text()
					}
				}
			}
		}
		var at markdown.Scanner
		number := 0
		for line := range strings.Lines(p.Body) {
			if at.Free() {
				for _, t := range Tokens(line) {
					list = append(list, Citation{p.bodyLine() + number, t, items[number]})
				}
			}
			at.Next(line)
			number++
		}
	}
	return list
}

// Stamp returns a time in the form of files (seed 004 §7): ISO 8601, UTC, seconds.
func Stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
