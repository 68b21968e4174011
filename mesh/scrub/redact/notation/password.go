package notation

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/chars"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/sensitive"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/word"
)

// findPasswords finds secrets that a label announces: in assignments and
// configuration ("password = …", "DB_PASSWORD: …", "--password …") and in
// prose ("my password is …", "die PIN lautet …", "密码是…"). In prose the
// value must look like a secret, be quoted, or end the sentence.
func findPasswords(text string) []sensitive.Finding {
	lower := chars.LowerUnicode(text)
	var found []sensitive.Finding
	for _, m := range labelTrie().MatchString(lower) {
		l := labels[m.Pattern()]
		pos := int(m.Pos())
		at := pos + len(l.word)
		before := chars.At(text, pos-1)
		if (l.word == "pass" || l.word == "pw") && before == '_' && chars.At(text, at) == '=' { // ssh_pass=x
			l.weak = false
		}
		camel := text[pos] != lower[pos] && before == chars.At(lower, pos-1) // clientSecret
		if l.weak && (chars.IsAlnum(before) && !camel || chars.IsAlpha(chars.At(text, at))) {
			continue
		}
		// SECURITY: text[pos:at] is the label, because lower has the length of text.
		if f, ok := announced(text, lower, pos, at, l); ok {
			found = append(found, f)
		}
	}
	return found
}

// announced judges what follows the label text[pos:end].
func announced(text, lower string, pos, end int, l label) (sensitive.Finding, bool) {
	if chars.At(text, pos-1) == ':' && chars.At(text, end) == ':' { // name:password:uid
		return sensitive.Finding{}, false
	}
	if open := strings.LastIndex(text[max(0, pos-40):pos], "${"); open >= 0 && !strings.Contains(text[pos-min(pos,
		40)+open:pos],
		"}") { // ${DB_PASSWORD:?must be set}
		return sensitive.Finding{}, false
	}
	flag := strings.HasPrefix(text[max(0, pos-2):], "--") || strings.Contains(text[max(0, pos-20):pos], " --")
	// The rest of an identifier: DB_PASSWORD_2, passwords, "password".
	i := suffixEnd(text, end)
	if suffix := lower[end:i]; notSecret(suffix) {
		return sensitive.Finding{}, false
	}
	if strings.HasPrefix(text[i:], "'s ") || strings.HasPrefix(text[i:], "’s ") { // "the password's x1"
		i += strings.IndexByte(text[i:], ' ')
		end = i
	}
	for i < len(text) && strings.IndexByte("\"'`*", text[i]) >= 0 {
		i++
	}
	quotedName := strings.ContainsAny(text[end:i], "\"'")
	if quotedName && chars.At(text, i) == ']' { // os.environ["DB_PASSWORD"] = "x"
		i++
	}
	i, extra := skipRemark(text, i)
	gap := i
	i = skipBlank(text, i)
	rest := text[i:]
	op := operator(rest)
	switch {
	case op > 0:
		how := assigned
		switch {
		case gap == i && chars.At(rest, op) > ' ' && rest[0] == '=' &&
			(flag || isConstant(text, pos, gap) || l.kind == sensitive.Password && !l.weak && chars.At(text, pos-1) == '_'):
			how = literal // in a shell or a file of settings, what is next to "=" is a value and not a name
		case flag:
			how = strictly
		case quotedName:
			how = member
		case rest[0] == ':' && beginsLine(text, pos):
			how = entry
		}
		i += op
		if strings.HasPrefix(text[i:], "**") { // "**password:** x"
			i += len("**")
		}
		return value(text, blockScalar(text, skipBlank(text, i)), l, how)
	case flag && gap < i && !extra:
		if strings.IndexByte("\"'", chars.At(text, i)) >= 0 {
			return value(text, i, l, literal)
		}
		return value(text, i, l, strictly)
	}
	for _, c := range connectors {
		if len(rest) > len(c) && strings.EqualFold(rest[:len(c)], c) && (rest[len(c)] == ' ' || rest[len(c)] == ':') {
			i = skipBlank(text, i+len(c)+1)
			if c == "to" && l.weak {
				return sensitive.Finding{}, false
			}
			i = skipAdverb(text, i)
			if c == "to" || c == "are" || strings.HasSuffix(c, " be") { // "the password should be long"
				return value(text, i, l, strictly)
			}
			return value(text, i, l, prose)
		}
	}
	for _, c := range unspacedConnectors {
		if strings.HasPrefix(rest, c) {
			return value(text, skipBlank(text, i+len(c)), l, prose)
		}
	}
	for _, dash := range []string{"— ", "– ", "- ", "-> ", "→ "} {
		if gap < i && strings.HasPrefix(rest, dash) {
			return value(text, skipBlank(text, i+len(dash)), l, strictly)
		}
	}
	if gap < i && !extra && strings.IndexByte("\"'", chars.At(text, i)) >= 0 {
		if v, start, ok := quoted(text, i); ok && l.kind == sensitive.Password && !l.weak && clearlySecret(v) {
			return l.kind.At(start, start+len(v)), true
		}
		if l.isPhrase() {
			return value(text, i, l, prose)
		}
	}
	if gap < i && !extra && !strings.ContainsAny(text[end:gap], "\"'`*") {
		return next(text, i, l)
	}
	return sensitive.Finding{}, false
}

