package redact

import (
	"encoding/base64"
	"regexp"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/chars"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/word"
)

// findPrivateKeys finds PEM and PGP private keys, also ones cut off before
// their END line.
func findPrivateKeys(text string) []Finding {
	const begin, end = "-----BEGIN ", "-----END "
	var found []Finding
	for at := 0; ; {
		i := strings.Index(text[at:], begin)
		if i < 0 {
			return found
		}
		start := at + i
		at = start + len(begin)
		head := strings.Index(text[at:min(len(text), at+100)], "-----")
		if head < 0 || !strings.Contains(text[at:at+head], "PRIVATE KEY") {
			continue
		}
		body := at + head + 5
		rest := text[body:]
		if next := strings.Index(rest, begin); next >= 0 {
			rest = rest[:next]
		}
		var stop int
		if e := strings.Index(rest, end); e >= 0 {
			stop = body + e + len(end)
			if d := strings.Index(text[stop:min(len(text), stop+100)], "-----"); d >= 0 {
				stop += d + 5
			}
		} else {
			stop = keyBodyEnd(text[:body+len(rest)], body)
		}
		found = append(found, PrivateKey.At(start, stop))
		at = stop
	}
}

// encodedKey is the base64 of a PEM, as Kubernetes keeps it.
var encodedKey = regexp.MustCompile(`\bLS0tLS1CRUdJTi[A-Za-z0-9+/_-]{40,}={0,2}`)

// findEncodedKeys finds private keys whose PEM is in base64.
func findEncodedKeys(text string) (found []Finding) {
	const head = 64 // characters, as many as the first line has
	if !strings.Contains(text, "LS0tLS1CRUdJTi") {
		return nil
	}
	for _, m := range encodedKey.FindAllStringIndex(text, -1) {
		v := text[m[0]:m[1]]
		begin, _ := base64.StdEncoding.DecodeString(v[:min(len(v)/4*4, head)]) // what it could decode
		if strings.Contains(string(begin), "PRIVATE KEY") {
			found = append(found, PrivateKey.At(m[0], m[1]))
		}
	}
	return found
}

// keyBodyEnd follows the lines of base64 of a key without an END line; escaped
// line ends ("\n" in JSON) count as lines.
func keyBodyEnd(text string, i int) int {
	end := i
	for i < len(text) {
		j := i
		for j < len(text) && (chars.IsBase64(text[j]) || text[j] == '\\') {
			j++
		}
		if j-i >= 16 {
			end = j
		} else if j > i {
			return end
		}
		for j < len(text) && (text[j] == '\n' || text[j] == '\r' || text[j] == ' ') {
			j++
		}
		if j == i {
			return end
		}
		i = j
	}
	return end
}

// findURLPasswords finds the password in scheme://user:password@host.
func findURLPasswords(text string) []Finding {
	var found []Finding
	for at := 0; ; {
		i := strings.Index(text[at:], "://")
		if i < 0 {
			return found
		}
		start := at + i + 3
		at = start
		end := start
		for end < len(text) && end-start < 512 && text[end] > ' ' && strings.IndexByte("/\"'<>`|;", text[end]) < 0 {
			end++
		}
		sign := strings.LastIndexByte(text[start:end], '@')
		if sign < 0 {
			continue
		}
		user, pass, ok := strings.Cut(text[start:start+sign], ":")
		if !ok || word.IsPlaceholder(pass) {
			continue
		}
		found = append(found, Password.At(start+len(user)+1, start+sign))
		at = start + sign
	}
}

// findAuthHeaders finds the credentials of an Authorization header and of the
// word "Bearer" before a token.
func findAuthHeaders(text string) []Finding {
	lower := chars.Lower(text)
	var found []Finding
	for _, scheme := range []struct {
		word string
		kind Kind
	}{{"bearer", Token}, {"basic", Password}, {"x-api-key:", APIKey}} {
		for at := 0; ; {
			i := strings.Index(lower[at:], scheme.word)
			if i < 0 {
				break
			}
			pos := at + i
			start := pos + len(scheme.word)
			at = start
			for start < len(text) && (text[start] == ' ' || text[start] == ':' || text[start] == '"') && start-at < 4 {
				start++
			}
			end := start
			for end < len(text) && (chars.IsBase64(text[end]) || strings.IndexByte("-._~", text[end]) >= 0) {
				end++
			}
			end -= len(text[start:end]) - len(strings.TrimRight(text[start:end], "._-~"))
			value := text[start:end]
			if start == at || !chars.IsAlnum(chars.At(text, start)) || chars.IsAlnum(chars.At(text, pos-1)) || len(value) < 6 {
				continue
			}
			if word.IsPlaceholder(value) || !strings.ContainsAny(value, "0123456789") &&
				(len(value) < 20 || strings.Contains(value, "_")) {
				continue
			}
			header := strings.Contains(lower[max(0, pos-24):pos], "authorization") || scheme.kind == APIKey
			if header || scheme.kind == Token && len(value) >= 16 && word.IsMixed(value) {
				found = append(found, scheme.kind.At(start, end))
				at = end
			}
		}
	}
	return found
}
