// Package audience says who hears a session and what they may see.
//
// It is a leaf: it opens no file and knows no store. Its invariant is invariant 1 of the design: an
// Audience comes from operator configuration alone, its zero value is the default group, and nothing
// but Parse with exactly "dm" (or DM itself) yields a direct conversation.
package audience

import (
	"fmt"
	"regexp"
)

// DefaultGroup is the group of a session that names none.
const DefaultGroup = "default"

// Audience is who hears what a session says: the agent's primary human (RFC-0009 §3.1, a DM) or a
// named group (§3.2). Audiences compare with ==. The zero value is the default group.
type Audience struct {
	dm    bool
	group string // "" stands for DefaultGroup, so that the zero value equals Group(DefaultGroup)
}

// DM is the direct conversation between the agent and its primary human.
func DM() Audience { return Audience{dm: true} }

// groupName is what a group may be called: it becomes a folder and a file name.
var groupName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)

// Group is the audience of the group called name. The name must match [a-z0-9][a-z0-9_-]{0,63};
// "" is the default group.
func Group(name string) (Audience, error) {
	if name == "" || name == DefaultGroup {
		return Audience{}, nil
	}
	if !groupName.MatchString(name) {
		return Audience{}, fmt.Errorf("group %q: a group name is 1 to 64 of a-z, 0-9, - and _, beginning with a letter or digit", name)
	}
	return Audience{group: name}, nil
}

// Parse turns the operator's settings into an audience. Only the exact connection "dm" without a group
// gives a direct conversation; everything else is a group. notice is "" when the settings were exact,
// otherwise one line for the operator that says what was assumed. An invalid group name is an error,
// because guessing would put two groups into one compartment.
func Parse(connection, group string) (a Audience, notice string, err error) {
	// SECURITY: no trimming and no case folding; whatever is not exactly "dm" is a group.
	if connection == "dm" && group == "" {
		return DM(), "", nil
	}
	a, err = Group(group)
	if err != nil {
		return Audience{}, "", err
	}
	switch {
	case connection == "group":
	case connection == "":
		notice = fmt.Sprintf("connection is not set: serving group %q (set it to dm for a direct conversation)", a.Group())
	case connection == "dm":
		notice = fmt.Sprintf("connection dm and group %q conflict: serving the group", a.Group())
	default:
		notice = fmt.Sprintf("connection %q is neither dm nor group: serving group %q", connection, a.Group())
	}
	return a, notice, nil
}

// IsDM reports whether this is a direct conversation.
func (a Audience) IsDM() bool { return a.dm }

// Group is the group's name, "" for a DM.
func (a Audience) Group() string {
	switch {
	case a.dm:
		return ""
	case a.group == "":
		return DefaultGroup
	default:
		return a.group
	}
}

// Connection is "dm" or "group".
func (a Audience) Connection() string {
	if a.dm {
		return "dm"
	}
	return "group"
}

// String is "dm" or "group:NAME", for logs.
func (a Audience) String() string {
	if a.dm {
		return "dm"
	}
	return "group:" + a.Group()
}
