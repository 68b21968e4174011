package block

import (
	"cmp"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// none is written for an optional value that is not set, as RFC-0011 §3.3 does for the filter.
const none = "none"

// previewRunes is the length of the previews of RFC-0011 §3.2 and §3.4, in characters.
const previewRunes = 60

// Escape turns any string into a VALUE: semicolons become commas (RFC-0011 §3); each control character
// and each of Unicode's line and paragraph separators becomes a space; each run of bytes that is not
// UTF-8 becomes U+FFFD. Escape is idempotent.
func Escape(value string) string {
	if isValue(value) {
		return value
	}
	// SECURITY: without this, a value could end its field or start a new line.
	return strings.Map(func(r rune) rune {
		switch {
		case r == ';':
			return ','
		case breaksLine(r):
			return ' '
		}
		return r
	}, strings.ToValidUTF8(value, string(utf8.RuneError)))
}

// isValue reports whether s needs no escaping.
func isValue(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r == ';' || breaksLine(r) })
}

func breaksLine(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }

// AgentName returns the agent line's value for an agent ID: "MemoryMesh_" and the ID with every character
// outside the grammar's AGENT_NAME replaced by "_". An empty ID means "YAMO_AGENT", the default of
// RFC-0011 §4.2.
func AgentName(agentID string) string {
	return "MemoryMesh_" + name(cmp.Or(agentID, "YAMO_AGENT"))
}

// name maps s into AGENT_NAME: 1*(ALPHA | DIGIT | "_").
func name(s string) string {
	if s == "" {
		return "_"
	}
	return strings.Map(func(r rune) rune {
		if isNameRune(r) {
			return r
		}
		return '_'
	}, s)
}

func isName(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !isNameRune(r) })
}

func isNameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_'
}

// key maps s into KEY (see the package comment).
func key(s string) string {
	if isKey(s) {
		return s
	}
	s = strings.Map(func(r rune) rune {
		if isNameRune(r) || r == '-' || r == '.' {
			return r
		}
		return '_'
	}, s)
	if s == "" || s[0] == '-' || s[0] == '.' {
		s = "_" + s
	}
	return s
}

// isKey reports whether s can be the key of a pair (RFC-0011 §3.1).
func isKey(s string) bool {
	if s == "" || !isNameRune(rune(s[0])) {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool { return !isNameRune(r) && r != '-' && r != '.' })
}

// FormatTime formats {ISO_8601} of RFC-0011 §3: RFC 3339 in UTC with milliseconds, truncated:
// "2026-01-02T03:04:05.678Z".
func FormatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// FormatConfidence formats a confidence or a score: a decimal number between 0.0 and 1.0, rounded to
// four places, without trailing zeros but with at least one decimal: 0.7, 1.0, 0.85, 0.0333. Values
// outside the range are clamped to it; NaN is 0.0.
func FormatConfidence(x float64) string {
	if math.IsNaN(x) || x <= 0 {
		return "0.0"
	}
	s := strconv.FormatFloat(math.Round(min(x, 1)*1e4)/1e4, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// preview returns the first previewRunes characters of a text, escaped.
func preview(text string) string {
	text = Escape(text)
	n := 0
	for i := range text {
		if n == previewRunes {
			return text[:i]
		}
		n++
	}
	return text
}

// orNone returns s, or the word that a block has for no value.
func orNone(s string) string {
	if s == "" {
		return none
	}
	return s
}
