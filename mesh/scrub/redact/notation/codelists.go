package notation

import (
	"regexp"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/chars"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/sensitive"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/word"
)

// codeHints are in the headings of lists of recovery codes.
var codeHints = []string{
	"recovery code", "backup code", "rescue code", "emergency code", "scratch code", "time code", "use code", "2fa code",
	"factor code", "restore code", "recovery-code", "backup-code", "recovery_code", "backup_code",
	"wiederherstellungscode",
	"notfallcode", "ersatzcode", "codes de récupération", "codes de secours", "códigos de recuperación",
	"códigos de respaldo", "códigos de recuperação", "codici di recupero", "codici di backup", "herstelcodes",
	"back-upcodes",
}

// codeLine is a line of one: codes of groups of letters and digits, after the sign or the number of a list.
var (
	codeLine = regexp.MustCompile(`^[ \t>|]*(?:[-*•]|\d{1,2}[.):])?[ \t` +
		`|\x60]*((?:(?:\d{1,2}[.):][ \t]*)?[A-Za-z0-9]{4,12}(?:[- ][A-Za-z0-9]{3,8}){0,5}` +
		`(?:[ \t,;|]{1,8}|[ \t\x60]*$))+)`)
	oneCode = regexp.MustCompile(`[A-Za-z0-9]{3,12}(?:[- ][A-Za-z0-9]{3,12}){0,7}`)
)

// findCodeLists finds the recovery codes below a heading.
func findCodeLists(text, lower string) (found []sensitive.Finding) {
	for _, near := range partsNear(lower, codeHints) {
		for _, hint := range codeHints {
			n := strings.Index(lower[near.start:near.end], hint)
			if n < 0 {
				continue
			}
			at := near.start + n
			at += len(lineAt(text, at))
			if line := lineAt(text, min(at, len(text))); strings.TrimSpace(line) == "" {
				at += len(line)
			}
			found = codesBelow(text, at, found)
			break
		}
	}
	return found
}

// codesBelow adds the codes in the lines from at on to found.
func codesBelow(text string, at int, found []sensitive.Finding) []sensitive.Finding {
	listed := "" // the groups of the codes so far
	for at < len(text) {
		line := text[at:]
		if n := strings.IndexByte(line, '\n'); n >= 0 {
			line = line[:n]
		}
		c := codeLine.FindStringSubmatchIndex(line)
		if c == nil || c[1] != len(strings.TrimRight(line, " \t\r")) && c[1] != len(line) {
			break
		}
		codes := oneCode.FindAllStringIndex(line[c[2]:c[3]], -1)
		numbers := 0
		for _, one := range codes {
			v := line[c[2]+one[0] : c[2]+one[1]]
			if shape := groupsOf(v); strings.ContainsAny(v, "0123456789") || listed == shape && isNoWords(v) {
				numbers++
				listed = shape
				found = append(found, sensitive.Password.At(at+c[2]+one[0], at+c[2]+one[1]))
			}
		}
		if numbers == 0 {
			break
		}
		at += len(line) + 1
	}
	return found
}

// groupsOf returns v with a letter for every sign of its groups: "xxxx xxxx".
func groupsOf(v string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' {
			return r
		}
		return 'x'
	}, v)
}

// isNoWords reports whether a group of v is no English word.
func isNoWords(v string) bool {
	groups := strings.FieldsFunc(v, func(r rune) bool { return r == ' ' || r == '-' })
	return slices.ContainsFunc(groups, func(w string) bool {
		return !word.IsEnglish(chars.Lower(w))
	})
}
