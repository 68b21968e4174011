package redact

import (
	"math"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/chars"
)

// find runs the rule on a part of the text.
func (r *rule) find(text string, w span) []Finding {
	part := text[w.start:w.end]
	var found []Finding
	for _, m := range r.regex().FindAllStringSubmatchIndex(part, -1) {
		g := m[0:2]
		for k := 1; k < len(m)/2; k++ {
			if m[2*k] >= 0 && m[2*k] < m[2*k+1] && (r.group == 0 || r.group == k) {
				g = m[2*k : 2*k+2]
				break
			}
		}
		for g[0] < g[1] && (part[g[0]] == '"' || part[g[0]] == '\'') { // some rules count the quotes
			g[0]++
		}
		for g[0] < g[1] && (part[g[1]-1] == '"' || part[g[1]-1] == '\'') {
			g[1]--
		}
		match, secret := part[m[0]:m[1]], part[g[0]:g[1]]
		if r.allowed(part, match, secret) || r.reach != word && isChecksum(part[:g[0]]) {
			continue
		}
		if r.reach == word && len(part) > 300 && isBase64(chars.At(part, g[0]-1)) && isBase64(chars.At(part, g[1])) {
			continue // amid encoded data
		}
		found = append(found, Finding{r.kind(), w.start + g[0], w.start + g[1]})
	}
	return found
}

// kind returns the kind of what a rule finds, by the rule's ID.
func (r *rule) kind() Kind {
	switch {
	case strings.HasPrefix(r.id, "jwt"), strings.HasPrefix(r.id, "curl-auth-h"):
		return Token
	case strings.Contains(r.id, "password"), strings.HasPrefix(r.id, "curl-auth-u"), r.id == "sidekiq-sensitive-url":
		return Password
	}
	return APIKey
}

// secretWords make a value that looks like a hash or a UUID a credential.
var secretWords = []string{
	"secret", "token", "passw", "api", "auth", "private", "credential", "access", "signing",
	"encrypt",
}

// allowed reports whether secret is not one after all: it has too little entropy, is a hash, an ID or a reference, or
// is in an allowlist of the rule. match is what the whole rule matched, part the text around it.
func (r *rule) allowed(part, match, secret string) bool {
	if entropy(secret) <= r.minEntropy && r.minEntropy > 0 {
		return true
	}
	lower := chars.Lower(secret)
	if r.reach != word {
		before := chars.Lower(strings.Replace(match, secret, "", 1))
		if !strings.ContainsAny(secret, "0123456789") {
			return true
		}
		if isHashOrUUID(secret) && !containsAny(before, secretWords) &&
			(r.id == "generic-api-key" || !strings.Contains(before, "key")) {
			return true
		}
		if r.id == "generic-api-key" && isReference(secret) {
			return true
		}
	} else if isHashOrUUID(secret) {
		return true
	}
	for _, a := range r.allow {
		if containsAny(lower, a.stopWords) {
			return true
		}
		target := secret
		if a.onMatch {
			target = match
		} else if a.onLine {
			target = part
		}
		for _, re := range a.regexes() {
			if re.MatchString(target) {
				return true
			}
		}
	}
	return false
}

// containsAny reports whether s contains one of the words.
func containsAny(s string, words []string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// isReference reports whether a value is code or a name rather than a
// credential: "user.profile2.token", "base64.StdEncoding", "sha256-of-file",
// "testEd25519Key", a date, a version, a number.
func isReference(v string) bool {
	const name = 32 // no longer ones are written by hand
	if len(v) <= name && containsAny(chars.Lower(v), []string{"key", "token", "secret", "passw", "cert"}) {
		return true
	}
	for _, p := range strings.FieldsFunc(v, func(r rune) bool {
		return r == '.' || r == '-' || r == '_' || r == '=' ||
			r == '/' || r == '+'
	}) {
		letters, nums, turns := 0, 0, 0
		for i := range len(p) {
			if chars.IsDigit(p[i]) {
				nums++
			} else {
				letters++
			}
			if i > 0 && chars.IsDigit(p[i]) != chars.IsDigit(p[i-1]) {
				turns++
			}
		}
		if turns > 1 || letters > 0 && nums > 4 || letters > 20 {
			return false
		}
	}
	return true
}

// isChecksum reports whether the text before a value names it a digest, as
// go.sum and subresource integrity do: "h1:", "sha512-".
func isChecksum(before string) bool {
	for _, algorithm := range []string{"h1", "md5", "sha1", "sha256", "sha384", "sha512"} {
		if b, ok := strings.CutSuffix(strings.TrimRight(before, ":-"), algorithm); ok &&
			!chars.IsAlnum(chars.At(b, len(b)-1)) {
			return true
		}
	}
	return false
}

// isHashOrUUID reports whether v has the form of a digest (MD5 to SHA-512, in
// hexadecimal) or of a UUID.
func isHashOrUUID(v string) bool {
	if len(v) == 36 && v[8] == '-' && v[13] == '-' && v[18] == '-' && v[23] == '-' {
		v = strings.ReplaceAll(v, "-", "")
	}
	switch len(v) {
	case 32, 40, 56, 64, 96, 128:
	default:
		return false
	}
	for i := range len(v) {
		if !chars.IsHex(v[i]) {
			return false
		}
	}
	return true
}

// entropy is Shannon's, in bits a byte.
func entropy(s string) float64 {
	if s == "" {
		return 0
	}
	var count [256]int
	for i := range len(s) {
		count[s[i]]++
	}
	sum := 0.0
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(s))
			sum -= p * math.Log2(p)
		}
	}
	return sum
}
