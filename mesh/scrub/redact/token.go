package redact

import (
	"strings"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/chars"
)

// tokenPrefixes begin credentials whose rule in the rule file wants one exact
// length or a mark within. Services change those; the prefixes stay.
var tokenPrefixes = []string{
	"sk-", "sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_", "ghp_", "gho_", "ghs_", "ghu_", "ghr_", "github_pat_",
	"glpat-", "gldt-", "glrt-",
	"xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-", "xapp-", "AKIA", "ASIA", "AIza", "ya29.", "hf_", "npm_", "pypi-",
	"dop_v1_", "shpat_", "SG.", "EAAC",
	"hvs.", "lin_api_", "ntn_", "secret_", "figd_", "dckr_pat_", "pplx-", "gsk_", "xai-", "r8_", "nvapi-", "tvly-", "sbp_",
	"re_", "phc_", "phx_",
	"yamo_", // this program's own, of internal/token
}

// findTokens finds words that begin with the prefix of a credential and go on
// at random for 16 characters or more.
func findTokens(text string) []Finding {
	const shortest = 16
	var found []Finding
	for _, p := range tokenPrefixes {
		for at := 0; ; {
			i := strings.Index(text[at:], p)
			if i < 0 {
				break
			}
			start := at + i
			end := start + len(p)
			at = end
			if b := chars.At(text, start-1); chars.IsAlnum(b) || b == '_' || b == '-' || b == '.' || b == '+' {
				continue
			}
			for end < len(text) && (chars.IsAlnum(text[end]) || text[end] == '_' || text[end] == '-' || text[end] == '.' &&
				chars.IsAlnum(chars.At(text, end+1))) {
				end++
			}
			if body := text[at:end]; len(body) >= shortest && random(body) && !isReference(body) {
				found = append(found, Finding{APIKey, start, end})
				at = end
			}
		}
	}
	return found
}

// random reports whether v has letters and digits and does not repeat itself.
func random(v string) bool { return mixed(v) && entropy(v) > 3 && !isHashOrUUID(v) }
