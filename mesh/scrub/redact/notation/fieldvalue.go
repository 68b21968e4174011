package notation

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/chars"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/word"
)

// isAppPassword reports whether v has the form in which services show a password for an application: four groups of
// four small letters.
func isAppPassword(v string) bool {
	const groups, size = 4, 4
	list := strings.Split(v, " ")
	return len(list) == groups && !slices.ContainsFunc(list, func(g string) bool {
		return len(g) != size || strings.Trim(g, "abcdefghijklmnopqrstuvwxyz") != ""
	})
}

// isWords reports whether a line has nothing but words and numbers.
func isWords(line string) bool {
	return !strings.ContainsFunc(line, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != ' ' && r != '-'
	})
}

// notSaid reports whether v is in the place of a value: a placeholder, a reference or the word for a secret.
func notSaid(v string) bool {
	if isHashedPassword(v) {
		return false
	}
	return word.IsPlaceholder(v) || strings.HasPrefix(v, "arn:") || strings.HasPrefix(v, "[REDACTED:") ||
		isReferenceTo(v) || strings.Contains(v, "${") || strings.Contains(v, "{{") || strings.Contains(v, "$(")
}

// isPlainWord reports whether v is an ordinary word, without digits or signs.
func isPlainWord(v string) bool {
	return word.IsCommon(v) && !oddSigns(v) && !word.IsMixed(v) && !(strings.ContainsAny(v, "._") && isNickname(v))
}

// quotedField judges a value in quotes.
func quotedField(v string, mean meaning, how joint) bool {
	if notSaid(v) || v[0] == '-' && how == argued {
		return false
	}
	if how != argued && mean != isDoorCode && isJoinedPhrase(v) {
		return true
	}
	switch {
	case isPlainWord(v):
		return false
	case mean == isDoorCode:
		return isDigits(v)
	case mean == isKey:
		return isKeyValue(v) || how != argued && isNickname(v) && len(v) >= 8 && !hasLabel(v) ||
			oddSigns(v) && len(v) >= 12 && word.IsMixed(v)
	}
	if strings.ContainsAny(v, " \t") {
		return isTypedPhrase(v, mean)
	}
	if how == argued {
		return len(v) >= 4 && oddField(v, mean) && !strings.Contains(v, "\\")
	}
	return len(v) >= 3 && !namesPassword(v) &&
		(word.SecretLike(v) || oddSigns(v) && v != chars.Lower(v) ||
			strings.ContainsAny(v[:len(v)-1], "-_.") && !word.IsCode(v))
}

// plainField judges a value without quotes.
func plainField(v string, mean meaning, how joint) bool {
	if notSaid(v) || isPlainWord(v) || word.IsMeasure(v) || strings.HasPrefix(v, "-") {
		return false
	}
	switch {
	case mean == isDoorCode:
		return isDigits(v)
	case word.IsExpression(v) && !(how == tight && oddSigns(v)), strings.Contains(v, "://"),
		word.IsVersion(v) && strings.Contains(v, "."):
		return false
	case mean == isKey:
		return (isKeyValue(v) || how == tight && isTypedKey(v)) && !word.IsCode(v) ||
			how == tight && isNickname(v) && len(v) >= 8 && !hasLabel(v) ||
			(how == loose || how == tight) && isJoinedPhrase(v)
	case v[0] == '!' && strings.Trim(chars.Lower(v[1:]), "abcdefghijklmnopqrstuvwxyz") == "": // a tag of YAML
		return false
	}
	return oddField(v, mean) || (how == loose || how == tight) && isJoinedPhrase(v) ||
		how == option && !hasLabel(v) && v != strings.ToLower(v) && v != strings.ToUpper(v)
}

