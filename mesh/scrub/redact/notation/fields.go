package notation

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	ahocorasick "github.com/BobuSumisu/aho-corasick"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/chars"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/sensitive"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/word"
)

// nameStems are in every name that [meaningOf] knows, in lower case.
var nameStems = []string{
	"pass", "pwd", "pw", "psw", "psk", "secret", "token", "key", "salt", "pin", "puk", "code", "código", "codice",
	"credential", "kennwort", "contraseñ", "contrasen", "clave", "senha", "wachtwoord", "lösenord", "adgangskode",
	"salasana", "hasło", "haslo", "heslo", "jelszó", "parola", "parool", "lozinka", "пароль", "şifre", "sifre", "otp",
	"authtok", "schlüssel", "lockbox", "keybox", "kombination", "combina", "mdp", "masterauth", "cvv", "cvc",
	"geheimzahl", "seed", "パスワード", "密码", "密碼", "口令",
	"비밀번호", "암호", "community",
}

var stemTrie = sync.OnceValue(func() *ahocorasick.Trie {
	return ahocorasick.NewTrieBuilder().AddStrings(nameStems).Build()
})

// joint is what is between a name and its value.
type joint int

// The joints.
const (
	unjoined joint = iota
	tight          // NAME=value
	option         // --name value
	loose          // name = value, name: value, name => value
	arrow          // name -> value, name – value
	column         // name    value
	argued         // "name", value
	nextLine       // the value is in the line after the name's
)

// mention is where a text has a stem of a name.
type mention struct{ pos, end int }

// mentionsIn returns where the stems of names are, in order. Short ones are parts of other words, such as "shipping"
// and "monkeys": they count where a word of a name begins or ends.
func mentionsIn(text, lower string) (list []mention) {
	const short = 4
	letter := func(i int) bool { c := chars.At(text, i); return 'a' <= c && c <= 'z' }
	for _, m := range stemTrie().MatchString(lower) {
		pos := int(m.Pos())
		end := pos + len(m.MatchString())
		word := lower[pos:end]
		if len(word) <= short && word != "pass" && (letter(end) || letter(pos-1) && letter(pos) && word != "key" &&
			word != "pwd" &&
			word != "code" && word != "pw" && word != "otp") {
			continue
		}
		if word == "pass" && letter(pos-1) && letter(pos) && letter(end) && !strings.HasPrefix(lower[end:], "w") {
			continue // compassion
		}
		if strings.HasPrefix(text[max(0, pos-len("[REDACTED:")):], "[REDACTED:") {
			continue
		}
		list = append(list, mention{pos, end})
	}
	return list
}

// findFields finds the values of fields whose name says that they are secret, whatever joins the two.
func findFields(text string, mentions []mention) (found []sensitive.Finding) {
	done := 0
	for _, m := range mentions {
		if m.pos < done {
			continue
		}
		end := identifierEnd(text, m.end)
		done = end
		if chars.At(text, m.pos-1) == ':' && chars.At(text, end) == ':' { // a field of others: arn:aws:x:secret:y
			continue
		}
		how, at := jointAt(text, end)
		nameEnd := end
		if how == unjoined { // "password for the router: x"
			remark, ok := skipRemark(text, end)
			if m := namedAfter.FindStringIndex(text[end:min(len(text), end+60)]); !ok && m != nil &&
				!word.HasAny(chars.LowerUnicode(text[end:end+m[1]]), notValues) {
				remark, ok = end+m[1]-1, true
			} else {
				nameEnd = remark
			}
			if !ok || strings.ContainsAny(text[end:remark], "\n,;()") {
				continue
			}
			if end = remark; end < len(text) {
				how, at = jointAt(text, end)
			}
			if how != loose && how != arrow {
				continue
			}
		}
		mean := meaningOf(fieldName(text, m.pos, nameEnd, how))
		if mean == other && isWirelessKey(text, m, end) {
			mean = isPhrase
		}
		if mean == other || at >= len(text) {
			continue
		}
		if how == nextLine && !isLabel(text, end) {
			continue
		}
		if f, ok := fieldValue(text, at, mean, how); ok {
			found = append(found, f)
		}
	}
	return found
}

