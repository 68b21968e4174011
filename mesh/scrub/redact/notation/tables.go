package notation

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/chars"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/sensitive"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/word"
)

// separators divide the cells of a line; the empty one is two blanks or more, or a tab.
var separators = []string{"|", ",", ";", ""}

// table is the part of a text that a heading with the name of a secret begins.
type table struct {
	separator string
	meanings  []meaning // of the columns
	accounts  bool      // a column has the names of accounts
}

// findCells finds secrets in tables: of Markdown and Jira, of separated values, and in columns. They are below a
// heading that names one, or in the cell after one that does.
func findCells(text string, mentions []mention) (found []sensitive.Finding) {
	const longest = 2000
	done := 0
	for _, m := range mentions {
		if m.pos < done {
			continue
		}
		at := strings.LastIndexByte(text[:m.pos], '\n') + 1
		line := lineAt(text, at)
		done = at + len(line)
		if len(line) > longest {
			continue
		}
		if cells := cellsOf(line, "|"); len(cells) > 1 && len(cells) < 4 { // the name beside the value
			v := line[cells[1].start:cells[1].end]
			if m := meaningOf(line[cells[0].start:cells[0].end]); m != other && isCellSecret(v, m) {
				found = append(found, m.kind().At(at+cells[1].start, at+cells[1].end))
			}
		}
		if t := heading(line); t != nil {
			done, found = t.body(text, done, found)
		}
	}
	return found
}

// body adds the secrets of the lines from i on, which are in the table, to found, and returns where they end.
func (t *table) body(text string, i int, found []sensitive.Finding) (int, []sensitive.Finding) {
	for i < len(text) {
		line := lineAt(text, i)
		cells := cellsOf(line, t.separator)
		if n := len(cells); n == len(t.meanings)+1 && cells[n-1].start == cells[n-1].end {
			cells = cells[:n-1] // lines can end in a separator
		}
		rule := strings.Trim(line, " -=+\t\r\n") == "" // below the heading of columns
		if len(cells) != len(t.meanings) && !rule {
			break
		}
		for k, c := range cells {
			if rule {
				break
			}
			v, m := line[c.start:c.end], t.meanings[k]
			if m != other && isCellSecret(v, m) || m == isPassword && t.accounts && (isWord(v) || isDigits(v)) {
				found = append(found, m.kind().At(i+c.start, i+c.end))
			}
		}
		i += len(line)
	}
	return i, found
}

// accountNames are the headings of columns with the names of accounts.
var accountNames = text.Set("user username login account benutzer benutzername nutzer konto usuario usuário utente " +
	"utilisateur gebruiker użytkownik")

// heading returns the table that a line begins, nil if it is not the heading of one with secrets.
func heading(line string) *table {
	const longest, most = 40, 40
	for _, sep := range separators {
		cells := cellsOf(line, sep)
		if len(cells) < 2 || len(cells) > most {
			continue
		}
		t := &table{separator: sep}
		named := false
		for _, c := range cells {
			name := line[c.start:c.end]
			if len(name) > longest || sep != "|" && !isHeading(name) || strings.ContainsAny(name, "=:{}<>\"") {
				return nil
			}
			m := meaningOf(name)
			t.meanings = append(t.meanings, m)
			t.accounts = t.accounts || accountNames[chars.Lower(name)]
			named = named || m != other
		}
		if named {
			return t
		}
	}
	return nil
}

// isHeading reports whether a cell of separated values can be the heading of a column.
func isHeading(name string) bool {
	r, _ := utf8.DecodeRuneInString(name)
	return unicode.IsLetter(r) && !strings.Contains(name, "--") && !strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(" _-./#", r)
	})
}

// isCellSecret reports whether the cell of a table can be a secret.
func isCellSecret(v string, mean meaning) bool {
	switch {
	case notSaid(v), isPlainWord(v), strings.ContainsAny(v, " \t[<>"), len(v) > 400:
		return false
	case mean == isKey:
		return isKeyValue(v) && !word.IsCode(v) && !word.IsAlgorithm(chars.Lower(v))
	case mean == isDoorCode:
		return isDigits(v)
	}
	version := word.IsVersion(v) && strings.Contains(v, ".")
	return utf8.RuneCountInString(v) >= 5 && !word.IsExpression(v) && !version &&
		(oddField(v, mean) || isJoinedPhrase(v))
}