// next judges the word at i, which is next to a label without anything between: "aws secret wJal…", "password x1y2 of".
func next(text string, i int, l label) (sensitive.Finding, bool) {
	v := text[i:]
	ends := func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("\"'`<>,;", r) }
	if n := strings.IndexFunc(v, ends); n >= 0 {
		v = v[:n]
	}
	v = strings.TrimRight(v, ".:)]}*!?-_")
	found := l.kind.At(i, i+len(v))
	if len(v) > 200 || word.IsPlaceholder(v) || strings.HasPrefix(v, "[REDACTED:") || anotherField.MatchString(v) {
		return sensitive.Finding{}, false
	}
	switch {
	case l.isPIN():
		digits := strings.TrimRight(v, "#*")
		if l.word == "cvv" || l.word == "cvc" {
			return found, len(v) >= 3 && len(v) <= 4 && strings.Trim(v, "0123456789") == ""
		}
		return found, l.opens() && len(digits) >= 4 && len(digits) <= 8 && strings.Trim(digits, "0123456789") == ""
	case l.word == "pass" && strings.HasSuffix(strings.TrimRight(text[:i], " "), "with pass"):
		return found, clearlySecret(v)
	case l.word == "pass", l.word == "parole", l.word == "clave", l.word == "sandi":
		return sensitive.Finding{}, false
	case l.kind == sensitive.Password:
		return found, clearlySecret(v)
	case strings.Trim(v, "0123456789abcdef") == "":
		own := strings.Contains(l.word, "api") || isOwnToken(text[:i])
		return found, own && len(v) >= 16 && word.IsRandom(v+"-") && !word.IsReference(v)
	}
	const shortest = 20
	encoded := !strings.ContainsFunc(v, func(r rune) bool {
		return r != '-' && r != '_' && (r >= utf8.RuneSelf || !chars.IsBase64(byte(r))) //nolint:gosec // below 0x80
	})
	return found, encoded && len(v) >= shortest && word.IsRandom(v) && !word.IsReference(v) && v != strings.ToLower(v) &&
		v != strings.ToUpper(v)
}

// anotherField is a field after one whose value is the word for a password: method=password attempts=2.
var anotherField = regexp.MustCompile(`^[A-Za-z][A-Za-z_]+=[^=]`)

