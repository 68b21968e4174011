package redact

import (
	"regexp"
	"strings"
	"sync"

	ahocorasick "github.com/BobuSumisu/aho-corasick"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/chars"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/word"
)

// tokenPrefixes begin credentials whose rule in the rule file wants one exact
// length or a mark within. Services change those; the prefixes stay.
var tokenPrefixes = []string{
	"sk-", "sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_", "ghp_", "gho_", "ghs_", "ghu_", "ghr_",
	"github_pat_", "glpat-", "gldt-", "glrt-",
	"xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-", "xapp-", "AKIA", "ASIA", "AIza", "ya29.", "hf_", "npm_",
	"pypi-", "dop_v1_", "shpat_", "SG.", "EAAC",
	"hvs.", "lin_api_", "ntn_", "secret_", "figd_", "dckr_pat_", "pplx-", "gsk_", "xai-", "r8_", "nvapi-",
	"tvly-", "sbp_",
	"re_", "phc_", "phx_", "tskey-", "pcsk_", "sb_secret_", "CFPAT-", "NRAK-", "NRJS-", "NRII-", "glsa_", "glc_",
	"AGE-SECRET-KEY-1", "lsv2_pt_", "lsv2_sk_", "xkeysib-", "rubygems_", "PMAK-", "sntryu_", "ATATT3", "ATCTT3",
	"rzp_live_",
	"rzp_test_", "rk_prod_", "shppa_", "shpca_", "shpss_", "sq0atp-", "sq0csp-", "LTAI", "dt0c01.", "HRKU-", "pat-na1-",
	"pat-eu1-", "pul-", "dp.pt.", "dp.st.", "tfp_", "ops_", "fm2_", "fo1_", "cfut_", "cfat_", "gitpat_", "ctx7sk-",
	"e2b_", "bb_live_", "jina_", "vck_", "key_live_",
	"yamo_", // this program's own, of internal/token
}

var prefixTrie = sync.OnceValue(func() *ahocorasick.Trie {
	return ahocorasick.NewTrieBuilder().AddStrings(tokenPrefixes).Build()
})

// tokenForms are credentials that only their whole form tells from other words.
var tokenForms = []struct {
	hint string // a part of each
	form *regexp.Regexp
	kind Kind
}{
	{":AA", regexp.MustCompile(`(?:\b|bot)[0-9]{8,10}:AA[A-Za-z0-9_-]{30,40}`), APIKey},                // Telegram's bots
	{"eyJ", regexp.MustCompile(`\beyJ[\w-]{10,}\.eyJ[\w-]{8,}\.[\w-]{20,}`), Token},                    // JSON Web Tokens
	{"key-", regexp.MustCompile(`\bkey-[0-9a-z]{32}\b`), APIKey},                                       // Mailgun
	{"dapi", regexp.MustCompile(`\bdapi[0-9a-f]{32}(?:-[0-9])?\b`), APIKey},                            // Databricks
	{"sk.eyJ", regexp.MustCompile(`\bsk\.eyJ[\w-]{20,}\.[\w-]{16,}`), APIKey},                          // Mapbox
	{"sntrys_", regexp.MustCompile(`\bsntrys_[A-Za-z0-9_=+/-]{30,}`), APIKey},                          // Sentry
	{"rubygems_", regexp.MustCompile(`\brubygems_[0-9a-f]{48}\b`), APIKey},                             // RubyGems
	{"/api/webhooks/", regexp.MustCompile(`discord(?:app)?\.com/api/webhooks/\d+/[\w-]{20,}`), APIKey}, // Discord
	{"hooks.slack.com", regexp.MustCompile(`hooks\.slack\.com/services/[\w/]+`), APIKey},               // Slack
}

// findTokens finds words that begin with the prefix of a credential and go on
// at random for 16 characters or more, 12 after a long prefix.
func findTokens(text string) []Finding {
	var found []Finding
	for _, t := range tokenForms {
		if !strings.Contains(text, t.hint) {
			continue
		}
		for _, m := range t.form.FindAllStringIndex(text, -1) {
			found = append(found, t.kind.At(m[0], m[1]))
		}
	}
	done := 0
	for _, m := range prefixTrie().MatchString(text) {
		p := m.MatchString()
		start := int(m.Pos())
		end := start + len(p)
		at := end
		if start < done {
			continue
		}
		if b := chars.At(text, start-1); chars.IsAlnum(b) || b == '_' || b == '-' || b == '.' || b == '+' {
			continue
		}
		for end < len(text) && (chars.IsAlnum(text[end]) || text[end] == '_' || text[end] == '-' || text[end] == '.' &&
			chars.IsAlnum(chars.At(text, end+1))) {
			end++
		}
		shortest := 16
		if len(p) > 7 { // hardly anything else begins like this
			shortest = 12
		}
		body := text[at:end]
		known := len(p) > 3 && word.IsHashOrUUID(body) // nothing else has this prefix, so it is no digest
		if len(body) >= shortest && (word.IsRandom(body) || known) && !word.IsReference(body) {
			found = append(found, APIKey.At(start, end))
			done = end
		}
	}
	return found
}

// publicName matches names of what is no credential although a part of the name is a label: tokens that only tell one
// page or request from another, and identifiers.
var publicName = regexp.MustCompile(`(?i)(?:` +
	`(?:next|prev|previous|starting|start|page|continuation|idempotency|sequence|lock|change|cancel|purchase|` +
	`lifecycle[_-]?action|client[_-]?request|client|request|pagination|sync|cursor)[_-]?token|` +
	`(?:store|group|provider|scope|access[a-z]*)[_-]?id|` +
	`(?:s3|object|s3[_-]?object|cache|primary|foreign|sort|partition)[_-]?key|` +
	`(?:public[ _-]?key|fingerprint|digest|checksum|thumbprint)(?:[ -][\w-]{1,16}){0,2}` +
	`)["'` + "`" + `]?(?:\s*[:=]\s*|\s+)["']?$`)

// isPublic reports whether the name before a credential is that of something public. A value with the prefix of a
// credential is one under any name.
func isPublic(text string, f Finding) bool {
	if f.Kind != APIKey && f.Kind != Token && f.Kind != Password || f.Start == 0 || f.Start >= f.End {
		return false
	}
	before := text[max(0, f.Start-60):f.Start]
	return publicName.MatchString(before) && len(findTokens(text[f.Start:f.End])) == 0
}
