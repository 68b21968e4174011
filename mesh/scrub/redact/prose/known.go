package prose

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
)

// isKnown reports whether the words around a value, which is at word i of sentence s, tell that it is something else
// than a secret, whatever its looks: the year of a date, a person, the name of an account, a user at a host, a cipher,
// or the answer to a question that protects nothing.
func (p *passage) isKnown(i, s, start, end int) bool {
	v, single := p.text[start:end], end <= p.words[i].signs
	return p.isYear(start, end) || single && people[p.words[i].low] || cipher.MatchString(v) ||
		p.isAccount(i, s) || p.isLogin(i, s, v) || p.answersQuiz(i, s)
}

// accountLabels name the account itself.
var accountLabels = text.Set(`username user-name benutzername nutzername usuário usuario utilisateur utente
	gebruikersnaam nickname handle gamertag`)

// users name an account, or who has one.
var users = text.Set(`user benutzer utilizador usuario utilisateur`)

// isAccount reports whether the word at i is the name of an account: "my username on all forums is ana_m", or what
// comes right before its password: "my Steam: ana_m, pass x".
func (p *passage) isAccount(i, s int) bool {
	const reach = 8
	part, w := p.sentences[s], p.words[i]
	if i > part.first && i+2 < part.last && p.words[i-1].after == colon && (w.after == comma || w.after == slash) {
		label, next := p.words[i-1], p.words[i+1]
		if (!label.namesPassword() || label.low == "login") && next.namesPassword() && !p.words[i+2].clue.Plain {
			return true
		}
	}
	if named := i > part.first && p.words[i-1].namesPassword() && p.words[i-1].low != "login"; !named &&
		atHost.MatchString(w.low) {
		return true
	}
	for k := i - 1; k >= max(part.first, i-reach); k-- {
		o := p.words[k]
		switch {
		case accountLabels[o.low], k == i-1 && o.low == "user" && o.after == colon,
			o.low == "name" && k > 0 && logsIn[p.words[k-1].low]:
			return true
		case users[o.low] && strings.ContainsFunc(w.low, unicode.IsLetter): // "the ssh user on web3 is deploy7"
			return p.words[i-1].low == "is" && !slices.ContainsFunc(p.words[part.first:k], term.namesPassword)
		case o.after > blank && (k < i-1 || o.after != colon), o.namesPassword(),
			k < i-1 && o.clue.Join > 0 && o.clue.Join != strongJoin:
			return false
		}
	}
	return false
}

// atHost is an account at a host, written as an address: ana@home.
var atHost = regexp.MustCompile(`^\pL[\pL.]*@\pL+$`)

// namesPassword reports whether a word is one for a password, and not only for what has one.
func (w term) namesPassword() bool { return w.clue.Word > 3 && w.clue.Thing == 0 }

// logsIn are before "name" where that is the name of an account.
var logsIn = text.Set(`login user account screen`)

// quizzes ask questions that protect nothing.
var quizzes = text.Set(`quiz quizzes riddle riddles exam exams exercise test homework crossword puzzle trivia worksheet
	quizfrage rätsel prüfung devinette énigme examen adivinanza prova enigma indovinello`)

// numberedQuestion is one of an exam.
var numberedQuestion = regexp.MustCompile(`\b(?:question|exercise|problem|frage|aufgabe|pregunta|pergunta|domanda) \d`)

// answersQuiz reports whether the word at i is the answer to a question of a quiz or an exam.
func (p *passage) answersQuiz(i, s int) bool {
	part := p.sentences[s]
	if part.question || slices.ContainsFunc(part.names, func(k int) bool {
		return !slices.Contains(answerNames, p.words[k].low)
	}) {
		return false
	}
	first := part.first
	if s > 0 {
		first = p.sentences[s-1].first
	}
	return slices.ContainsFunc(p.words[first:i], func(w term) bool { return quizzes[w.low] }) ||
		numberedQuestion.MatchString(p.lower[p.words[part.first].start:p.words[i].start])
}

// answerNames are words for an answer.
var answerNames = strings.Fields("answer antwort réponse respuesta resposta risposta antwoord")

// programsWithHosts take a user and a host: ssh deploy@web3.
var programsWithHosts = text.Set(`ssh scp sftp rsync mosh ssh-copy-id sshfs autossh`)

// cipher is the name of a cipher, a hash or the type of a key, with its mode.
var cipher = regexp.MustCompile(`^(?:aes|ssh|sha\d?|rsa|ecdsa|chacha20|camellia|serpent|twofish|argon2id?|` +
	`pbkdf2|hmac|curve)\d*(?:-[a-z]{2,10}\d*)*$`)

// login is a user and a host.
var login = regexp.MustCompile(`^[a-z_][\w.-]*@[a-z][\w.-]*(?::\S*)?$`)

// isLogin reports whether the value of word i is a user at a host, after a program that takes one.
func (p *passage) isLogin(i, s int, v string) bool {
	return login.MatchString(v) && slices.ContainsFunc(p.words[p.sentences[s].first:i], func(w term) bool {
		return programsWithHosts[w.low]
	})
}

// isCell reports whether text[start:end] is all of a cell of a table, in a line between bars, whose heading other rules
// know, or a value of a statement of SQL.
func (p *passage) isCell(start, end int) bool {
	line := p.text[strings.LastIndexByte(p.text[:start], '\n')+1:]
	line, _, _ = strings.Cut(line, "\n")
	line = strings.TrimSpace(line)
	before, after := strings.TrimRight(p.text[:start], " "), strings.TrimLeft(p.text[end:], " ")
	return len(line) > 2 && line[0] == '|' && line[len(line)-1] == '|' && strings.HasSuffix(before, "|") &&
		strings.HasPrefix(after, "|") || sqlValues.MatchString(p.lower[max(0, start-longestStatement):start])
}

const longestStatement = 300

// sqlValues is before a value of a statement that adds rows.
var sqlValues = regexp.MustCompile(`\binsert\s+into\s[^;]*\bvalues\s*\([^;]*$`)