// clearlySecret reports whether v can hardly be a word of the sentence that it is in: it has six characters or more,
// with a letter and, within, a digit or a sign that words do not have.
func clearlySecret(v string) bool {
	low := chars.Lower(v)
	if utf8.RuneCountInString(v) < 6 || word.IsCode(v) || word.IsVersion(v) ||
		strings.ContainsAny(v, "/\\=:@<>{}$") && !word.IsMixed(v) ||
		strings.Contains(v, "://") || strings.ContainsAny(v, "()") || word.IsHashOrUUID(v) {
		return false
	}
	if word.IsAlgorithm(low) {
		return false
	}
	letter := strings.ContainsFunc(v, unicode.IsLetter)
	first := strings.IndexFunc(v, func(r rune) bool { return !unicode.IsLetter(r) })
	if !letter || first < 0 {
		return false
	}
	if strings.ContainsFunc(v, unicode.IsDigit) {
		// "16-character", "2nd" and "SHA-256" are words; "3xTra9z", "kettle42" and "Blue-Kettle-42" are not.
		return !strings.Contains(v, "-") || strings.ContainsAny(v, "!@#$%^&+?~") || isJoined(v)
	}
	return strings.ContainsAny(v[:len(v)-1], "!@#$%^&+?~")
}

// endsOddly reports whether v, which begins in a script without spaces, ends in a part that words of that script do not
// have: さくら-9241x.
func endsOddly(v string) bool {
	end := v[len(strings.TrimRightFunc(v, func(r rune) bool { return r < utf8.RuneSelf })):]
	return len(end) >= 4 && word.SecretLike(end) && !word.IsAlgorithm(chars.Lower(strings.TrimLeft(end, "-_ "))) &&
		strings.Trim(end, "0123456789") != ""
}

// suffixEnd returns where the rest of an identifier or an inflected word ends that a label begins.
func suffixEnd(text string, end int) int {
	const longest = 12
	for i := end; ; {
		r, n := utf8.DecodeRuneInString(text[i:])
		foreign := r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsMark(r)) && !chars.IsUnspaced(r)
		if n == 0 || i-end >= longest || r != '_' && !foreign && !chars.IsAlnum(text[i]) {
			return i
		}
		i += n
	}
}

