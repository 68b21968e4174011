package grammar

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
)

// TokenForm is how an evidence token is written (seed 004 §5).
const TokenForm = "ev:YYYYMMDDThhmmssZ-ULID" //nolint:gosec // no credential

const tokenTime = "20060102T150405Z"

var (
	tokenForm = regexp.MustCompile(`ev:([0-9]{8}T[0-9]{6}Z)-([0-7][0-9A-HJKMNP-TV-Z]{25})`)
	// looksLikeToken matches what was probably meant as a token.
	looksLikeToken = regexp.MustCompile(`\bev:[0-9A-Za-z:_-]*`)
	memoryID       = regexp.MustCompile(`^mem_([0-9]{1,15})_([0-9a-f]{6})$`)
)

// memoryTag begins the random part of a memory's ULID, and the six hexadecimal digits of the memory's id end it. So a
// token leads back to the memory without a lookup, and cannot be confused with an event's, which has random bytes
// there.
const memoryTag = "\x00mem\x00\x00\x00"

// Token is an evidence token (seed 004 §5): it leads to an edit's event or to a memory.
type Token struct{ ID ulid.ULID }

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

// Stamp returns a time in the form of files (seed 004 §7): ISO 8601, UTC, seconds.
func Stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
