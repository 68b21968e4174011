package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/chars"
)

// findEmails finds e-mail addresses: a local part, "@", and a host name whose
// last label is letters. Not taken for one: user information in a URL, the
// "git@host:path" of a repository, a package with its version
// ("left-pad@1.3.0"), and a file name ("icon@2x.png").
func findEmails(text string) []Finding {
	var found []Finding
	for at := 0; ; {
		i := strings.IndexByte(text[at:], '@')
		if i < 0 {
			return found
		}
		mid := at + i
		at = mid + 1
		start, end := localStart(text, mid), hostEnd(text, mid+1)
		if start == mid || !isMailHost(text[mid+1:end]) || inUserinfo(text, start, mid) {
			continue
		}
		local := text[start:mid]
		if (local == "git" || local == "hg") && chars.At(text, end) == ':' {
			continue
		}
		found = append(found, Email.At(start, end))
		at = end
	}
}

// localStart walks back over a local part. Beside an ASCII letter it takes no
// character of a script without spaces (Chinese, say): that is the sentence.
func localStart(text string, mid int) int {
	ascii := chars.At(text, mid-1) < utf8.RuneSelf
	i := mid
	for i > 0 {
		r, n := utf8.DecodeLastRuneInString(text[:i])
		if ascii && chars.IsUnspaced(r) || !isLocal(r) {
			break
		}
		i -= n
	}
	for i < mid && strings.IndexByte(".-'+", text[i]) >= 0 {
		i++
	}
	return i
}

// isLocal reports whether r may be in the part of an address before the @ (RFC 5321, RFC 6531).
func isLocal(r rune) bool {
	if r < utf8.RuneSelf {
		return chars.IsAlnum(byte(r)) || strings.ContainsRune("._%+-'", r) //nolint:gosec // below 0x80, see above
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// hostEnd returns where the host that begins at start ends. An address in ASCII ends where a script without spaces
// begins, because no space separates them.
func hostEnd(text string, start int) int {
	ascii := chars.At(text, start) < utf8.RuneSelf
	i := start
	for i < len(text) {
		r, n := utf8.DecodeRuneInString(text[i:])
		if ascii && chars.IsUnspaced(r) || r != '.' && r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			break
		}
		i += n
	}
	for i > start && (text[i-1] == '.' || text[i-1] == '-') {
		i--
	}
	return i
}

// imageTypes are the ends of "name@2x.png".
var imageTypes = map[string]bool{
	"png": true, "jpg": true, "jpeg": true, "gif": true, "svg": true, "webp": true,
	"ico": true, "avif": true,
}

// isMailHost reports whether host can receive mail: two labels or more (RFC 1035), the last of letters and no image
// type, as in logo@2x.png.
func isMailHost(host string) bool {
	labels := strings.Split(host, ".")
	if len(labels) < 2 || len(host) > 253 {
		return false
	}
	for _, l := range labels {
		if l == "" || len(l) > 63 || l[0] == '-' {
			return false
		}
	}
	last, second := labels[len(labels)-1], labels[len(labels)-2]
	if utf8.RuneCountInString(last) < 2 || imageTypes[strings.ToLower(last)] ||
		!strings.ContainsFunc(second, unicode.IsLetter) {
		return false
	}
	return strings.HasPrefix(last, "xn--") || !strings.ContainsFunc(last,
		func(r rune) bool { return !unicode.IsLetter(r) })
}

// inUserinfo reports whether the "@" at mid ends the user information of a
// URL whose password findURLPasswords judges.
func inUserinfo(text string, start, mid int) bool {
	i := start
	for i > 0 && start-i < 256 && text[i-1] > ' ' && text[i-1] != '/' {
		i--
	}
	return i >= 3 && text[i-3:i] == "://" && mid > i
}
