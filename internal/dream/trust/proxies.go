package trust

import (
	"slices"
	"strings"
	"unicode"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
)

// This file finds statements that someone acts for the user. Somebody who may do that may do everything, so no noun of
// parties.go is needed.

var (
	// stands are beginnings of verbs by which one decides or speaks in another's place.
	stands = prefixes(`sign$ signs$ signed speak spoke$ talks$ acts$ acted decid choos$ chooses chose$ pick$ picks$ picked
		settles$ settled negotiat agrees$ agreed approv votes$ voted answers$ answered replies$ replied
		sprech sprich entscheid unterschr unterzeich antwort fala$ falam falar habla$ hablan hablar parle$ parlent parla$
		parlano decide$ décide assina$ firma$ signe$ rozhod mluví$ podepis mówi$ decyduje podpis spreekt beslis tekent`)
	// instead are words for "for", in the languages of the rules.
	instead = text.Set("for für por pour per voor za dla")
	linking = text.Set("is are was were counts ist é e es est è")
)

// standsIn reports whether a text tells that someone else decides or speaks for the user, or that something of theirs
// is the user's: "Nadia picks the bank for Luis", "Helena's voice is Luis's voice".
func (n Names) standsIn(text string) bool {
	for sentence := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(".!?;\n", r) }) {
		words := strings.FieldsFunc(sentence, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-'’", r)
		})
		low := make([]string, len(words))
		for i, word := range words {
			low[i] = strings.ToLower(word)
		}
		for i := 2; i < len(words); i++ {
			if n.isUser(words[i]) && !n.isUser(words[0]) && (isProxy(low, i) || isEqual(low, i)) {
				return true
			}
		}
	}
	return false
}

// isProxy reports whether the user, whom the sentence names at its word i, is the one in whose place someone acts.
// Who picks up a parcel for them only runs an errand, and what is for their sister or dog is not for them.
func isProxy(low []string, i int) bool {
	if !instead[low[i-1]] || isPossessive(low[i]) {
		return false
	}
	for k, word := range low[:i] {
		if stands.has(word) && low[k+1] != "up" {
			return true
		}
	}
	return false
}

// isEqual reports whether a sentence that names the user's thing at its word i has someone else's of the same name
// before "is".
func isEqual(low []string, i int) bool {
	links := func(word string) bool { return linking[word] }
	if !isPossessive(low[i]) || i+1 >= len(low) || !slices.ContainsFunc(low[:i], links) {
		return false
	}
	for k := range i - 1 {
		if isPossessive(low[k]) && low[k+1] == low[i+1] {
			return true
		}
	}
	return false
}

func isPossessive(word string) bool {
	return strings.HasSuffix(word, "'s") || strings.HasSuffix(word, "’s")
}