// isJoinedPhrase reports whether v is three words or more in small letters, joined by hyphens or underscores, that name
// nothing of a program: bemvindos-a-casa, heron_over_harbour, hedgerow-77-lamp.
func isJoinedPhrase(v string) bool {
	const least, shortest = 3, 12
	parts := strings.FieldsFunc(v, func(r rune) bool { return r == '-' || r == '_' })
	foreign := len(parts) == 2 && len(v) > 8 && !word.IsEnglish(parts[0]) && !word.IsEnglish(parts[1]) // sesam_oeffne
	if !foreign && (len(parts) < least || len(v) < shortest) || hasLabel(v) {
		return false
	}
	words := 0
	for _, p := range parts {
		switch {
		case len(p) < 4 && strings.Trim(p, "0123456789") == "": // no year
		case strings.ContainsFunc(p, func(r rune) bool { return !unicode.IsLower(r) }), programWords[p], word.IsTechnical(p):
			return false
		default:
			words++
		}
	}
	return words >= least || foreign || words >= 2 && len(parts) > words && len(parts) >= least
}

// isCamelPhrase reports whether v is two words or more, each but the first with a capital, that name nothing of a
// program: quietPlease, fernAndLichen.
func isCamelPhrase(v string) bool {
	const shortest, longestWord = 9, 12
	if len(v) < shortest || !hasInnerCapital(v) || !unicode.IsLower(rune(v[0])) || hasLabel(v) {
		return false
	}
	return !slices.ContainsFunc(nameWords(v), func(w string) bool {
		return len(w) > longestWord || strings.ContainsFunc(w, func(r rune) bool { return !unicode.IsLower(r) }) ||
			programWords[w] && w != "and" && w != "of" && w != "the" || word.IsTechnical(w)
	})
}

// programWords are in the names that programs give to values and in adjectives: from_env_var, end-to-end.
var programWords = text.Set(`env var vars file path value field name id ref key keys hash type user users admin db
	database get set from to with and or of the in is not by up end self case based only str string int bool test config
	conf param params arg args default my your prod dev staging app service server client vault store host url uri auth
	login input text data encrypted generated required optional protected new old current temp number sensitive date day
	free time easy hard well non out one two multi use used using built hidden none null placeholder example
	must be at least most should cannot match matches mismatch short long weak strong forgot reset change confirm enter
	show invalid wrong missing generate random read get create make next previous last first
	pflichtfeld vergessen geheim unbekannt geändert abgelaufen verloren oublié oubliée olvidada cambiada esquecida
	alterada dimenticata vergeten zapomniane nenhum nenhuma ninguna ninguno aucun aucune keine keins nessuna nessuno
	geen`)

// isKeyValue reports whether v can be a key or a token: it has letters and digits, and is no name and no version.
func isKeyValue(v string) bool {
	const shortest = 6
	if len(v) < shortest || len(v) < 2*shortest && word.IsAlgorithm(chars.Lower(v)) || !word.IsMixed(v) ||
		strings.ContainsAny(v, " \t") || word.IsVersion(v) || word.IsExpression(v) {
		return false
	}
	if !word.IsReference(v) {
		return true
	}
	groups := strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune("-_.", r) })
	capitals := strings.ToLower(v) != v
	// AAAA1-BBBB2-CCCC3, mole-Hill-3
	return capitals && (len(groups) > 2 || hasInnerCapital(v)) && !hasLabel(v) && !word.IsAlgorithm(chars.Lower(v))
}

// isTypedKey reports whether v is a key that somebody chose: words with a capital and a number, Trunk-line8.
func isTypedKey(v string) bool {
	const shortest = 8
	return len(v) >= shortest && word.IsMixed(v) && strings.ToLower(v) != v && strings.ToUpper(v) != v && !hasLabel(v) &&
		strings.ContainsAny(v, "-_") && !word.IsVersion(v) && !word.IsExpression(v) && !strings.ContainsAny(v, ".:/")
}

// hasInnerCapital reports whether a capital follows a small letter.
func hasInnerCapital(v string) bool {
	for i := 1; i < len(v); i++ {
		if v[i] >= 'A' && v[i] <= 'Z' && v[i-1] >= 'a' && v[i-1] <= 'z' {
			return true
		}
	}
	return false
}

// caseTurns counts where a capital follows a small letter or the reverse: names of a program's source have few.
func caseTurns(v string) (n int) {
	if !strings.Contains(v, "-") {
		return 0
	}
	for i := 1; i < len(v); i++ {
		a, b := v[i-1], v[i]
		if chars.IsAlpha(a) && chars.IsAlpha(b) && (a < 'a') != (b < 'a') {
			n++
		}
	}
	return n
}

