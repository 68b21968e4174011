package viewer

import (
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub"
)

// Parameters of the page after a correction. They have no text: another page can choose an address.
const (
	redactedParam = "redacted" // a kind of redaction and how often it was made, such as email:2
	cleanedParam  = "cleaned"  // words were left out
)

// leftOut returns what of a typed text is not in what was stored, as parameters of the next page.
func leftOut(typed, stored string, redactions []scrub.Redaction) url.Values {
	left := url.Values{}
	for _, r := range redactions {
		left.Add(redactedParam, fmt.Sprintf("%s:%d", r.Kind, r.Count))
	}
	// A placeholder stands for any number of words, so that markup behind it would not be missed.
	if !sameWords(typed, stored) || markup.MatchString(typed) && !markup.MatchString(stored) {
		left.Set(cleanedParam, "1")
	}
	return left
}

// markup matches a tag of HTML.
var markup = regexp.MustCompile(`<[/!]?[A-Za-z][^<>]*>`)

// placeholder is the text that replaces what was redacted.
var placeholder = regexp.MustCompile(`\[REDACTED:[^\]\s]*\]`)

// sameWords reports whether stored has all words of typed, except those that a placeholder stands for. Signs and
// spacing do not count: lists and headings are stored in one form.
func sameWords(typed, stored string) bool {
	rest := wordsOf(typed)
	pieces := placeholder.Split(stored, -1)
	for i, piece := range pieces {
		words := strings.TrimSuffix(wordsOf(piece), " ")
		if words == "" {
			if i == len(pieces)-1 {
				return i > 0 || rest == " "
			}
			continue
		}
		at := strings.Index(rest, words+" ")
		if i == len(pieces)-1 && i > 0 { // what ends the text is found from its end
			at = strings.LastIndex(rest, words+" ")
		}
		if at < 0 || at > 0 && i == 0 {
			return false
		}
		rest = rest[at+len(words):]
	}
	return rest == " "
}

// wordsOf returns the words of a text, each between two spaces.
func wordsOf(s string) string {
	words := strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	return " " + strings.Join(words, " ") + map[bool]string{true: " "}[len(words) > 0]
}

// redactedNames are the kinds of what is redacted in a person's words, one and many.
var redactedNames = map[scrub.Kind][2]string{
	scrub.Email: {"email address", "email addresses"}, scrub.Phone: {"phone number", "phone numbers"},
	scrub.Card: {"card number", "card numbers"}, scrub.IBAN: {"bank account number", "bank account numbers"},
	scrub.SSN: {"social security number", "social security numbers"}, scrub.IP: {"IP address", "IP addresses"},
	scrub.APIKey: {"API key", "API keys"}, scrub.Token: {"token", "tokens"},
	scrub.PrivateKey: {"private key", "private keys"}, scrub.Password: {"password", "passwords"},
	scrub.Listed: {"entry of your list of what is not stored", "entries of your list of what is not stored"},
}

// notKept tells what of a correction was not stored as it was typed, "" if all of it was.
func notKept(q url.Values) string {
	var redacted []string
	for _, value := range q[redactedParam] {
		kind, count, _ := strings.Cut(value, ":")
		names, known := redactedNames[scrub.Kind(kind)]
		if n, err := strconv.Atoi(count); known && err == nil && n > 0 {
			redacted = append(redacted, text.Count(n, names[0], names[1]))
		}
	}
	said := ""
	if len(redacted) > 0 {
		said += " Not stored: " + strings.Join(redacted, ", ") + "; a placeholder stands where they were."
	}
	if q.Get(cleanedParam) != "" {
		said += " Some of the text was left out, because memories are plain text: markup, or characters that cannot be " +
			"seen. Check what is stored below."
	}
	return said
}
