package redact

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/chars"
)

// label is a word that announces a secret.
type label struct {
	word string
	kind Kind
	// weak words ("pass", "key") have other meanings: they announce a secret
	// only as a word of their own, and only one that does not look like a word.
	weak bool
}

var labels = []label{
	{word: "password", kind: Password},
	{word: "passwd", kind: Password},
	{word: "passphrase", kind: Password},
	{word: "passcode", kind: Password},
	{word: "passwort", kind: Password},
	{word: "kennwort", kind: Password},
	{word: "contraseña", kind: Password},
	{word: "contrasena", kind: Password},
	{word: "mot de passe", kind: Password},
	{word: "senha", kind: Password, weak: true},
	{word: "wachtwoord", kind: Password},
	{word: "hasło", kind: Password},
	{word: "lösenord", kind: Password},
	{word: "пароль", kind: Password},
	{word: "Пароль", kind: Password},
	{word: "密码", kind: Password},
	{word: "密碼", kind: Password},
	{word: "パスワード", kind: Password},
	{word: "비밀번호", kind: Password},
	{word: "pwd", kind: Password},
	{word: "pass", kind: Password, weak: true},
	{word: "pw", kind: Password, weak: true},
	{word: "pin", kind: Password, weak: true},
	{word: "pin code", kind: Password, weak: true},
	{word: "api key", kind: APIKey, weak: true},
	{word: "api-key", kind: APIKey, weak: true},
	{word: "api_key", kind: APIKey, weak: true},
	{word: "apikey", kind: APIKey, weak: true},
	{word: "secret key", kind: APIKey, weak: true},
	{word: "secret_key", kind: APIKey, weak: true},
	{word: "secret access key", kind: APIKey, weak: true},
	{word: "access key", kind: APIKey, weak: true},
	{word: "access_key", kind: APIKey, weak: true},
	{word: "secret", kind: APIKey, weak: true},
	{word: "token", kind: Token, weak: true},
}

// connectors join a label and its value in prose, longest first.
var connectors = []string{
	"is now set to", "has been set to", "has been changed to", "was changed to", "is set to", "is currently", "is still",
	"changed to", "set to", "reset to", "is now",
	"lautet", "ist", "is", "was", "to", "es", "est", "é", "era", "son",
}

// findPasswords finds secrets that a label announces: in assignments and
// configuration ("password = …", "DB_PASSWORD: …", "--password …") and in
// prose ("my password is …", "die PIN lautet …", "密码是…"). In prose the
// value must look like a secret, be quoted, or end the sentence.
func findPasswords(text string) []Finding {
	lower := chars.Lower(text)
	var found []Finding
	for _, l := range labels {
		for at := 0; ; {
			i := strings.Index(lower[at:], l.word)
			if i < 0 {
				break
			}
			pos := at + i
			at = pos + len(l.word)
			if l.weak && (chars.IsAlnum(chars.At(text, pos-1)) || chars.IsAlpha(chars.At(text, at))) {
				continue
			}
			if f, ok := announced(text, lower, pos, at, l); ok {
				found = append(found, f)
			}
		}
	}
	return found
}

// announced judges what follows the label text[pos:end].
func announced(text, lower string, pos, end int, l label) (Finding, bool) {
	i := end
	if chars.At(text, pos-1) == ':' && chars.At(text, end) == ':' { // name:password:uid
		return Finding{}, false
	}
	flag := strings.HasPrefix(text[max(0, pos-2):], "--") || strings.Contains(text[max(0, pos-20):pos], " --")
	// The rest of an identifier: DB_PASSWORD_2, passwords, "password".
	for i < len(text) && i-end < 12 && (chars.IsAlnum(text[i]) || text[i] == '_') {
		i++
	}
	if suffix := lower[end:i]; notSecret(suffix) {
		return Finding{}, false
	}
	for i < len(text) && strings.IndexByte("\"'`*", text[i]) >= 0 {
		i++
	}
	i, extra := skipRemark(text, i)
	gap := i
	i = skipBlank(text, i)
	rest := text[i:]
	op := operator(rest)
	switch {
	case op > 0:
		i += op
		for _, again := range []string{"**", "\"", "'"} { // "**password:** x"
			if again == "**" && strings.HasPrefix(text[i:], again) {
				i += len(again)
			}
		}
		return value(text, skipBlank(text, i), l, true, flag)
	case flag && gap < i && !extra:
		return value(text, i, l, true, true)
	}
	for _, c := range connectors {
		if len(rest) > len(c) && strings.EqualFold(rest[:len(c)], c) && (rest[len(c)] == ' ' || rest[len(c)] == ':') {
			i += len(c) + 1
			i = skipBlank(text, i)
			if c == "to" && l.weak {
				return Finding{}, false
			}
			return value(text, i, l, false, c == "to")
		}
	}
	for _, c := range []string{"是", "为", "は", "は、", "은", "는"} {
		if strings.HasPrefix(rest, c) {
			return value(text, skipBlank(text, i+len(c)), l, false, false)
		}
	}
	if gap < i && !extra && !strings.ContainsAny(text[end:gap], "\"'`*") { // "aws secret wJal…"
		const shortest = 20
		v := text[i:]
		n := 0
		for n < len(v) && (isBase64(v[n]) || v[n] == '-' || v[n] == '_') {
			n++
		}
		v = strings.TrimRight(v[:n], "-_")
		if len(v) >= shortest && len(v) <= 200 && random(v) && !isReference(v) && v != strings.ToLower(v) &&
			v != strings.ToUpper(v) {
			return Finding{l.kind, i, i + len(v)}, true
		}
	}
	return Finding{}, false
}

