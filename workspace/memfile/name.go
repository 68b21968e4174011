package memfile

import (
	"regexp"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

const (
	minWords = 2
	maxWords = 5
	maxWord  = 24 // characters
)

var (
	slug      = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+){1,4}$`)
	flushSlug = regexp.MustCompile(`^flush-[0-9]{6}$`)
)

// Slug makes the slug of a topic: 2 to 5 words of a-z and 0-9 with hyphens between them. A topic that does
// not give two words is completed by, or replaced with, the time: "session-143000".
func Slug(topic string, now time.Time) string {
	var words []string
	other := func(r rune) bool { return r < '0' || r > '9' && r < 'a' || r > 'z' }
	for _, word := range strings.FieldsFunc(ascii(topic), other) {
		if len(words) < maxWords {
			words = append(words, word[:min(len(word), maxWord)])
		}
	}
	clock := now.Format("150405")
	// SECURITY: YYYY-MM-DD-group-NAME.md is the log of a group, which the group reads.
	if len(words) > 0 && words[0] == "group" {
		words = append([]string{"about"}, words[:min(len(words), maxWords-1)]...)
	}
	switch {
	case len(words) == 0:
		words = []string{"session", clock}
	case len(words) < minWords:
		words = append(words, clock)
	}
	made := strings.Join(words, "-")
	if flushSlug.MatchString(made) {
		made = "about-" + made
	}
	return made
}

// ascii is s in lower case without diacritics and apostrophes.
func ascii(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) || r == '\'' || r == '’' {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(s))
}

// ValidSlug reports whether s is a slug a memory file may have: 2 to 5 words, and neither that of a flush nor of
// a group's log.
func ValidSlug(s string) bool {
	return slug.MatchString(s) && !flushSlug.MatchString(s) && !strings.HasPrefix(s, "group-")
}

// Name is where the file belongs, relative to the workspace: memory/YYYY-MM-DD-slug.md for a daily log or a
// session save, memory/YYYY-MM-DD-flush-HHMMSS.md for a flush, MEMORY.md for the curated memory.
func Name(t Type, at time.Time, slug string) string {
	switch t {
	case Curated, longTerm:
		return "MEMORY.md"
	case MemoryFlush:
		return "memory/" + at.Format("2006-01-02-") + "flush-" + at.Format("150405") + ".md"
	default:
		return "memory/" + at.Format("2006-01-02-") + slug + ".md"
	}
}