// isLabel reports whether the line up to text[end] is nothing but a few words.
func isLabel(text string, end int) bool {
	const longest = 40
	line := strings.Trim(text[strings.LastIndexByte(text[:end], '\n')+1:end], " \t-*•#>_\"'")
	line = strings.ReplaceAll(line, " .", " ") // a file
	return len(line) <= longest && !strings.ContainsFunc(strings.TrimRight(line, "0123456789"), func(r rune) bool {
		return !unicode.IsLetter(r) && !strings.ContainsRune(" -_'’/()", r)
	})
}

// namedAfter is a name between the word for a password and its value: "Passwort Google: x".
var namedAfter = regexp.MustCompile(`^(?: \p{Lu}[\p{L}\d.-]{1,20}){1,2} ?[:=]`)

// notValues are in the names of what passwords have and of what is made of them.
var notValues = []string{"länge", "length", "hash", "policy", "strength", "hint"}

// wireless is in the lines before the key of a wireless network.
var wireless = regexp.MustCompile(`(?i)\b(?:ssid|wi-?fi|wlan|wireless|hotspot)\b`)

// isWirelessKey reports whether a mention is the field "Key" of a list about a wireless network.
func isWirelessKey(text string, m mention, end int) bool {
	const reach = 120
	line := text[strings.LastIndexByte(text[:m.pos], '\n')+1 : m.pos]
	if strings.HasSuffix(line, "].") { // @wifi-iface[0].key
		return wireless.MatchString(line)
	}
	line = strings.Trim(line[strings.LastIndexAny(line, "/|,")+1:], " \t-*•")
	name := chars.LowerUnicode(text[m.pos:end])
	return line == "" && (name == "key" || name == "schlüssel") && wireless.MatchString(text[max(0, m.pos-reach):m.pos])
}

// identifierEnd returns where the identifier around text[i] ends.
func identifierEnd(text string, i int) int {
	for i < len(text) {
		r, n := utf8.DecodeRuneInString(text[i:])
		joined := (r == '-' || r == '.') && chars.IsAlnum(chars.At(text, i+1)) && rune(chars.At(text, i-1)) != r
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '_' && !joined {
			break
		}
		i += n
	}
	return i
}

// fieldName returns the identifier around text[pos:end] with the words before it that belong to it.
func fieldName(text string, pos, end int, how joint) string {
	start, words := pos, 0
	for start > 0 {
		r, n := utf8.DecodeLastRuneInString(text[:start])
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r), r == '_', r == '-', r == '.', r == '\'', r == '’':
			start -= n
			continue
		case r == ' ' && words < 3 && how != argued && start > 1 && unicode.IsLetter(rune(text[start-2])):
			words++
			start -= n
			continue
		}
		break
	}
	return text[start:end]
}

// jointAt returns what follows a name that ends at i, and where the value begins.
func jointAt(text string, i int) (joint, int) {
	quote := byte(0)
	for i < len(text) && strings.IndexByte("\"'`*_]\\", text[i]) >= 0 {
		if strings.IndexByte("\"'`", text[i]) >= 0 {
			quote = text[i]
		}
		i++
	}
	gap := i
	i = skipBlank(text, i)
	if c := chars.At(text, i); i > gap && (c == '(' || c == '[') { // a remark
		if n := strings.IndexAny(text[i:min(len(text), i+60)], ")]\n"); n > 0 && text[i+n] != '\n' {
			i = skipBlank(text, i+n+1)
		}
	}
	rest := text[i:]
	if variable := strings.LastIndex(text[max(0, gap-80):gap], "${"); variable >= 0 && // ${PASSWORD:-x}
		!strings.ContainsAny(text[max(0, gap-80)+variable:gap], "} \n") {
		if strings.HasPrefix(rest, ":-") || strings.HasPrefix(rest, ":=") {
			return tight, i + len(":-")
		}
		return unjoined, 0
	}
	for _, j := range []struct {
		sign string
		how  joint
	}{
		{"==", unjoined},
		{"!=", unjoined},
		{"::", unjoined},
		{":=", loose},
		{"=>", loose},
		{"=", loose},
		{"->", arrow},
		{"→", arrow},
		{"➜", arrow},
		{"⇒", arrow},
		{">>", arrow},
		{"–", arrow},
		{"—", arrow},
		{":", loose},
		{"：", loose},
		{"REG_SZ", column},
		{`. "`, loose},
	} {
		if !strings.HasPrefix(rest, j.sign) {
			continue
		}
		at := i + len(strings.TrimSuffix(j.sign, `"`))
		for strings.HasPrefix(text[at:], "**") || strings.HasPrefix(text[at:], "__") { // **Password:** x
			at += len("**")
		}
		value := skipBlank(text, at)
		if m := inlineElement.FindStringIndex(text[value:]); m != nil {
			value += m[1]
		}
		switch {
		case j.sign == "=" && gap == i && value == at && isOption(text, gap):
			return option, value
		case j.sign == "=" && gap == i && value == at:
			return tight, value
		case chars.At(text, value) == '\n' || chars.At(text, value) == '\r':
			if j.sign[0] != ':' {
				return unjoined, 0
			}
			return nextLine, value
		}
		return j.how, value
	}
	switch {
	case quote != 0 && strings.HasPrefix(rest, ","):
		return argued, skipBlank(text, i+1)
	case strings.HasPrefix(rest, "\n"), strings.HasPrefix(rest, "\r\n"):
		return nextLine, i
	case i-gap > 1 || i > gap && text[gap] == '\t':
		return column, i
	case i > gap && strings.IndexByte("\"'`", chars.At(text, i)) >= 0 && !isVerb(text, gap):
		if isKeyword(text, gap) {
			return loose, i
		}
		return argued, i
	case i == gap+1 && isOption(text, gap):
		return option, i
	}
	return unjoined, 0
}