// notSecret reports whether the rest of an identifier makes it the name of
// something about a password.
func notSecret(suffix string) bool {
	return containsAny(suffix, []string{
		"hash", "_file", "file", "_path", "length", "_len", "_url", "_id", "_type",
		"_field", "_reset", "_policy", "manager", "version", "less", "_name", "s_", "izer",
	})
}

// skipRemark passes "for the wifi", "of admin" and "(staging)" between a label
// and what joins its value; other reports whether there was one.
func skipRemark(text string, i int) (int, bool) {
	j := skipBlank(text, i)
	if chars.At(text, j) == '(' {
		if k := strings.IndexAny(text[j:min(len(text), j+60)], ")\n"); k > 0 && text[j+k] == ')' {
			return j + k + 1, true
		}
		return i, false
	}
	for _, p := range []string{"for ", "of ", "on ", "at ", "in ", "to the ", "für ", "de ", "del ", "pour "} {
		if !strings.HasPrefix(text[j:], p) {
			continue
		}
		k := j
		for range 7 {
			for k < len(text) && text[k] > ' ' && text[k] != ':' && text[k] != '=' {
				k++
			}
			if chars.At(text, k) == ':' || chars.At(text, k) == '=' {
				return k, true
			}
			m := k
			for m < len(text) && text[m] == ' ' {
				m++
			}
			if m == k || m-k > 1 {
				break
			}
			for _, verb := range []string{"is ", "ist ", "lautet ", "est ", "es ", "was "} {
				if strings.HasPrefix(text[m:], verb) {
					return k, true
				}
			}
			k = m
		}
	}
	return i, false
}

// skipBlank returns the offset of the first character from i on that is no space or tab.
func skipBlank(text string, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t') {
		i++
	}
	return i
}

// operator returns the length of the assignment that s begins with, 0 for none. Comparisons and :: assign nothing.
func operator(s string) int {
	for _, op := range []string{":=", "=>", "==", "!=", "=", "::", ":", "："} {
		if strings.HasPrefix(s, op) {
			if op == "==" || op == "!=" || op == "::" {
				return 0
			}
			return len(op)
		}
	}
	return 0
}

// value judges the value at i. After an operator a bare value counts when it
// looks like a secret, or is all that is left of the line; in prose, when it
// looks like a secret or ends the sentence. strict demands the first.
func value(text string, i int, l label, assigned, strict bool) (Finding, bool) {
	none := Finding{}
	if i >= len(text) || text[i] == '\n' {
		return none, false
	}
	if v, start, ok := quoted(text, i); ok {
		spaces := strings.ContainsAny(v, " \t")
		if len(v) < 3 || len(v) > 200 || isPlaceholder(v) || l.weak && !secretLike(v) || strings.HasPrefix(v, "[REDACTED:") {
			return none, false
		}
		if spaces && (assigned && l.word != "passphrase" || strings.Count(v, " ") > 8) {
			return none, false
		}
		if assigned && !secretLike(v) && (commonWord(v) || containsAny(chars.Lower(v), []string{"passw", "kennwort"}) ||
			!endsLine(text, start+len(v)+1)) {
			return none, false
		}
		return Finding{l.kind, start, start + len(v)}, true
	}
	end := i
	for end < len(text) {
		r, n := utf8.DecodeRuneInString(text[end:])
		if unicode.IsSpace(r) || strings.ContainsRune("\"'`<>，。；、", r) || end > i &&
			(r == ';' || chars.IsUnspaced(r)) {
			break
		}
		end += n
	}
	v := text[i:end]
	v = strings.TrimRight(v, ".,:;)]}*")
	if t := strings.TrimRight(v, "!?"); !secretLike(v) || secretLike(t) &&
		strings.Count(v, "!")+strings.Count(v, "?") > 1 {
		v = t
	}
	end = i + len(v)
	if len(v) < 4 || len(v) > 200 || isPlaceholder(v) || strings.HasPrefix(v, "[REDACTED:") {
		return none, false
	}
	if l.word == "pin" || l.word == "pin code" {
		return Finding{l.kind, i, end}, len(v) <= 8 && strings.Trim(v, "0123456789") == ""
	}
	if secretLike(v) && !isCode(v) && !(l.kind != Password && (len(v) < 8 || !mixed(v) || isReference(v))) {
		return Finding{l.kind, i, end}, true
	}
	if l.weak || strict || commonWord(v) || isCode(v) || strings.ContainsAny(v, "/,-") || chars.At(text, end) == ',' ||
		chars.At(text, end) == ';' || chars.At(text, end) == ')' || !endsLine(text, end) {
		return none, false
	}
	return Finding{l.kind, i, end}, true
}

