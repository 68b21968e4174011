package workspace

import (
	"regexp"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
)

// nameChars is the maximum length of a name, in characters.
const nameChars = 64

// soulName finds the agent's name in a SOUL.md of the form of RFC-0009 §2.1: "You are NAME, a ROLE for …".
var soulName = regexp.MustCompile(
	`(?m)^(?:You are|You're|I am|I'm|Your name is|My name is) \**(\p{Lu}[\p{L}\p{N} '’.-]*?)\**[,.!]`)

// AgentName returns the agent's name: that of IDENTITY.md, or else of the first sentence of SOUL.md, "" if neither
// names one.
func (v *View) AgentName() string {
	if id, err := v.Identity(); err == nil && id.Name != "" {
		return text.First(id.Name, nameChars)
	}
	soul, err := v.SoulExcerpt()
	if err != nil {
		return ""
	}
	if m := soulName.FindStringSubmatch(soul); m != nil {
		return text.First(strings.TrimSpace(m[1]), nameChars)
	}
	return ""
}

// UserName returns what USER.md calls the user in the field Name (RFC-0009 §2.3), "" if it names none or still has the
// template's placeholder, and always in a group.
func (v *View) UserName() string {
	// SECURITY: text refuses USER.md in a group.
	profile, _, err := v.text(UserFile, maxFileChars)
	if err != nil {
		return ""
	}
	return text.First(ParseIdentity(profile).Name, nameChars)
}

// Untouched reports whether data is still the template that Init made of the file called name: it tells nothing about
// this workspace.
func Untouched(name string, data []byte) bool { return untouched(name, data) }
