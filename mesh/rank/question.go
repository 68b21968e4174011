package rank

import "regexp"

// Weights of the speaker and of standing instructions: round numbers, see docs/ranking.md for what they gain.
const (
	assistantWeight = .4 // subtracted from what an assistant said
	standingWeight  = 2. // times the cosine, added to a standing instruction
)

// Assistant is the record.Memory.Source of what an assistant said.
const Assistant = "assistant"

var (
	// asksAssistant finds questions about what the assistant said: "what did you recommend".
	asksAssistant = regexp.MustCompile(`(?i)\b(did|had|have|were|was) you\b|` +
		`\byou('ve| have| had)? (recommended|suggested|advised|said|told|explained|proposed|mentioned|gave|provided)\b`)
	// asksHelp finds requests for help now, which is when a standing instruction applies.
	asksHelp = regexp.MustCompile(`(?i)\b(can|could|would|will) you\b|` +
		`\bhow (do|can|should|would|might|could) (I|you|we|one)\b|` +
		`^what (are|is) (some|the (best|different|common|typical))\b|^which\b|` +
		`\b(suggest|recommend)\b|\bshould I\b|\bhelp me\b`)
	// asksPast finds questions about what was said or done before. They look for that, not for help.
	asksPast = regexp.MustCompile(`(?i)\b(did|have|had|was|were) (I|we|you)\b|` +
		`\b(I|we) (\w+ed|said|told|brought|did|had|took|went|made)\b|` +
		`\bsummar|\border in which\b|^(how (many|long|much)|when)\b`)
)

// question is what a query asks for, apart from its subject. Only English is recognized. A query in another language
// has the zero value: what an assistant said ranks lower, and standing instructions gain nothing.
type question struct {
	assistant bool // for what the assistant said
	help      bool // for help with something now
}

// parseQuestion recognizes the kind of question. A query about the past is no request for help, even where it is worded
// like one: "can you list what I brought up".
func parseQuestion(query string) question {
	return question{
		assistant: asksAssistant.MatchString(query),
		help:      asksHelp.MatchString(query) && !asksPast.MatchString(query),
	}
}

// adjust returns what the score of a memory loses because an assistant said it (0 or negative), and gains for being a
// standing instruction (0 or more).
func (r *Candidates) adjust(p *part, doc int) (speaker, standing float32) {
	d := &p.Docs[doc]
	if d.Record.Source == Assistant {
		if r.question.assistant {
			return 0, 0
		}
		return -assistantWeight, 0
	}
	// SECURITY: another group's instruction is what strangers said. It gains nothing in a direct conversation.
	if r.question.help && d.Standing && !p.source.Foreign {
		standing = standingWeight * p.raw[doc]
	}
	return 0, standing
}
