package record

import (
	"regexp"
	"slices"
	"strings"
)

// standingHead is the number of bytes of a memory that are searched: an instruction or a preference is short, or comes
// first.
const standingHead = 600

// standing finds instructions that hold from now on and preferences, in English: in the first person, and as an
// assistant notes them down ("The user prefers …").
var standing = regexp.MustCompile(`(?i)` +
	`(^|[.!?:]\s+)(please |and )?(always|never) (be|have|do|[a-z]+[^ds\W])\b|` +
	`^(please )?(always|never|make sure|remember to|don't|do not|use|include|keep|add|answer|reply|respond|write|` +
	`format|call)\b.*\b(when(ever)?|if|every time|each time) (I|we|you)\b|` +
	`\bwhen(ever)? I ask\b|\bfrom (now|here) on\b|\bgoing forward\b|` +
	`^please (use|answer|reply|respond|write|format|call|keep|don't|do not|speak|stick)\b|` +
	`\bmy preference\b|\bI (really |always |usually |generally |strongly |much |also |now |still )*` +
	`(prefer|avoid|dislike|hate)\b|` +
	`\bI('d| would) (much )?(rather|prefer)\b|\bI('d| would)? (like|want|need) you to (always|never)\b|` +
	`\bI('d| would)? (like|want|need) you to\b.*\b(when(ever)?|every time|each time)\b|` +
	`\b(the )?user (strongly |always |usually |generally |really )*(prefers|dislikes|hates|avoids|never wants|` +
	`always wants|wants (me|you|the assistant|agents?|answers|` +
	`replies|code) to|asked (me |you )?to (always|never)|would rather)\b|` +
	`\buser('s)? (preference|instruction|standing rule)s?\b`)

// standingTags mark a memory as standing whatever it says, in lower case and without number signs.
var standingTags = []string{"preference", "preferences", "instruction", "instructions", "standing"}

// standingWords are parts of every match that is not all in capitals, which is not taken for an instruction. Looking
// for them first spares most memories the regular expression, which would make loading a large ledger noticeably
// slower.
var standingWords = []string{
	"prefer", "avoid", "rather", "lways", "ever ", "henever", "hen I ask", "rom now on", "rom here on", "oing forward",
	"ake sure", "emember to", "on't ", "o not ", "lease ", "hate", "islike", " when ", " if ", "y time", "h time",
	"you to ", "ser wants", "ser's", "ser asked", "user in", "ser st",
}

// IsStanding reports whether the memory is a standing instruction or a preference: something that applies whenever the
// occasion comes up, and not only when the query asks for it.
func (r *Record) IsStanding() bool {
	if r.Lesson != nil || r.Reflection != nil || r.Type == FileType {
		return false
	}
	if slices.ContainsFunc(r.Tags, func(tag string) bool {
		return slices.Contains(standingTags, strings.ToLower(strings.TrimPrefix(tag, "#")))
	}) {
		return true
	}
	head := r.Content[:min(standingHead, len(r.Content))]
	for _, word := range standingWords {
		if strings.Contains(head, word) {
			if standing.MatchString(head) {
				return true
			}
			break
		}
	}
	return instructs(head)
}
