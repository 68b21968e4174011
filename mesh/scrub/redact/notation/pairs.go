package notation

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/chars"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/sensitive"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/word"
)

// naming matches the part of a name that makes its value a secret.
const naming = `(?:passw(?:or)?d|passwd|passwort|passphrase|pwd|api[_.-]?key|secret|token|access[_.-]?key|` +
	`private[_.-]?key|credential)`

// pair is a form in which a secret and what it is are written down together, other than an assignment.
type pair struct {
	hints []string // lower case; a text without any of them has none of the form
	form  *regexp.Regexp
	kind  sensitive.Kind
	judge func(value string) bool
}

// pairs match the secret with their last group that takes part.
var pairs = []pair{
	// Variables of Terraform.
	{
		[]string{"variable"},
		regexp.MustCompile(`(?i)\bvariable\s+"[\w-]*` + naming + `[\w-]*"\s*\{[^{}]{0,300}?\bdefault\s*=\s*` +
			`"([^"\n]{3,200})"`),
		sensitive.Password, anySecret,
	},
	// SQL.
	{
		[]string{"identified"},
		regexp.MustCompile(`(?i)\bidentified\s+(?:with\s+\S+\s+)?by\s+(?:'([^'\n]+)'|"([^"\n]+)")`),
		sensitive.Password, notReference,
	},
	{
		[]string{"password '", "password  '"},
		regexp.MustCompile(`(?i)\b(?:with|set|encrypted|login|user\s+\S+|role\s+\S+)\s+password\s+'([^'\n]+)'`),
		sensitive.Password, notReference,
	},
	// Connection strings: Oracle's, and those whose braces are quotes.
	{
		[]string{"jdbc:oracle"},
		regexp.MustCompile(`(?i)\bjdbc:oracle:\w+:[\w$#]+/([^\s/@"']+)@`),
		sensitive.Password, notReference,
	},
	{
		[]string{"={"},
		regexp.MustCompile(`(?i)(?:^|[;"'])\s*(?:password|pwd)\s*=\s*\{([^{}\n]{4,200})\}(?:[;"'\s]|$)`),
		sensitive.Password, word.SecretLike,
	},
	// HTTP.
	{
		[]string{"digest"},
		regexp.MustCompile(`(?i)\bauthorization["']?\s*[:=]\s*["']?digest\s[^\n]*?\bresponse=["']?([0-9a-f]{32,})`),
		sensitive.Token, word.IsMixed,
	},
	{
		[]string{"cookie"},
		regexp.MustCompile(`(?i)\bset-cookie["']?:\s*["']?[^=;\s]+=([^;\s"']{8,})`),
		sensitive.Token, word.IsMixed,
	},
	{
		[]string{"authorization"},
		regexp.MustCompile(`(?i)\bauthorization["']?\s*[:=]\s*["']?(?:token|apikey|api-key|key|negotiate|oauth|hmac)\s+` +
			`([\w.~+/=-]{8,})`),
		sensitive.Token, word.IsMixed,
	},
	{
		[]string{"?", "&"},
		regexp.MustCompile(`(?i)[?&#](?:[\w-]*(?:token|secret|api[_-]?key|apikey|password|passwd|pwd|signature)|sig)=` +
			`([^&\s"'<>#;)\]]+)`),
		sensitive.Token, urlSecret,
	},
	{
		[]string{"?", "&"},
		regexp.MustCompile(`(?i)[?&](?:key|auth|code|session|sid|sessionid|hash|hmac)=([^&\s"'<>#;)\]]{20,})`),
		sensitive.Token, urlSecret,
	},
	// Code.
	{
		[]string{"auth"},
		regexp.MustCompile(`(?i)(?:\bauth\s*=\s*|basicauth)\(\s*["'][^"'\n]*["']\s*,\s*["']([^"'\n]{4,})["']\s*\)`),
		sensitive.Password, anySecret,
	},
	{
		[]string{"passw"}, regexp.MustCompile(`(?i)\.(?:set_?)?(?:\w+_)?passw(?:or)?d\(\s*["']([^"'\n]{4,})` +
			`["']`), sensitive.Password, isCredentialField,
	},
	{ // config.Set("redis.password", "x")
		[]string{","},
		regexp.MustCompile(`(?i)["'][\w.-]*` + naming + `["']\s*,\s*["']([^"'\s]{6,200})["']\s*\)`),
		sensitive.Password, oddWord,
	},
	{ // let api_token: &str = "x"
		[]string{"="},
		regexp.MustCompile(`(?i)` + naming + `\w*\s*:?\s+[&*]?(?:'static\s+)?[\w<>.\[\]]{1,24}\s*=\s*` +
			`["']([^"'\s]{4,200})["']`),
		sensitive.Password, word.SecretLike,
	},
	{
		[]string{"=>"},
		regexp.MustCompile(`(?i):\w*` + naming + `\s*=>\s*["']([^"'\n]{4,})["']`),
		sensitive.Password, word.SecretLike,
	},
}

