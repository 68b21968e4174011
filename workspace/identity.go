package workspace

import (
	"errors"
	"io/fs"
	"regexp"
	"strings"
	"unicode"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/workspace/markdown"
)

// Identity is the persona of IDENTITY.md (seed 002, phase 10.1). Every field may be "".
type Identity struct {
	Name     string `json:"name,omitempty"`
	Creature string `json:"creature,omitempty"`
	Vibe     string `json:"vibe,omitempty"`
	Emoji    string `json:"emoji,omitempty"`
	Avatar   string `json:"avatar,omitempty"`
	Theme    string `json:"theme,omitempty"`
}

const (
	soulExcerpt   = 2048 // characters, seed 002 phase 10.8
	identityValue = 256  // characters of one field
)

// ParseIdentity reads the lines `- **Label:** value` of an IDENTITY.md (seed 002, phase 10.1). Labels are
// case-insensitive; the list marker and the emphasis are optional. Template placeholders such as
// `_(pick something)_` and all other lines are skipped, and the first value of a label counts. A value is one line of
// up to 256 characters without control characters; a longer one is cut.
func ParseIdentity(text string) Identity {
	var id Identity
	fields := map[string]*string{
		"name": &id.Name, "creature": &id.Creature, "vibe": &id.Vibe,
		"emoji": &id.Emoji, "avatar": &id.Avatar, "theme": &id.Theme,
	}
	for line := range lines(text) {
		line = strings.TrimSpace(line)
		if rest, ok := markdown.Item(line); ok {
			line = rest
		}
		label, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		opened := strings.HasPrefix(label, "**") && !strings.HasSuffix(label, "**")
		field := fields[strings.ToLower(strings.Trim(label, "*_ \t"))]
		if field == nil || *field != "" {
			continue
		}
		if opened {
			value = strings.TrimPrefix(value, "**")
		}
		*field = identityText(value)
	}
	return id
}

// identityText returns a field's value without surrounding emphasis, "" for a placeholder.
func identityText(value string) string {
	value = strings.Map(func(r rune) rune {
		if r == '\t' {
			return ' '
		}
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, value)
	value = strings.TrimSpace(value)
	for _, mark := range []string{"**", "*", "__", "_"} {
		if len(value) > 2*len(mark) && strings.HasPrefix(value, mark) && strings.HasSuffix(value, mark) {
			value = strings.TrimSpace(value[len(mark) : len(value)-len(mark)])
		}
	}
	if strings.HasPrefix(value, "(") && strings.HasSuffix(value, ")") {
		return ""
	}
	return strings.TrimSpace(text.First(value, identityValue))
}

// Line returns the persona as the system prompt shows it (seed 002, phase 10.1): `name=Kate, emoji=🐙, vibe=warm but
// sharp`, in this order, without empty fields. Creature, avatar and theme are not part of it.
func (id Identity) Line() string {
	var parts []string
	for _, field := range []struct{ label, value string }{{"name", id.Name}, {"emoji", id.Emoji}, {"vibe", id.Vibe}} {
		if field.value != "" {
			parts = append(parts, field.label+"="+field.value)
		}
	}
	return strings.Join(parts, ", ")
}

// Identity returns the parsed IDENTITY.md, an empty one if the file is missing.
func (v *View) Identity() (Identity, error) {
	text, _, err := v.text(IdentityFile, maxFileChars)
	if errors.Is(err, fs.ErrNotExist) {
		return Identity{}, nil
	}
	return ParseIdentity(text), err
}

// SoulExcerpt returns the first 2,048 characters of SOUL.md (seed 002, phase 10.8), "" if the file is missing.
func (v *View) SoulExcerpt() (string, error) {
	text, _, err := v.text(SoulFile, soulExcerpt)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return text, err
}

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