// quoted returns the string in quotes that begins at i.
func quoted(text string, i int) (v string, start int, ok bool) {
	for _, q := range []struct{ open, close string }{
		{`"`, `"`},
		{"'", "'"},
		{"`", "`"},
		{"“", "”"},
		{"‘", "’"},
		{"„", "“"},
		{"«", "»"},
		{"「", "」"},
		{"**", "**"},
	} {
		if !strings.HasPrefix(text[i:], q.open) {
			continue
		}
		start = i + len(q.open)
		n := strings.Index(text[start:], q.close)
		if n <= 0 || strings.ContainsRune(text[start:start+n], '\n') {
			return "", 0, false
		}
		return text[start : start+n], start, true
	}
	return "", 0, false
}

// endsLine reports whether nothing follows position i in its line or
// sentence.
func endsLine(text string, i int) bool {
	rest := text[min(i, len(text)):]
	if nl := strings.IndexByte(rest, '\n'); nl >= 0 {
		rest = rest[:nl]
	}
	rest = strings.TrimLeft(rest, ".!\"'`*)")
	return strings.TrimSpace(rest) == ""
}

// secretLike reports whether v does not look like a word: it has a digit, or
// a sign that words do not have, or capitals within.
func secretLike(v string) bool {
	letters, inner, runes := 0, 0, 0
	for i, r := range v {
		runes++
		switch {
		case unicode.IsDigit(r), strings.ContainsRune("!@#$%^&+?~", r):
			return utf8.RuneCountInString(v) >= 4
		case unicode.IsLetter(r):
			letters++
			if i > 0 && unicode.IsUpper(r) {
				inner++
			}
		}
	}
	return letters == runes && inner > 0 && inner < letters-1
}

// isCode reports whether an unquoted value is an expression.
func isCode(v string) bool {
	if strings.HasPrefix(v, "0x") && strings.Trim(v[2:], "0123456789abcdefABCDEF") == "" && len(v) <= 10 {
		return true
	}
	if strings.HasPrefix(v, "/") || strings.HasPrefix(v, "./") || strings.HasPrefix(v, "~/") || strings.HasPrefix(v, "*") {
		return true
	}
	if strings.ContainsAny(v, "()[]{}\\|") || strings.Contains(v, "::") || strings.Contains(v, "->") ||
		strings.Contains(v, "//") {
		return true
	}
	// user.password, opts.Token2
	if strings.Contains(v, ".") && !strings.ContainsAny(v, "!@#$%^&+?~") {
		return !strings.ContainsFunc(v, func(r rune) bool { return r != '.' && r != '_' && !unicode.IsLetter(r) }) ||
			isVersion(v)
	}
	// camelCase and PascalCase names
	return !strings.ContainsFunc(v, func(r rune) bool { return !unicode.IsLetter(r) && r != '_' }) &&
		v != strings.ToLower(v)
}

func isVersion(v string) bool {
	return strings.Trim(strings.TrimPrefix(v, "v"), "0123456789.") == ""
}

// plain are words that follow "password is" or "password:" without being one.
var plain = strings.Fields(`
	a an the my your our their his her its this that these those it he she they we you i and or but not no yes in on at by
	for from of to with
	as if when then than so too very also only just still now never always often already there here what which who where
	how why because
	required optional hidden empty blank missing wrong incorrect invalid valid correct right weak strong expired unknown
	secret private public
	hashed salted encrypted stored saved kept needed used unused set unset changed reset shared lost forgotten leaked
	compromised broken
	safe secure insecure case-sensitive same different unique default temporary random short long new old good bad fine
	okay true false
	null nil none undefined string text int number bool boolean bytes byte char object array list optional any str varchar
	input field value
	type name label user username email login admin must should can cannot will would may might being been gone going
	coming about
	available unavailable protected enabled disabled supported deprecated generated rotated verified confirmed accepted
	rejected refused
	something nothing everything written sent sensitive ok todo tbd see wie nicht falsch richtig sehr ein eine der die das
	ist`)

// commonWord reports whether v is an ordinary word rather than a password, by a list and by endings of English
// adjectives and verbs.
func commonWord(v string) bool {
	v = strings.ToLower(strings.Trim(v, "._-"))
	if slices.Contains(plain, v) {
		return true
	}
	for _, end := range []string{"ed", "ing", "able", "ible", "ly", "ent", "ive", "ous", "ally"} {
		if len(v) > len(end)+3 && strings.HasSuffix(v, end) {
			return true
		}
	}
	return false
}