// span is a byte range [start,end).
type span struct{ start, end int }

// anySecret accepts what is no placeholder, word or reference to a value elsewhere.
func anySecret(v string) bool {
	return !isPlainWord(v) && !isReferenceTo(v) && !namesPassword(v) && !strings.HasPrefix(v, "<") && !word.IsCode(v)
}

// notReference accepts what is no word or reference, in a place where nothing but a password can be.
func notReference(v string) bool {
	return !isPlainWord(v) && !isReferenceTo(v) && !strings.HasPrefix(v, "<")
}

// urlSecret accepts the value of a query's parameter.
func urlSecret(v string) bool {
	return len(v) >= 8 && word.IsMixed(v) && !isReferenceTo(v) && !strings.Contains(v, "{")
}

// find adds what has p's form in a part of the text to found.
func (p pair) find(text string, part span, found []sensitive.Finding) []sensitive.Finding {
	for _, m := range p.form.FindAllStringSubmatchIndex(text[part.start:part.end], -1) {
		for k := len(m) - 2; k >= 2; k -= 2 {
			if m[k] < 0 {
				continue
			}
			start, end := part.start+m[k], part.start+m[k+1]
			if v := text[start:end]; !word.IsPlaceholder(v) && !strings.HasPrefix(v, "[REDACTED:") && p.judge(v) {
				found = append(found, p.kind.At(start, end))
			}
			break
		}
	}
	return found
}

// The reach of a form before and after its hint, in bytes.
const (
	reachBefore = 200
	reachAfter  = 1000
)

// partsNear returns the parts of text around hints, in order and apart: to match an expression with all of a long text
// takes too long. A part begins and ends next to a blank, or at the reach if there is none.
func partsNear(text string, hints []string) (parts []span) {
	for _, hint := range hints {
		for at := 0; ; {
			n := strings.Index(text[at:], hint)
			if n < 0 {
				break
			}
			at += n
			parts = append(parts, span{max(0, at-reachBefore), min(len(text), at+reachAfter)})
			at += len(hint)
		}
	}
	slices.SortFunc(parts, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	merged := parts[:0]
	for _, p := range parts {
		if last := len(merged) - 1; last >= 0 && p.start <= merged[last].end {
			merged[last].end = max(merged[last].end, p.end)
			continue
		}
		merged = append(merged, p)
	}
	for i, p := range merged {
		if n := strings.IndexAny(text[p.start:p.end], " \n\t"); p.start > 0 && n >= 0 {
			merged[i].start = p.start + n
		}
		if n := strings.LastIndexAny(text[p.start:p.end], " \n\t"); p.end < len(text) && n >= 0 {
			merged[i].end = p.start + n
		}
		for merged[i].start < merged[i].end && !utf8.RuneStart(text[merged[i].start]) {
			merged[i].start++
		}
		for merged[i].end < len(text) && !utf8.RuneStart(text[merged[i].end]) {
			merged[i].end--
		}
	}
	return merged
}

// cookies is the line of a request's cookies, and the same as an argument of curl.
var cookies = regexp.MustCompile(`(?i)(?:\bcookie:[ \t]*|\bcurl\b[^\n|;]*?\s(?:-b|--cookie)[ =]?["'])([^\n"']+)`)

// findCookies finds the values of cookies that can identify a session.
func findCookies(text string) (found []sensitive.Finding) {
	for _, m := range cookies.FindAllStringSubmatchIndex(text, -1) {
		at := m[2]
		for part := range strings.SplitSeq(text[m[2]:m[3]], ";") {
			if _, v, ok := strings.Cut(part, "="); ok && len(v) >= 8 && word.IsMixed(v) && !word.IsPlaceholder(v) {
				end := at + len(strings.TrimRight(part, " \t\r"))
				found = append(found, sensitive.Token.At(at+strings.Index(part, "=")+1, end))
			}
			at += len(part) + 1
		}
	}
	return found
}

// oddWord accepts what is no word and no name of an algorithm or version.
func oddWord(v string) bool {
	return word.SecretLike(v) && !word.IsCode(v) && !word.IsVersion(v) && !word.IsAlgorithm(chars.Lower(v)) &&
		!word.IsHashOrUUID(v)
}
