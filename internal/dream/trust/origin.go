// Package trust decides what a sweep may take into MEMORY.md without a person, by who said it and what it is about.
//
// Its invariant: what a caller claims about a text only ever holds it back. A model can be talked into storing a web
// page's words as the user's, so that no claim releases an order, a permission or a statement about the agent.
package trust

import (
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// Speaker is who said what a memory tells, as far as it is known.
type Speaker string

// The speakers.
const (
	Person  Speaker = "the user"
	Agent   Speaker = "the agent" // its own conclusion or observation
	Other   Speaker = "someone else"
	Foreign Speaker = "a page, document or tool"
	Import  Speaker = "an import"
	Group   Speaker = "a group"
	Unknown Speaker = "an unknown source"
)

// Names are what texts and sources call the agent and the user.
type Names struct {
	Agent   string // of IDENTITY.md, "" if it has none
	AgentID string
	User    string // of USER.md, "" if it has none
}

// SpeakerOf returns who said what a memory tells: the compartment and the way in which it came decide, and only then
// the source that the caller gave. A source of the caller's is a claim; see the package's invariant.
func (n Names) SpeakerOf(hit record.Hit) Speaker {
	switch {
	case hit.Visibility.Group() != "":
		return Group
	case hit.Imported:
		return Import
	case hit.Metadata["path"] != nil || hit.Type == record.FileType: // read from a file by mesh ingest
		return Foreign
	case hit.Reflection != nil:
		return Agent
	}
	return n.speaker(hit.Source)
}

// What sources are called, in words of lower case.
var (
	foreignSource = pattern(`://|\bwww\.|@|\.[a-z]{2,}(/|$|\b)|\b(web|websites?|webpages?|pages?|` +
		`sites?|urls?|` +
		`links?|articles?|blogs?|documents?|docs?|pdf|files?|e-?mails?|mails?|inbox|newsletters?|tools?|` +
		`search|google|` +
		`wikipedia|api|browser|scraped?|repo|repository|readme|issues?|tickets?|fetch(ed)?|download(ed)?|` +
		`attachments?|` +
		`calendar|feed|rss|forum|reddit|slack|discord|manual|guide|book|mcp|plugin)\b`)
	personSource = pattern(`\b(user|human|owner|person|me|myself)\b`)
	agentSource  = pattern(`\b(assistant|agent|ai|model|self|claude|chatgpt|gpt|copilot|cursor|` +
		`codex|gemini|` +
		`opencode|openclaw|observation|inferred|conclusion)\b`)
	talkSource = pattern(`\b(conversation|chat|session|dialog|dialogue|dm|direct message|voice|` +
		`system)\b`)
)

// speaker returns who a source names.
func (n Names) speaker(source string) Speaker {
	low := strings.ToLower(strings.TrimSpace(source))
	named := func(name string) bool { return name != "" && low == strings.ToLower(name) }
	first, _, _ := strings.Cut(n.User, " ")
	switch {
	case low == "":
		return Unknown
	case named(n.User), named(first):
		return Person
	case named(n.Agent), named(n.AgentID):
		return Agent
	case foreignSource().MatchString(low):
		return Foreign
	case personSource().MatchString(low):
		return Person
	case agentSource().MatchString(low):
		return Agent
	case talkSource().MatchString(low):
		return Unknown
	}
	return Other
}

// Holds returns why what a speaker said waits for a person whatever it is, "" if what it is about decides.
func (s Speaker) Holds() string {
	switch s {
	case Import:
		return "it was imported, so its author is unknown"
	case Foreign:
		return "it has the words of a page, document or tool"
	case Other:
		return "someone else than the user said it"
	}
	return ""
}

// Authority is how much a speaker's word counts, from 0. What someone with less authority says does not replace what
// someone with more said.
func (s Speaker) Authority() int {
	switch s {
	case Person:
		return 3
	case Agent:
		return 2
	case Unknown:
		return 1
	}
	return 0
}

// Overruled returns the memory of most authority, and more than hit's own, that hit claims to replace, directly or by
// what it replaced; of equal ones the nearest. It is false for none. A memory that find no longer has is none.
func Overruled(
	hit record.Hit, authority func(record.Hit) int, find func(id string) (record.Hit, bool, error),
) (strongest record.Hit, found bool, err error) {
	most := authority(hit)
	var walk func(record.Hit) error // revisions have no cycles
	walk = func(hit record.Hit) error {
		for _, past := range slices.Backward(hit.Replaced) { // the latest first
			before, ok, err := find(past.ID)
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			if its := authority(before); its > most {
				strongest, found, most = before, true, its
			}
			if err := walk(before); err != nil {
				return err
			}
		}
		return nil
	}
	err = walk(hit)
	return strongest, found, err
}

// agentNames are the names that a text may call the agent by, without those of the user.
func (n Names) agentNames() (names []string) {
	for _, name := range []string{n.Agent, n.AgentID} {
		name = strings.ToLower(strings.TrimSpace(name))
		if len([]rune(name)) > 1 && !strings.EqualFold(name, n.User) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
