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

// Slug returns the slug of a topic (seed 003): 2 to 5 words of a-z and 0-9 with hyphens between them. A topic of one
// word is completed with the time, and one without any is replaced: "session-143000".
func Slug(topic string, now time.Time) string {
	var words []string
	other := func(r rune) bool { return r < '0' || r > '9' && r < 'a' || r > 'z' }
	for _, word := range strings.FieldsFunc(ascii(topic), other) {
		if len(words) < maxWords {
			words = append(words, word[:min(len(word), maxWord)])
		}
	}
	clock := now.Format("150405")
	// SECURITY: YYYY-MM-DD-group-NAME.md would be the log of a group, which the group may read.
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

// ascii returns s in lower case without diacritics and apostrophes.
func ascii(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) || r == '\'' || r == '’' {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(s))
}

// ValidSlug reports whether a memory file may have the slug s: 2 to 5 words, and not the slug of a flush or of a
// group's log.
func ValidSlug(s string) bool {
	return slug.MatchString(s) && !flushSlug.MatchString(s) && !strings.HasPrefix(s, "group-")
}

// Name returns the file's name relative to the workspace (seed 003): memory/YYYY-MM-DD-slug.md for a daily log or a
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