// inlineElement begins an element around a value: Password: <b>x</b>.
var inlineElement = regexp.MustCompile(`^(?:<(?:b|strong|code|em|i|kbd|tt|samp|span)\b[^<>\n]*>)+`)

// isVerb reports whether the word "pass" alone ends at i, which is seldom a name: pass "x" to it.
func isVerb(text string, i int) bool {
	return strings.EqualFold(text[max(0, i-len("pass")):i], "pass") && chars.At(text, i-len("pass")-1) <= ' '
}

// isKeyword reports whether a keyword of Clojure ends at i: :password "x".
func isKeyword(text string, i int) bool {
	start := i
	for start > 0 && (chars.IsAlnum(text[start-1]) || strings.IndexByte("-_.", text[start-1]) >= 0) {
		start--
	}
	return chars.At(text, start-1) == ':' && strings.IndexByte("\x00 \t\n{(", chars.At(text, start-2)) >= 0
}

// isOption reports whether a long option of a command line ends at i.
func isOption(text string, i int) bool {
	start := i
	for start > 0 && (chars.IsAlnum(text[start-1]) || text[start-1] == '-') {
		start--
	}
	return strings.HasPrefix(text[start:i], "--") && chars.At(text, start-1) <= ' '
}

// fieldValue judges the value at i.
func fieldValue(text string, i int, mean meaning, how joint) (sensitive.Finding, bool) {
	i = blockScalar(text, i)
	if how == nextLine {
		i = i + len(text[i:]) - len(strings.TrimLeft(text[i:], " \t\r\n"))
	}
	for _, wrapper := range []string{"Some(", "Secret(", "SecretString(", "String(", "[]byte(", "N", "b", "@"} {
		if n := i + len(wrapper); strings.HasPrefix(text[i:], wrapper) && strings.IndexByte("\"'", chars.At(text, n)) >= 0 {
			i = n
		}
	}
	if q := chars.At(text, i+1); chars.At(text, i) == '\\' && (q == '"' || q == '\'') { // JSON in a string of JSON
		if n := strings.Index(text[i+2:min(len(text), i+300)], text[i:i+2]); n > 0 {
			return mean.kind().At(i+2, i+2+n), quotedField(text[i+2:i+2+n], mean, how)
		}
	}
	if v, start, ok := quotedString(text, i); ok {
		found := mean.kind().At(start, start+len(v))
		if how == nextLine || how == column && !endsLine(text, found.End+1) {
			return found, false
		}
		return found, quotedField(v, mean, how)
	}
	if i >= len(text) {
		return sensitive.Finding{}, false
	}
	if how == argued { // only what is in quotes
		return sensitive.Finding{}, false
	}
	end := i
	for end < len(text) && text[end] > ' ' && strings.IndexByte("\"'`<>", text[end]) < 0 {
		if c := chars.At(text, end+1); text[end] == '\\' && (c == 'n' || c == 'r' || c == '"') { // in a string of a program
			break
		}
		if (text[end] == ';' || text[end] == ',' || text[end] == '&' && isParameter(text[end+1:])) && how == tight {
			break
		}
		end++
	}
	v := strings.TrimRight(text[i:end], ",;:.)]}*|")
	if how == loose && (mean == isPhrase || mean == isPassword) && text[i] != '<' {
		line, _, _ := strings.Cut(text[i:], "\n")
		if line = strings.TrimRight(line, " \t\r"); strings.ContainsAny(line, " ") && isTypedPhrase(line, isPassword) &&
			len(strings.Fields(line)) > 2 && isWords(line) || isAppPassword(line) {
			return sensitive.Password.At(i, i+len(line)), mean == isPhrase || isAppPassword(line)
		}
	}
	end = i + len(v)
	found := mean.kind().At(i, end)
	if v == "" || len(v) > 400 {
		return found, false
	}
	if how == loose && mean == isPassword && belowAccount(text, i) && endsLine(text, end) && isWord(v) {
		return found, true
	}
	sure := mean == isPassword &&
		(how != loose || !weakLabel.MatchString(lineTo(text, i)) || belowAccount(text, i))
	if how == loose && sure && endsLine(text, end) && isNameWord(v) && labelled.MatchString(lineTo(text, i)) {
		return found, true
	}
	switch how {
	case nextLine:
		odd := word.IsMixed(v) || oddSigns(v) || mean == isPassword && isNickname(v) || mean == isDoorCode
		if !odd || !endsLine(text, end) || strings.Contains(v, "_") && strings.Contains(v, ".") {
			return found, false
		}
	case column:
		after := text[end:]
		if !endsLine(text, end) && !strings.HasPrefix(after, "  ") && !strings.HasPrefix(after, "\t") {
			return found, false
		}
	}
	ends := how == loose && endsLine(text, end) || how == tight && endsValue(text, end)
	if ends && mean != isDoorCode && isCamelPhrase(v) {
		return found, true
	}
	ends = ends || (how == loose || how == tight) && strings.IndexByte(",;&'\"", chars.At(text, end)) >= 0
	if ends && sure && !notSaid(v) && (isCapitalized(v) || isWordPair(v)) {
		return found, true
	}
	return found, plainField(v, mean, how)
}

