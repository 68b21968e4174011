package rank

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh/instruct"
)

// courtesy is what may come before a request.
const courtesy = `(?i)^(?:please |kindly |now |ok,? )*`

// Weights of the speaker and of standing instructions: round numbers, see docs/ranking.md for what they gain.
const (
	assistantWeight = .4 // subtracted from what an assistant said
	standingWeight  = 2. // times the cosine, added to a standing instruction
)

var (
	// asksAssistant finds questions about what the assistant said: "what did you recommend".
	asksAssistant = regexp.MustCompile(`(?i)\b(did|had|have|were|was) you\b|` +
		`\byou('ve| have| had)? (recommended|suggested|advised|said|told|explained|proposed|mentioned|gave|provided)\b`)
	// asksHelp finds requests for help now, which is when a standing instruction applies.
	asksHelp = regexp.MustCompile(`(?i)\b(can|could|would|will) you\b|` +
		`\bhow (do|can|should|would|might|could) (I|you|we|one)\b|` +
		`^what (are|is) (some|the (best|different|common|typical))\b|` +
		`^which\b.*\b(I|we|me|us|my|our|should|can|could|would|to|good|best|better|suitable|this|these)\b|` +
		`\b(suggest|recommend)\b|\bshould I\b|\bhelp me\b|` +
		`^(please )?(add|answer|book|build|change|commit|compose|convert|cook|create|delete|deploy|design|draft|draw|edit|` +
		`email|explain|fix|format|generate|give|help|implement|install|make|merge|order|outline|pack|plan|plot|post|` +
		`prepare|print|propose|publish|push|refactor|release|remove|rename|reply|reserve|review|rewrite|run|schedule|send|` +
		`set up|take|test|translate|update|upgrade|write)\b`)
	// asksAdvice finds other questions about what to do, and opinions that are asked for.
	asksAdvice = regexp.MustCompile(`(?i)\b(can|could|shall|should|may|might) (I|we)\b|\bwhat do you think\b|` +
		`\b(how|what) about (a|an|the|my|this)\b|^(any|some) (ideas?|tips?|suggestions?|advice)\b|` +
		`\bI (need|want|would like) (a|an|some|to|you)\b`)
	// commands finds sentences that begin with a verb and its object: "find me a flight", "clean up the folder". Their
	// first word is the first group.
	commands = regexp.MustCompile(courtesy + `(\p{L}+) (?:(?:me|us|up|out|over|off|down|back) )?` +
		`(?:a|an|the|my|our|your|this|that|these|those|some|any|all|every|each|another|both|two|three|me|us|it|them)\b`)
	// begins finds the first two words of a sentence with a word that is in sentences only: "send Clara a message".
	begins = regexp.MustCompile(courtesy + `(\p{L}+) (\p{L}+) .*\b(?:a|an|the|my|our|your|this|to|for|from|` +
		`with|about|into|on|before|after)\b`)
	// noVerbs begin questions and statements.
	noVerbs = text.Set("is are was were am do does did has had can could will would should shall may might must what " +
		"who whom whose which when where why how i you he she it we they this that these those there here my our your his " +
		"her their in on at of to from by for with about and or but if because as than not no so then after before since " +
		"like all both every today tomorrow yesterday anything everything something nothing")
	// asksPast finds questions about what was said or done before. They look for that, not for help.
	asksPast = regexp.MustCompile(`(?i)\b(did|have|had|was|were) (I|we|you)\b|` +
		`\b(I|we) (\w+ed|said|told|brought|did|had|took|went|made)\b|` +
		`\bsummar|\border in which\b|^(how (many|long|much)|when)\b`)
	// asksOrder finds questions about what came after what: "in which order did I bring up …".
	asksOrder = regexp.MustCompile(`(?i)\b((the|which|what) order (in which|of|did|I|we)\b|` +
		`in (chronological |time )order\b|in order( of\b|\s*[.?!,;]|$)|timeline\b|sequence of events\b|chronolog)`)
	// asksSummary finds requests for an overview of many memories.
	asksSummary = regexp.MustCompile(`(?i)\b(summar(y|ies|i[sz](e|ing))|overviews?|recaps?|` +
		`everything (about|on|I|we|you))\b`)
	// asksMany finds other questions that one memory does not answer: "list all …", "how many different …".
	asksMany = regexp.MustCompile(`(?i)\b((list|name|show|what are) (me )?(all|every)\b|list (my|our)\b|` +
		`how many (different|times|total|of)|all (of )?(the|my|our) \w+|every time|over time|` +
		`histor(y|ies) of|evol(ved?|ution))`)
	// framing is the words of a request for an overview that do not tell what it is about.
	framing = regexp.MustCompile(`(?i)\b(can|could|would) you\b|\b(please|give me|provide|walk me through|tell me|list|` +
		`clear|comprehensive|detailed|complete|brief|short|quick|summar(y|i[sz]e)|overview|recap|different|` +
		`aspects|concepts|` +
		`conversations?|discussions?|discussed|sessions?|chats?|throughout|across|covered|including|so far|everything|` +
		`developed|progressed)\b`)
)

