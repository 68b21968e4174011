package record

import (
	"regexp"
	"strings"
)

// standingHead is the number of bytes of a memory that are searched: an instruction or a preference is short, or comes
// first.
const standingHead = 600

// standing finds instructions that hold from now on and preferences, in English and in the first person.
var standing = regexp.MustCompile(`(?i)` +
	`^(please )?(always|never|make sure|remember to|don't|do not)\b.*\bwhen(ever)? I\b|` +
	`\bwhen(ever)? I ask\b|\bfrom now on\b|\bmy preference\b|` +
	`\bI (really |always |usually |generally |strongly )?(prefer|avoid)\b|\bI'd (rather|prefer)\b`)

// standingWords are parts of every match that is not all in capitals, which is not taken for an instruction. Looking
// for them first spares most memories the regular expression, which would make loading a large ledger noticeably
// slower.
var standingWords = []string{
	"prefer", "avoid", "rather", "lways", "ever ", "henever", "hen I ask", "rom now on",
	"ake sure", "emember to", "on't ", "o not ",
}

// IsStanding reports whether the memory is a standing instruction or a preference: something that applies whenever the
// occasion comes up, and not only when the query asks for it.
func (r *Record) IsStanding() bool {
	if r.Lesson != nil || r.Reflection != nil || r.Type == FileType {
		return false
	}
	head := r.Content[:min(standingHead, len(r.Content))]
	for _, word := range standingWords {
		if strings.Contains(head, word) {
			return standing.MatchString(head)
		}
	}
	return false
}