// labelled is a line up to its value that has nothing but a label.
var labelled = regexp.MustCompile(`^[ \t>*•-]*\pL[\pL -]{2,24}[:：][ \t]*$`)

// weakLabel is a line up to its value whose label has other meanings: a mountain pass, the Spanish word for a key.
var weakLabel = regexp.MustCompile(
	`(?i)^[ \t>*•-]*(?:[\pL-]+ )*(?:pass|clave|parola|parole|hasło|haslo)[ \t]*[:：][ \t]*$`)

// lineTo returns the line of text[i] up to there.
func lineTo(text string, i int) string { return text[strings.LastIndexByte(text[:i], '\n')+1 : i] }

// endsValue reports whether a value that ends at i is followed by a blank or nothing, as in a list of variables.
func endsValue(text string, i int) bool { return i >= len(text) || text[i] <= ' ' }

// account is a line with the name of an account.
var account = regexp.MustCompile(`(?i)^\W*(?:user(?:name)?|benutzer\w*|nutzer\w*|kennung|login|usuario|usuário|` +
	`utente|utilisateur|gebruiker\w*|konto|account|e-?mail|id)\b[^\n:=]{0,12}[:=]\s*\S+\s*$`)

// belowAccount reports whether the line before that of text[i] has the name of an account.
func belowAccount(text string, i int) bool {
	const longest = 100
	end := strings.LastIndexByte(text[:i], '\n')
	if end < 0 {
		return false
	}
	line := text[strings.LastIndexByte(text[:end], '\n')+1 : end]
	return len(line) < longest && account.MatchString(line)
}

// isNameWord reports whether v is a word with a capital that is none of English and of no program, as a name is.
func isNameWord(v string) bool {
	const shortest = 6
	low := chars.LowerUnicode(v)
	r, n := utf8.DecodeRuneInString(v)
	return utf8.RuneCountInString(v) >= shortest && unicode.IsUpper(r) && v[n:] == low[n:] && isWord(v) &&
		!word.IsEnglish(low) && !strings.Contains(low, "pass") && word.ClueOf(low) == (word.Clue{})
}

// isWord reports whether v is letters that can be a password: no word that is in the place of one.
func isWord(v string) bool {
	const shortest = 5
	return len(v) >= shortest && word.IsLetters(v) && strings.ToUpper(v) != v && !isPlainWord(v) && !notSaid(v) &&
		!hasLabel(v) && !programWords[chars.Lower(v)]
}
