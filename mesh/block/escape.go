package block

import (
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// none stands where a format has a place for a value and there is none, as §3.3 does for the filter.
const none = "none"

// previewRunes is the length of the previews of §3.2 and §3.4, in characters.
const previewRunes = 60

// Escape makes a text fit for a value: semicolons become commas (RFC-0011 §3); control characters and
// Unicode's line and paragraph separators become spaces, one for one; bytes that are not UTF-8 become
// U+FFFD. Escape is idempotent.
func Escape(value string) string {
	if isValue(value) {
		return value
	}
	// SECURITY: without this a value could end its field or start a line of its own.
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

func isValue(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r == ';' || breaksLine(r) })
}

func breaksLine(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }

// AgentName is the agent line's name for an agent id: "MemoryMesh_" and the id with every character
// outside the grammar's AGENT_NAME replaced by "_". An empty id is "YAMO_AGENT", RFC-0011 §4.2's default.
func AgentName(agentID string) string {
	if agentID == "" {
		agentID = "YAMO_AGENT"
	}
	return "MemoryMesh_" + name(agentID)
}

// name brings s into 1*(ALPHA | DIGIT | "_").
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

// key brings s into the alphabet of KEY.
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

func isKey(s string) bool {
	if s == "" || !isNameRune(rune(s[0])) {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool { return !isNameRune(r) && r != '-' && r != '.' })
}

// FormatTime is the formats' {ISO_8601}: RFC 3339 in UTC with milliseconds, "2026-01-02T03:04:05.678Z".
func FormatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// FormatConfidence writes a confidence or a score: a decimal number in 0.0 to 1.0, rounded to four
// places, without trailing zeros but with at least one decimal: 0.7, 1.0, 0.85, 0.0333. What lies
// outside is brought to the nearer end; NaN is 0.0.
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

// preview is the first 60 characters of a text, escaped.
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

func orNone(s string) string {
	if s == "" {
		return none
	}
	return s
}