// cellsOf returns the cells of a line, without the blanks and quotes around their text.
func cellsOf(line, sep string) (cells []span) {
	line = strings.TrimRight(line, "\r\n")
	start, quoted := 0, false
	trim := func(a, b int) span {
		for a < b && strings.IndexByte(" \t\"`*", line[a]) >= 0 {
			a++
		}
		for a < b && strings.IndexByte(" \t\"`*", line[b-1]) >= 0 {
			b--
		}
		return span{a, b}
	}
	for i := 0; i <= len(line); i++ {
		n := 1 // the length of the separator here
		if i < len(line) {
			switch {
			case line[i] == '"' && (sep == "," || sep == ";"):
				quoted = !quoted
				continue
			case quoted:
				continue
			case sep == "":
				for i+n-1 < len(line) && (line[i+n-1] == ' ' || line[i+n-1] == '\t') {
					n++
				}
				n--
				if n == 0 || n == 1 && line[i] == ' ' {
					continue
				}
			case line[i] != sep[0]:
				continue
			case chars.At(line, i+1) == sep[0] && sep == "|":
				n = 2 // a heading of Jira
			}
		}
		c := trim(start, i)
		// Lines of Markdown begin and end with a separator; columns can be indented.
		if c.start < c.end || sep == "," || sep == ";" || sep == "|" && start > 0 && i < len(line) {
			cells = append(cells, c)
		}
		start = i + n
		i += n - 1
	}
	return cells
}

// listedAccount is a line of a list of accounts: a service, an address or account with "@", and one word.
var listedAccount = regexp.MustCompile(`(?m)^[ \t>*•-]*([\pL\d+.' -]{2,30}?) ?[-–—|/,;:][ \t]+` +
	`(?:[\w.+-]+@[\w.-]+|\[REDACTED:email\])[ \t]*[-–—|/,;:][ \t]*([^\s|]{5,64})[ \t]*$`)

// findListedAccounts finds the passwords in lists of accounts: Netflix – bea@home – x.
func findListedAccounts(text string) (found []sensitive.Finding) {
	if !strings.Contains(text, "@") && !strings.Contains(text, "[REDACTED:email]") {
		return nil
	}
	for _, m := range listedAccount.FindAllStringSubmatchIndex(text, -1) {
		service := slices.ContainsFunc(strings.Fields(chars.LowerUnicode(text[m[2]:m[3]])), func(w string) bool {
			clue := word.ClueOf(w)
			return clue.Thing > 0 && clue.Word > 0
		})
		v := text[m[4]:m[5]]
		if service && (oddCredential(v) || isCredentialField(v) && strings.ContainsAny(v[len(v)-1:], "!?$%&*")) {
			found = append(found, sensitive.Password.At(m[4], m[5]))
		}
	}
	return found
}

// row is the beginning of a statement of SQL that adds rows.
var row = regexp.MustCompile(`(?i)\binsert\s+(?:ignore\s+)?into\s+[\w."\x60\[\]]+\s*\(([^()\n]{3,600})\)\s*values\s*`)

// sqlValue is one value of a row.
var sqlValue = regexp.MustCompile(`^\s*(?:N?'((?:''|\\.|[^'\\])*)'|"([^"\n]*)"|[^,'"()]*(?:\([^()]*\))?)\s*(,|\))`)

// findRows finds the secrets that a statement of SQL puts into columns with the name of one.
func findRows(text, lower string) (found []sensitive.Finding) {
	for _, near := range partsNear(lower, []string{"insert "}) {
		part := text[near.start:near.end]
		for _, m := range row.FindAllStringSubmatchIndex(part, -1) {
			names := strings.Split(part[m[2]:m[3]], ",")
			at := m[1]
			for at < len(part) && (part[at] == '(' || part[at] == ',' || part[at] == ' ' || part[at] == '\n') {
				if part[at] != '(' {
					at++
					continue
				}
				at++
				for k := range names {
					v := sqlValue.FindStringSubmatchIndex(part[at:])
					if v == nil {
						return found
					}
					mean := meaningOf(strings.Trim(names[k], " \"`[]"))
					for g := 2; g <= 4; g += 2 {
						if v[g] >= 0 && mean != other && anySecret(part[at+v[g]:at+v[g+1]]) && v[g+1]-v[g] > 2 {
							found = append(found, mean.kind().At(near.start+at+v[g], near.start+at+v[g+1]))
						}
					}
					at += v[1]
				}
			}
		}
	}
	return found
}