// isConstant reports whether the identifier around text[pos:end] is written in capitals, as environment variables are.
func isConstant(text string, pos, end int) bool {
	for pos > 0 && (chars.IsAlnum(text[pos-1]) || text[pos-1] == '_') {
		pos--
	}
	name := text[pos:end]
	return name == strings.ToUpper(name) && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

// beginsLine reports whether the identifier around text[pos] is the first in its line.
func beginsLine(text string, pos int) bool {
	start := strings.LastIndexByte(text[:pos], '\n') + 1
	return strings.Trim(text[start:pos], " \t-_.abcdefghijklmnopqrstuvwxyz") == ""
}

// notSecret reports whether the rest of an identifier makes it the name of
// something about a password.
func notSecret(suffix string) bool {
	return word.HasAny(suffix, []string{
		"hash", "_file", "file", "_path", "length", "_len", "_url", "_id", "_type",
		"_field", "_reset", "_policy", "manager", "version", "less", "_name", "s_", "izer", "param", "verifier",
		"change", "expir", "_at", "_date", "_ttl", "_timeout", "_hint", "_count", "_min", "_max", "_age",
	})
}

// style is how a label and its value are joined.
type style int

// The styles.
const (
	prose    style = iota // "the password is x": the value looks like a secret, is quoted, or ends the sentence
	strictly              // the value looks like a secret
	assigned              // password = x: it looks like a secret, or is all that is left of the line
	entry                 // the same as the first of its line, as in YAML
	member                // "password": "x", as in JSON
	literal               // PASSWORD=x, --password=x: any value that is no placeholder
)

// value judges the value at i.
func value(text string, i int, l label, how style) (sensitive.Finding, bool) {
	none := sensitive.Finding{}
	if i >= len(text) || text[i] == '\n' {
		return none, false
	}
	if strings.IndexByte("NbBrRuUfE", text[i]) >= 0 && strings.IndexByte("\"'", chars.At(text, i+1)) >= 0 {
		i++ // the kind of a string: N'x', b"x"
	}
	if v, start, ok := quoted(text, i); ok {
		return l.kind.At(start, start+len(v)), quotedValue(text, v, start, l, how)
	}
	end := i
	first, _ := utf8.DecodeRuneInString(text[i:])
	unspaced := chars.IsUnspaced(first) // then a password begins with it, or a sentence
	for end < len(text) {
		r, n := utf8.DecodeRuneInString(text[end:])
		if unicode.IsSpace(r) || strings.ContainsRune("\"'`<>，。；、", r) ||
			r == '&' && end > i && isParameter(text[end+1:]) || end > i &&
			(r == ';' || chars.IsUnspaced(r) && (how == prose || !unspaced)) {
			break
		}
		end += n
	}
	v := text[i:end]
	v = strings.TrimRight(v, ".,:;)]}*")
	if t := strings.TrimRight(v, "!?"); !word.SecretLike(v) || word.SecretLike(t) &&
		strings.Count(v, "!")+strings.Count(v, "?") > 1 {
		v = t
	}
	end = i + len(v)
	found := l.kind.At(i, end)
	switch {
	case word.IsPlaceholder(v), strings.HasPrefix(v, "[REDACTED:"), strings.HasPrefix(v, "--"),
		word.IsMeasure(v), l.word == "psk" && word.IsAlgorithm(chars.Lower(v)), strings.Trim(v, "0123456789–") == "" &&
			strings.Contains(v, "–"),
		how != literal && v[0] == '!' && !strings.ContainsFunc(v[1:], func(r rune) bool { return !unicode.IsLetter(r) }):
		return none, false
	case l.word == "pass" && isCounted(v, text[end:]):
		return none, false
	case l.isPIN():
		digits := strings.TrimRight(v, "#*")
		if strings.Contains(l.word, "code") { // those of doors have letters too
			digits = strings.Trim(digits, "ABCDEF")
		}
		most, least := 8, 4
		if l.word == "cvv" || l.word == "cvc" {
			most, least = 4, 3
		}
		return found, len(digits) >= least && len(digits) <= most && strings.Trim(digits, "0123456789") == "" ||
			l.word != "pin" && clearlySecret(v)
	case len(v) < 4, len(v) > 200, unspaced && !endsOddly(v):
		return none, false
	case isEncodedKey(v) && l.kind != sensitive.Token:
		return found, true
	case how == literal && (l.kind == sensitive.Password || len(v) >= 8):
		return found, !word.IsCode(v) && !word.IsCommon(v) && !isReferenceTo(v)
	case word.SecretLike(v) && !word.IsCode(v) &&
		!(l.kind != sensitive.Password && (len(v) < 8 || !word.IsMixed(v) || word.IsReference(v))):
		return found, true
	case how == entry && l.kind == sensitive.Password && !l.weak && strings.Count(v, "-") > 1 && endsLine(text, end):
		return found, !word.IsCode(v)
	}
	ordinary := word.IsCommon(v) || word.IsCode(v) || isName(v) && how != prose || strings.ContainsAny(v, "/,-")
	goesOn := strings.IndexByte(",;)", chars.At(text, end)) >= 0 || !endsLine(text, end)
	return found, !l.weak && how != strictly && how != literal && !ordinary && !goesOn
}

// quotedValue judges v, which is in quotes at text[start:].
func quotedValue(text, v string, start int, l label, how style) bool {
	spaces := strings.ContainsAny(v, " \t")
	switch {
	case len(v) < 3, len(v) > 200, word.IsPlaceholder(v), strings.HasPrefix(v, "[REDACTED:"),
		strings.HasSuffix(v, "()"), l.weak && v[0] == '-', l.word == "pwd" && v[0] == '/' && strings.Count(v, "/") > 1:
		return false
	case how == literal:
		return !word.IsCommon(v) && !isReferenceTo(v)
	case spaces && how != prose && !l.weak && hasOddWord(v):
		return true
	case l.weak && !word.SecretLike(v),
		spaces && (how != prose && !l.isPhrase() || strings.Count(v, " ") > 8):
		return false
	case how == prose || how == strictly || word.SecretLike(v):
		return true
	}
	after := strings.TrimLeft(text[min(len(text), start+len(v)+1):], " \t")
	comment := strings.HasPrefix(after, "#") || strings.HasPrefix(after, "//") || strings.HasPrefix(after, "--")
	closes := endsLine(text, start+len(v)+1) || comment ||
		how == member && after != "" && strings.IndexByte(",}", after[0]) >= 0
	if spaces {
		return closes && isPassphrase(v)
	}
	return closes && !isPlainWord(v) && !namesPassword(v)
}

// namesPassword reports whether v is a word for a password, or several words, as in a form's labels.
func namesPassword(v string) bool {
	return strings.ContainsFunc(v, unicode.IsSpace) || hasLabel(v)
}

// hasLabel reports whether v has a word that announces a secret: a weak one only as a whole word.
func hasLabel(v string) bool {
	v = chars.LowerUnicode(v)
	for _, m := range labelTrie().MatchString(v) {
		l, at := labels[m.Pattern()], int(m.Pos())
		if !l.weak || !chars.IsAlnum(chars.At(v, at-1)) && !chars.IsAlnum(chars.At(v, at+len(l.word))) {
			return true
		}
	}
	return false
}

// isPassphrase reports whether v is several words, as a passphrase, and not a sentence about one.
func isPassphrase(v string) bool {
	list := strings.Fields(chars.Lower(v))
	return len(list) >= 3 && len(list) <= 8 && !hasLabel(v) && !slices.ContainsFunc(list, word.IsSentenceWord)
}

// hasOddWord reports whether v is a few words, one of which has digits among its letters: "n3ttle soup".
func hasOddWord(v string) bool {
	list := strings.Fields(chars.Lower(v))
	return len(list) <= 5 && !hasLabel(v) && slices.ContainsFunc(list, func(w string) bool {
		return len(w) >= 4 && word.IsMixed(w) && !word.IsAlgorithm(w) && !word.IsCode(w) && !strings.Contains(w, "-")
	}) && !slices.ContainsFunc(list, func(w string) bool { return word.IsSentenceWord(w) || word.IsCommon(w) })
}

// isEncodedKey reports whether v has the form of a secret key of AWS: 40 characters of base64, in both cases.
func isEncodedKey(v string) bool {
	for i := range len(v) {
		if !chars.IsBase64(v[i]) {
			return false
		}
	}
	return len(v) == 40 && word.IsMixed(v) && v != strings.ToLower(v) && v != strings.ToUpper(v) && word.Entropy(v) > 4
}

// isName reports whether v is an identifier of several words: sim_auth.
func isName(v string) bool {
	return strings.Contains(v, "_") &&
		!strings.ContainsFunc(v, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) })
}

// isReferenceTo reports whether v names where a value is: a path or a variable.
func isReferenceTo(v string) bool {
	return v != "" && (v[0] == '$' || v[0] == '@') || strings.HasPrefix(v, "file:") || strings.HasPrefix(v, "env:")
}

// isJoined reports whether v is capitalized words and a number, joined by hyphens.
func isJoined(v string) bool {
	parts := strings.Split(v, "-")
	number := 0
	for _, p := range parts {
		r, n := utf8.DecodeRuneInString(p)
		switch {
		case p == "":
			return false
		case strings.Trim(p, "0123456789") == "":
			number++
		case !unicode.IsUpper(r) || p[n:] != chars.Lower(p[n:]) || utf8.RuneCountInString(p) < 3:
			return false
		}
	}
	return number == 1 && len(parts) > 2
}
