package memfile

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

const (
	minWords = 2
	maxWords = 5
	maxWord  = 24  // characters
	maxSlug  = 160 // bytes: a file's name may have 255, and scripts take up to four for a letter
)

var (
	slug      = regexp.MustCompile(`^[\p{L}\p{M}\p{N}]+(-[\p{L}\p{M}\p{N}]+){1,4}$`)
	flushSlug = regexp.MustCompile(`^flush-[0-9]{6}$`)
)

// Slug returns the slug of a topic (seed 003): 2 to 5 words in lower case with hyphens between them. Letters of every
// script stay, Latin ones without diacritics. A topic of one word is completed with the time; one without any letter or
// digit has a hash, "topic-1a2b3c4d", and no topic is "session-143000".
func Slug(topic string, now time.Time) string {
	var words []string
	other := func(r rune) bool { return !unicode.In(r, unicode.L, unicode.M, unicode.N) }
	size := 0
	for _, word := range strings.FieldsFunc(plain(topic), other) {
		if short := []rune(word); len(short) > maxWord {
			word = string(short[:maxWord])
		}
		if size += len(word) + 1; len(words) < maxWords && size <= maxSlug {
			words = append(words, word)
		}
	}
	clock := now.Format("150405")
	// SECURITY: YYYY-MM-DD-group-NAME.md would be the log of a group, which the group may read.
	if len(words) > 0 && words[0] == "group" {
		words = append([]string{"about"}, words[:min(len(words), maxWords-1)]...)
	}
	switch {
	case len(words) == 0 && strings.TrimSpace(topic) != "":
		words = []string{"topic", fmt.Sprintf("%x", sha256.Sum256([]byte(topic)))[:8]}
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

// plain returns s in lower case and in the Unicode form of file names (NFKC), without apostrophes, joiners, and the
// diacritics of Latin letters.
func plain(s string) string {
	latin := false
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Mn, r):
			if latin {
				return -1
			}
			return r
		case r == '\'', r == '’', unicode.Is(unicode.Cf, r):
			return -1
		}
		latin = unicode.Is(unicode.Latin, r)
		return unicode.ToLower(r)
	}, norm.NFKD.String(s))
	return strings.ToLower(norm.NFKC.String(s))
}

// ValidSlug reports whether a memory file may have the slug s: 2 to 5 words in lower case, and not the slug of a flush
// or of a group's log.
func ValidSlug(s string) bool {
	return slug.MatchString(s) && strings.ToLower(norm.NFKC.String(s)) == s && !flushSlug.MatchString(s) &&
		!strings.HasPrefix(s, "group-")
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
