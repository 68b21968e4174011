package notation

import (
	"strings"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/chars"
)

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

// quotedString returns the string in quotes that begins at i, in which the quotes can be escaped or doubled.
func quotedString(text string, i int) (v string, start int, ok bool) {
	q := chars.At(text, i)
	if q != '"' && q != '\'' {
		return quoted(text, min(i, len(text)))
	}
	for k := i + 1; k < len(text) && text[k] != '\n'; k++ {
		switch {
		case text[k] == '\\':
			k++
		case text[k] == q && chars.At(text, k+1) == q && k > i+1:
			k++
		case text[k] == q:
			return text[i+1 : k], i + 1, k > i+1
		}
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

// blockScalar returns where the text of a block scalar of YAML begins if one begins at i, and i otherwise.
func blockScalar(text string, i int) int {
	n := i
	if c := chars.At(text, n); c != '|' && c != '>' {
		return i
	}
	n += 1 + len(text[n+1:]) - len(strings.TrimLeft(text[n+1:], "+-123456789"))
	if n = skipBlank(text, n); chars.At(text, n) != '\n' {
		return i
	}
	return skipBlank(text, n+1)
}

// skipBlank returns the offset of the first character from i on that is no space or tab.
func skipBlank(text string, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t') {
		i++
	}
	return i
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
	for _, p := range []string{
		"for ", "of ", "on ", "at ", "in ", "to the ", "für ", "fürs ", "zum ", "vom ", "de ", "del ", "da ", "do ", "dos ",
		"para ", "pour ", "du ", "des ", "della ", "dello ", "di ", "van ", "voor ", "na ", "dla ", "od ", "za ", "pro ",
		"d'", "d’", "dell'",
		"от ", "для ", "к ", "на ", "på ", "til ", "till ", "för ", "im ", "am ", "beim ",
	} {
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
			for _, verb := range []string{
				"is ", "ist ", "lautet ", "heißt ", "est ", "es ", "was ", "é ", "è ", "to ", "je ", "er ", "är ", "это ",
				"— ", "– ", "теперь ", "would ", "should ", "shall ", "will ", "must ", "has ", "war ", "était ", "era ", "var ",
			} {
				if strings.HasPrefix(text[m:], verb) {
					return k, true
				}
			}
			k = m
		}
	}
	return i, false
}

// adverbs are between "is" and a secret.
var adverbs = []string{
	"now ", "still ", "currently ", "just ", "simply ", "actually ", "again ", "always ", "jetzt ", "nun ",
	"noch ", "wieder ", "immer ", "maintenant ", "toujours ", "ahora ", "agora ", "adesso ", "теперь ", "сейчас ",
	"teraz ", "nu ",
}

// skipAdverb passes one of them.
func skipAdverb(text string, i int) int {
	for _, a := range adverbs {
		if len(text) >= i+len(a) && strings.EqualFold(text[i:i+len(a)], a) {
			return skipBlank(text, i+len(a))
		}
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

// isParameter reports whether s begins with the name of a parameter and "=", as after the "&" of a query.
func isParameter(s string) bool {
	n := 0
	for n < len(s) && (chars.IsAlnum(s[n]) || s[n] == '_' || s[n] == '-') {
		n++
	}
	return n > 0 && chars.At(s, n) == '='
}

// lineAt returns the line of text that begins at i, with its end.
func lineAt(text string, i int) string {
	if n := strings.IndexByte(text[i:], '\n'); n >= 0 {
		return text[i : i+n+1]
	}
	return text[i:]
}
