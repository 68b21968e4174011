package redact

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"
	"sync"

	ahocorasick "github.com/BobuSumisu/aho-corasick"
	"github.com/pelletier/go-toml/v2"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/chars"
)

// ruleFile is gitleaks' own rule file without the example keys it lists as
// allowed; rules/README.md names the release and how to update it.
//
// Only the rules are used, not gitleaks' detector: linking that costs 7 MB of
// program, 75 ms to compile every rule and 24 MB of memory, and it searches
// 10 KB of prose in 8 ms. Here the file is parsed on first use (2 ms), a rule
// is compiled when its keyword is first seen, and it is run on the word or
// the assignment around that keyword.
//
//go:embed rules/gitleaks.toml
var ruleFile string

// GitleaksRules returns the Detector of credentials by gitleaks' rules. The
// rules are loaded on first use.
func GitleaksRules() Detector { return gitleaks }

var gitleaks = &ruleSet{load: sync.OnceValues(func() (*loadedRules, error) { return loadRules(ruleFile) })}

// ruleSet is a lazily loaded set of rules.
type ruleSet struct {
	load func() (*loadedRules, error)
}

// loadedRules are the rules for credentials, found by their keywords: a text without any of them is not matched against
// regular expressions.
type loadedRules struct {
	rules    []*rule
	keywords *ahocorasick.Trie
	byWord   map[string][]*rule
}

// reach is where a rule's match can lie, seen from its keyword.
type reach int

const (
	withinWord reach = iota // within the word that contains the keyword
	assignment              // keyword, operator, value
	around                  // an assignment, the keyword in its value
	anywhere                // anywhere in the text
)

// rule finds one kind of credential. Its expression is compiled at its first use: most are never needed.
type rule struct {
	id         string
	reach      reach
	minEntropy float64
	group      int
	allow      []allowance
	regex      func() *regexp.Regexp
}

// allowance is a gitleaks allowlist: what matches it is no credential.
type allowance struct {
	onMatch, onLine bool
	stopWords       []string
	regexes         func() []*regexp.Regexp
}

// farReaching are the rules whose keyword is apart from the value without
// an operator between.
var farReaching = map[string]bool{
	"airtable-personnal-access-token": true, "cloudflare-origin-ca-key": true, "curl-auth-header": true,
	"curl-auth-user":        true,
	"facebook-access-token": true, "freemius-secret-key": true, "intra42-client-secret": true,
	"kubernetes-secret-yaml": true,
	"nuget-config-password":  true,
}

// inValue are the assignment rules whose keyword begins the value.
var inValue = map[string]bool{
	"atlassian-api-token":  true,
	"gocardless-api-token": true, "lob-api-key": true, "new-relic-browser-api-token": true, "new-relic-insert-key": true,
	"new-relic-user-api-key": true, "typeform-api-token": true,
}

// skipped are rules for what is no secret (ids and keys that are public) or
// is found by this package itself.
var skipped = map[string]bool{
	"pkcs12-file": true, "private-key": true,
	"adobe-client-id": true, "asana-client-id": true, "bitbucket-client-id": true, "discord-client-id": true,
	"linkedin-client-id": true,
	"looker-client-id":   true, "messagebird-client-id": true, "plaid-client-id": true, "sendbird-access-id": true,
	"sumologic-access-id":   true,
	"new-relic-user-api-id": true, "lob-pub-api-key": true, "mailgun-pub-key": true, "flutterwave-public-key": true,
}

// tail is how gitleaks' rules end a value; in prose a value is also followed
// by punctuation and by Markdown.
const (
	tail      = `(?:[\x60'"\s;]|\\[nr]|$)`
	proseTail = `(?:[\x60'"\s;,.:!?)\]}<>|&*#…，。、；：！？）」』》]|\\[nr]|$)`
)

// forProse gives a rule the bounds of values in prose; the last two are those
// of one rule that has its own.
var forProse = strings.NewReplacer(tail, proseTail,
	`(?:^|[\\'"\x60\s>=:(,)])`, `(?:^|[^\w~.-])`,
	`(?:$|[\\'"\x60\s<),])`, `(?:$|[^\w~-])`)

