package redact

import (
	"strings"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/chars"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/word"
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
		if r.allowed(part, match, secret) || r.reach != withinWord && isChecksum(part[:g[0]]) {
			continue
		}
		if r.reach == withinWord && len(part) > 300 && chars.IsBase64(chars.At(part, g[0]-1)) &&
			chars.IsBase64(chars.At(part, g[1])) {
			continue // amid encoded data
		}
		found = append(found, r.kind().At(w.start+g[0], w.start+g[1]))
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
	if word.Entropy(secret) <= r.minEntropy && r.minEntropy > 0 {
		return true
	}
	lower := chars.Lower(secret)
	if r.reach != withinWord {
		before := chars.Lower(strings.Replace(match, secret, "", 1))
		if !strings.ContainsAny(secret, "0123456789") {
			return true
		}
		if word.IsHashOrUUID(secret) && !word.HasAny(before, secretWords) &&
			(r.id == "generic-api-key" || !strings.Contains(before, "key")) {
			return true
		}
		if r.id == "generic-api-key" && word.IsReference(secret) {
			return true
		}
	} else if word.IsHashOrUUID(secret) {
		return true
	}
	for _, a := range r.allow {
		if word.HasAny(lower, a.stopWords) {
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
