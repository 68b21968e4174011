package record

import (
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/mesh/instruct"
)

// standingHead is the number of bytes of a memory that are searched: an instruction or a preference is short, or comes
// first.
const standingHead = 600

// standingTags mark a memory as standing whatever it says, in lower case and without number signs.
var standingTags = []string{"preference", "preferences", "instruction", "instructions", "standing"}

// MayStand reports whether the memory can be a standing instruction or a preference, whatever its words: it is no
// lesson, reflection or passage of a file, and not what an assistant said.
//
// SECURITY: what it excludes instructs nobody, in searches, the ranking and the brief.
func (r *Record) MayStand() bool {
	return r.Lesson == nil && r.Reflection == nil && r.Type != FileType && !FromAssistant(r.Source)
}

// IsStanding reports whether the memory is a standing instruction or a preference: something that applies whenever the
// occasion comes up, and not only when the query asks for it. What has somebody's name as its source is one if a tag
// says so: the name may be the user's own, and the words of others are none.
func (r *Record) IsStanding() bool {
	if !r.MayStand() {
		return false
	}
	// SECURITY: the words of others instruct nobody by themselves.
	return slices.ContainsFunc(r.Tags, func(tag string) bool {
		return slices.Contains(standingTags, strings.ToLower(strings.TrimPrefix(tag, "#")))
	}) || !fromSomebody(r.Source) && instruct.In(r.Content[:min(standingHead, len(r.Content))])
}