// loadRules parses rules in gitleaks' format. The file is part of the program, so an error is one of the build.
func loadRules(file string) (*loadedRules, error) {
	type allowlist struct {
		RegexTarget string
		Regexes     []string
		StopWords   []string
	}
	var parsed struct {
		Allowlist allowlist
		Rules     []struct {
			ID, Regex   string
			Entropy     float64
			SecretGroup int
			Keywords    []string
			Allowlists  []allowlist
		}
	}
	if err := toml.Unmarshal([]byte(file), &parsed); err != nil {
		return nil, fmt.Errorf("parse credential rules: %w", err)
	}
	l := &loadedRules{byWord: make(map[string][]*rule)}
	toAllowance := func(a allowlist) allowance {
		return allowance{
			onMatch: a.RegexTarget == "match", onLine: a.RegexTarget == "line",
			stopWords: lowered(a.StopWords),
			regexes: sync.OnceValue(func() []*regexp.Regexp {
				var rs []*regexp.Regexp
				for _, r := range a.Regexes {
					rs = append(rs, regexp.MustCompile(r))
				}
				return rs
			}),
		}
	}
	global := toAllowance(parsed.Allowlist)
	for _, p := range parsed.Rules {
		if p.Regex == "" || skipped[p.ID] {
			continue
		}
		r := &rule{
			id: p.ID, minEntropy: p.Entropy, group: p.SecretGroup, allow: []allowance{global},
			regex: sync.OnceValue(func() *regexp.Regexp {
				return regexp.MustCompile(forProse.Replace(p.Regex))
			}),
		}
		switch {
		case inValue[p.ID]:
			r.reach = around
		case strings.Contains(p.Regex, `{0,50}?`):
			r.reach = assignment
		case farReaching[p.ID]:
			r.reach = anywhere
		}
		for _, a := range p.Allowlists {
			r.allow = append(r.allow, toAllowance(a))
		}
		l.rules = append(l.rules, r)
		for _, k := range lowered(p.Keywords) {
			l.byWord[k] = append(l.byWord[k], r)
		}
	}
	words := make([]string, 0, len(l.byWord))
	for k := range l.byWord {
		words = append(words, k)
	}
	l.keywords = ahocorasick.NewTrieBuilder().AddStrings(words).Build()
	return l, nil
}

// lowered returns the strings in lower case.
func lowered(ss []string) []string {
	out := make([]string, len(ss))
	for i, s := range ss {
		out[i] = chars.Lower(s)
	}
	return out
}

// Detect implements Detector.
func (s *ruleSet) Detect(text string) []Finding {
	l, err := s.load()
	if err != nil {
		// The file is embedded and tested: this is a broken build, and to go on
		// without the rules would store credentials.
		panic(err)
	}
	lower := chars.Lower(text)
	var found []Finding
	type place struct {
		r     *rule
		start int
	}
	seen := make(map[place]bool)
	var at span // the word of the last keyword
	for _, m := range l.keywords.MatchString(lower) {
		pos, key := int(m.Pos()), m.MatchString()
		if pos+len(key) > at.end {
			at = wordAround(text, pos, pos+len(key))
		}
		var valued span
		for _, r := range l.byWord[key] {
			w := span{0, len(text)}
			switch r.reach {
			case withinWord:
				// With a byte before and after it, which rules look at.
				w = span{max(0, at.start-1), min(len(text), at.end+1)}
			case assignment:
				if valued.end == 0 {
					valued = assignmentAround(text, pos, pos+len(key))
				}
				w = valued
			case around:
				w = span{max(0, pos-100), min(len(text), pos+320)}
			}
			if w.end-w.start < 16 || seen[place{r, w.start}] || r.id == "kubernetes-secret-yaml" &&
				!strings.Contains(lower, "kind:") {
				continue
			}
			seen[place{r, w.start}] = true
			found = append(found, r.find(text, w)...)
		}
	}
	return found
}

// wordAround returns the word, as white space bounds it, that contains
// [start,end).
func wordAround(text string, start, end int) span {
	for start > 0 && text[start-1] > ' ' {
		start--
	}
	for end < len(text) && text[end] > ' ' {
		end++
	}
	return span{start, end}
}

// assignmentAround returns the text around a keyword in which an assignment
// rule can match, or nearly nothing when no operator and no value follow.
func assignmentAround(text string, start, end int) span {
	none := span{start, start + 1}
	op := -1
	for i := end; i < len(text) && i < end+60; i++ {
		c := text[i]
		if strings.IndexByte("=>:|?,", c) >= 0 {
			op = i
			break
		}
		if !chars.IsAlnum(c) && strings.IndexByte(" \t_.-'\"\r\n", c) < 0 {
			return none
		}
	}
	if op < 0 {
		return none
	}
	const enough = 8 // the shortest value begins with so many letters and digits
	run := 0
	i := op
	for ; i < len(text) && i < op+24 && run < enough; i++ {
		if c := text[i]; chars.IsBase64(c) || c == '.' || c == '-' || c == '_' {
			run++
		} else {
			run = 0
		}
	}
	if run < enough {
		return none
	}
	for i < len(text) && i < op+400 && text[i] > ' ' {
		i++
	}
	s := start
	for s > 0 && start-s < 60 && text[s-1] > ' ' {
		s--
	}
	return span{s, min(len(text), i+2)}
}
