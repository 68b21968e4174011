package redact

import (
	"regexp"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/chars"
)

// naming matches the part of a name that makes its value a secret.
const naming = `(?:passw(?:or)?d|passwd|passwort|passphrase|pwd|api[_.-]?key|secret|token|access[_.-]?key|` +
	`private[_.-]?key|credential)`

// pair is a form in which a secret and what it is are written down together, other than an assignment.
type pair struct {
	hints []string // lower case; a text without any of them has none of the form
	form  *regexp.Regexp
	kind  Kind
	judge func(value string) bool
}

// pairs match the secret with their last group that takes part.
var pairs = []pair{
	// Markup.
	{
		[]string{"</"},
		regexp.MustCompile(`(?i)<[\w:.-]*` + naming + `[\w:.-]*(?:\s[^<>\n]*)?>([^<>\n]{3,200})</`),
		Password, anySecret,
	},
	{
		[]string{"value="},
		regexp.MustCompile(`(?i)\b(?:key|name|id)=["'][^"'\n]*` + naming + `["']\s+value=["']([^"'\n]{3,200})["']`),
		Password, anySecret,
	},
	// Command lines.
	{
		[]string{"curl"},
		regexp.MustCompile(`\bcurl\b[^\n|;]*?\s(?:-u|--user|--proxy-user|-U)[ =]?["']?[\w.@+-]+:([^\s"']+)`),
		Password, anySecret,
	},
	{
		[]string{"mysql", "mariadb"},
		regexp.MustCompile(`\b(?:mysql|mysqldump|mysqladmin|mysqlimport|mariadb)\b[^\n|;]*?\s-p["']?([^\s"'-][^\s"']*)`),
		Password, anySecret,
	},
	{
		[]string{"sshpass"},
		regexp.MustCompile(`\bsshpass\s+-p\s*(?:'([^'\n]+)'|"([^"\n]+)"|([^\s'"]+))`), Password, notReference,
	},
	{[]string{"redis-cli"}, regexp.MustCompile(`\bredis-cli\b[^\n|;]*?\s-a\s+["']?([^\s"']+)`), Password, anySecret},
	{
		[]string{"docker", "podman", "helm", "az login"},
		regexp.MustCompile(`\b(?:docker|podman|helm registry|az)\s+login\b[^\n|;]*?\s-p\s+["']?([^\s"']+)`),
		Password, anySecret,
	},
	{[]string{"ldap"}, regexp.MustCompile(`\bldap\w+\b[^\n|;]*?\s-w\s+["']?([^\s"']+)`), Password, anySecret},
	{[]string{"-pass", "pass:"}, regexp.MustCompile(`\s-pass(?:in|out)?\s+pass:(\S+)`), Password, anySecret},
	{[]string{"machine"}, regexp.MustCompile(`\bmachine\s+\S+\s+login\s+\S+\s+password\s+(\S+)`), Password, anySecret},
	// SQL.
	{
		[]string{"identified"},
		regexp.MustCompile(`(?i)\bidentified\s+(?:with\s+\S+\s+)?by\s+'([^'\n]+)'`),
		Password, notReference,
	},
	{
		[]string{"password '", "password  '"},
		regexp.MustCompile(`(?i)\b(?:with|set|encrypted|login)\s+password\s+'([^'\n]+)'`),
		Password, notReference,
	},
	// HTTP.
	{[]string{"cookie"}, regexp.MustCompile(`(?i)\bset-cookie["']?:\s*["']?[^=;\s]+=([^;\s"']{8,})`), Token, mixed},
	{
		[]string{"authorization"},
		regexp.MustCompile(`(?i)\bauthorization["']?\s*[:=]\s*["']?(?:token|apikey|api-key|key|negotiate|oauth|hmac)\s+` +
			`([\w.~+/=-]{8,})`),
		Token, mixed,
	},
	{
		[]string{"?", "&"},
		regexp.MustCompile(`(?i)[?&#](?:[\w-]*(?:token|secret|api[_-]?key|apikey|password|passwd|pwd|signature)|sig)=` +
			`([^&\s"'<>#;)\]]+)`),
		Token, urlSecret,
	},
	{
		[]string{"?", "&"},
		regexp.MustCompile(`(?i)[?&](?:key|auth|code|session|sid|sessionid|hash|hmac)=([^&\s"'<>#;)\]]{20,})`),
		Token, urlSecret,
	},
	// Code.
	{
		[]string{"passw"}, regexp.MustCompile(`(?i)\.(?:set)?passw(?:or)?d\(\s*["']([^"'\n]{4,})["']`), Password, secretLike,
	},
	{
		[]string{"=>"}, regexp.MustCompile(`(?i):\w*` + naming + `\s*=>\s*["']([^"'\n]{4,})["']`), Password, secretLike,
	},
}

// anySecret accepts what is no placeholder, word or reference to a value elsewhere.
func anySecret(v string) bool {
	return !commonWord(v) && !isReferenceTo(v) && !namesPassword(v) && !strings.HasPrefix(v, "<") && !isCode(v)
}