// oddField reports whether v does not look like a word or a name of a program's source.
func oddField(v string, mean meaning) bool {
	if utf8.RuneCountInString(v) < 4 || word.IsAlgorithm(chars.Lower(v)) || hasLabel(v) {
		return false
	}
	if mean == isDoorCode {
		return isDigits(v)
	}
	const shortest = 8 // of numbers alone
	if len(v) >= shortest && strings.Trim(v, "0123456789") == "" {
		return true
	}
	if word.IsMixed(v) || oddSigns(v) || caseTurns(v) > 3 {
		return !word.IsCode(v) || oddSigns(v)
	}
	return isNickname(v)
}

// oddSigns reports whether v has a sign within that words do not have.
func oddSigns(v string) bool { return len(v) > 1 && strings.ContainsAny(v[1:len(v)-1], "!@#$%^&*+?~") }

// isNickname reports whether v is words that are joined, with a capital in front of one, as heide.Lerche: names of a
// program's source have no capitals or nothing else.
func isNickname(v string) bool {
	parts := strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune("-_.", r) })
	capitals := 0
	for i, p := range parts {
		r, n := utf8.DecodeRuneInString(p)
		if strings.ContainsFunc(p, func(r rune) bool { return !unicode.IsLetter(r) }) || strings.ToLower(p[n:]) != p[n:] {
			return false
		}
		if unicode.IsUpper(r) && i > 0 {
			capitals++
		}
	}
	return capitals > 0 && len(parts) < 5
}

// isWordPair reports whether v is two ordinary words in small letters, joined by a hyphen or an underscore, that name
// nothing of a program and are no adjective: copper-fox, cape_wrath.
func isWordPair(v string) bool {
	const shortest = 3
	parts := strings.FieldsFunc(v, func(r rune) bool { return r == '-' || r == '_' })
	return len(parts) == 2 && !hasLabel(v) && !slices.ContainsFunc(parts, func(p string) bool {
		return len(p) < shortest || !word.IsLetters(p) || strings.ToLower(p) != p || programWords[p] || word.IsTechnical(p) ||
			word.IsCommon(p)
	})
}

// isCapitalized reports whether v is words that signs join, the first with a capital, that name nothing of a program:
// Agave_plant.
func isCapitalized(v string) bool {
	parts := strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune("-_.", r) })
	r, n := utf8.DecodeRuneInString(v)
	return len(parts) > 1 && unicode.IsUpper(r) && v[n:] == strings.ToLower(v[n:]) && !hasLabel(v) &&
		!slices.ContainsFunc(parts, func(p string) bool {
			low := strings.ToLower(p)
			return !word.IsLetters(p) || len(p) < 3 || programWords[low] || word.IsTechnical(low)
		})
}

// isDigits reports whether v can be the code of a door, a card or an alarm.
func isDigits(v string) bool {
	if parts := strings.Split(v, "-"); len(parts) > 2 && len(parts) < 6 {
		return !slices.ContainsFunc(parts, func(p string) bool {
			return p == "" || len(p) > 2 || strings.Trim(p, "0123456789") != ""
		})
	}
	digits := strings.Trim(v, "#*ABCDEF")
	return len(digits) >= 3 && len(digits) <= 10 && strings.Trim(digits, "0123456789") == ""
}

// isTypedPhrase reports whether v is several words that a person types as a password.
func isTypedPhrase(v string, mean meaning) bool {
	return hasOddWord(v) || mean == isPhrase && isPassphrase(v) || isPassphrase(v) && strings.ContainsAny(v, "0123456789")
}

// isCounted reports whether v is a number of what the text after it names: a pass that is 2429 m high.
func isCounted(v, after string) bool {
	next, _, _ := strings.Cut(strings.TrimLeft(chars.Lower(after), " "), " ")
	return strings.Trim(v, "0123456789") == "" && word.ClueOf(strings.TrimRight(next, ".,;:!?)")).Unit
}