// question is what a query asks for, apart from its subject. Only English is recognized. A query in another language
// has the zero value: what an assistant said ranks lower, and standing instructions gain nothing.
type question struct {
	assistant bool // for what the assistant said
	help      bool // for help with something now
	task      bool // the same, or a task or advice in other words, for which a standing instruction may matter
	summary   bool // for an overview, to which both sides of a conversation belong
	broad     bool // for many memories: an overview, an order, a list, a number
	ordered   bool // for the order in which something happened
}

// parseQuestion recognizes the kind of question. A query about the past is no request for help, even where it is worded
// like one: "can you list what I brought up".
func parseQuestion(query string) question {
	past := asksPast.MatchString(query)
	q := question{
		assistant: asksAssistant.MatchString(query),
		help:      !past && asksHelp.MatchString(query),
		summary:   asksSummary.MatchString(query),
		ordered:   asksOrder.MatchString(query),
	}
	q.broad = q.summary || q.ordered || asksMany.MatchString(query)
	q.task = q.help || !past && !q.broad && asksTask(query)
	return q
}

// asksTask reports whether a query asks for advice, or begins with a verb in its base form and an object.
func asksTask(query string) bool {
	if asksAdvice.MatchString(query) {
		return true
	}
	if strings.HasSuffix(query, "?") {
		return false
	}
	if m := commands.FindStringSubmatch(query); m != nil {
		return !noVerbs[strings.ToLower(m[1])]
	}
	m := begins.FindStringSubmatch(query)
	return m != nil && instruct.IsVerb(m[1]) && !noVerbs[strings.ToLower(m[2])] // "number of the router"
}

// subject returns the words of a query that tell what it is about.
func (q question) subject(query string) string {
	if q.summary {
		return framing.ReplaceAllString(query, " ")
	}
	return query
}

// About returns the words of a query that tell what it is about: not those that ask for an overview or an order. It is
// the query if there are no others.
func About(query string) string {
	about := parseQuestion(query).subject(asksOrder.ReplaceAllString(query, " "))
	if !strings.ContainsFunc(about, unicode.IsLetter) {
		return query
	}
	return about
}

// Ordered reports whether a query asks for an order in time.
func Ordered(query string) bool { return parseQuestion(query).ordered }

// adjust returns what the score of a memory loses because an assistant said it (0 or negative), and gains for being a
// standing instruction (0 or more).
func (r *Candidates) adjust(p *part, doc int) (speaker, standing float32) {
	d := &p.Docs[doc]
	if d.Assistant {
		if r.question.assistant || r.question.summary {
			return 0, 0
		}
		return -assistantWeight, 0
	}
	// SECURITY: another group's instruction is what strangers said. It gains nothing in a direct conversation.
	if r.question.help && d.Standing && !p.foreign(doc) {
		standing = standingWeight * p.raw[doc]
	}
	return 0, standing
}