// notReference accepts what is no word or reference, in a place where nothing but a password can be.
func notReference(v string) bool {
	return !commonWord(v) && !isReferenceTo(v) && !strings.HasPrefix(v, "<")
}

// urlSecret accepts the value of a query's parameter.
func urlSecret(v string) bool {
	return len(v) >= 8 && mixed(v) && !isReferenceTo(v) && !strings.Contains(v, "{")
}

// findPairs finds secrets that the text around them names: in markup, command lines, SQL, HTTP, code and tables.
func findPairs(text string) []Finding {
	lower := chars.Lower(text)
	var found []Finding
	for _, p := range pairs {
		if !containsAny(lower, p.hints) {
			continue
		}
		for _, m := range p.form.FindAllStringSubmatchIndex(text, -1) {
			for k := len(m) - 2; k >= 2; k -= 2 {
				if m[k] < 0 {
					continue
				}
				if v := text[m[k]:m[k+1]]; !isPlaceholder(v) && !strings.HasPrefix(v, "[REDACTED:") && p.judge(v) {
					found = append(found, Finding{p.kind, m[k], m[k+1]})
				}
				break
			}
		}
	}
	if strings.Contains(lower, "cookie:") {
		found = append(found, findCookies(text)...)
	}
	return append(found, findCells(text, lower)...)
}

// cookies is the line of a request's cookies.
var cookies = regexp.MustCompile(`(?i)\bcookie:[ \t]*([^\n"']+)`)

// findCookies finds the values of cookies that can identify a session.
func findCookies(text string) (found []Finding) {
	for _, m := range cookies.FindAllStringSubmatchIndex(text, -1) {
		at := m[2]
		for part := range strings.SplitSeq(text[m[2]:m[3]], ";") {
			if _, v, ok := strings.Cut(part, "="); ok && len(v) >= 8 && mixed(v) && !isPlaceholder(v) {
				end := at + len(strings.TrimRight(part, " \t\r"))
				found = append(found, Finding{Token, at + strings.Index(part, "=") + 1, end})
			}
			at += len(part) + 1
		}
	}
	return found
}

// findCells finds secrets in tables of Markdown and of comma-separated values: next to a cell that names one, and below
// a heading that does.
func findCells(text, lower string) (found []Finding) {
	if !containsAny(lower, []string{"passw", "pwd", "secret", "token", "key"}) {
		return nil
	}
	var columns []int // of the table so far that a heading names
	width, at := 0, 0
	for line := range strings.Lines(text) {
		cells := cellsOf(line)
		if len(cells) < 2 || width > 0 && len(cells) != width {
			columns, width = nil, 0
		}
		for i, c := range cells {
			v := line[c.start:c.end]
			below := width > 0 && slices.Contains(columns, i)
			beside := i == 1 && len(cells) == 2 && namesSecret(line[cells[0].start:cells[0].end])
			if (below || beside) && isCellSecret(v) {
				found = append(found, Finding{Password, at + c.start, at + c.end})
			}
			if width == 0 && namesSecret(v) {
				columns = append(columns, i)
			}
		}
		if len(cells) > 1 {
			width = len(cells)
		}
		at += len(line)
	}
	return found
}

// isCellSecret reports whether the cell of a table can be a secret: one word with letters and digits.
func isCellSecret(v string) bool {
	return len(v) >= 6 && len(v) <= 200 && mixed(v) && secretLike(v) && !isCode(v) && !isPlaceholder(v) &&
		!strings.ContainsAny(v, " \t[")
}

// namesSecret reports whether a cell of a table names a secret.
func namesSecret(cell string) bool {
	switch strings.Trim(chars.Lower(cell), "*`_\" ") {
	case "password", "passwd", "pwd", "passphrase", "passwort", "kennwort", "api key", "apikey", "api_key", "api-key",
		"secret",
		"client secret", "client_secret", "token", "access token", "access_token", "secret key", "secret_key", "access key":
		return true
	}
	return false
}

// cellsOf returns the cells of a line, without the blanks and quotes around their text: of Markdown if it has a "|",
// of comma-separated values otherwise.
func cellsOf(line string) (cells []span) {
	sep := byte(',')
	if strings.Contains(line, "|") {
		sep = '|'
	}
	start := 0
	for i := 0; i <= len(line); i++ {
		if i < len(line) && line[i] != sep {
			continue
		}
		a, b := start, i
		for a < b && strings.IndexByte(" \t\"`*\r\n", line[a]) >= 0 {
			a++
		}
		for a < b && strings.IndexByte(" \t\"`*\r\n", line[b-1]) >= 0 {
			b--
		}
		if a < b || sep == ',' || start > 0 && i < len(line) { // Markdown's lines begin and end with a separator
			cells = append(cells, span{a, b})
		}
		start = i + 1
	}
	return cells
}
