// Package audience defines the audience of a session and what it may access.
//
// It opens no files and imports nothing of the project. Invariant: an Audience comes only from operator
// configuration, its zero value is the default group, and only DM, or Parse with exactly "dm", returns a
// direct conversation.
package audience

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
)

// DefaultGroup is the group of a session that names none.
const DefaultGroup = "default"

// Audience is who reads what a session says: the agent's primary human (RFC-0009 §3.1, a DM) or a
// named group (§3.2). Audiences compare with ==. The zero value is the default group.
type Audience struct {
	dm    bool
	group string // "" means DefaultGroup, so that the zero value equals Group(DefaultGroup)
}

// DM is the direct conversation between the agent and its primary human.
func DM() Audience { return Audience{dm: true} }

// groupName restricts group names, which become names of files and folders.
var groupName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)

// channelName is what chat systems call their groups: printable ASCII without spaces. A name that a person has misspelt
// must not open another group's memory, so that there is also something in it that a word does not have.
var (
	channelName = regexp.MustCompile(`^[!-~]{1,128}$`)
	identifying = regexp.MustCompile(`[:@]|\d.*\d.*\d.*\d`)
	unsafe      = regexp.MustCompile(`[^a-z0-9]+`)
)

// Group is the audience of the group called name. The name must match [a-z0-9][a-z0-9_-]{0,63}, or be the identifier of
// a channel, such as Telegram's -1001234567890 or WhatsApp's 120363025246125486@g.us: up to 128 characters without
// spaces, with a colon, an @ or four digits. Group then returns the group of a name that is made of it. "" is the
// default group.
func Group(name string) (Audience, error) {
	if name == "" || name == DefaultGroup {
		return Audience{}, nil
	}
	if groupName.MatchString(name) {
		return Audience{group: name}, nil
	}
	if channelName.MatchString(name) && identifying.MatchString(name) {
		return Audience{group: folderName(name)}, nil
	}
	return Audience{}, fmt.Errorf("group %q: a group name is 1 to 64 of a-z, 0-9, - and _, beginning with a letter or "+
		"digit, or the identifier of a channel, such as -1001234567890 or 1203630@g.us", name)
}

// folderName returns a name for files and folders that is made of a channel's identifier: its letters and digits for
// people, and its hash, so that two channels never share a folder.
func folderName(channel string) string {
	const readable, digits = 40, 16
	slug := strings.Trim(unsafe.ReplaceAllString(strings.ToLower(channel), "-"), "-")
	slug = strings.TrimRight(slug[:min(readable, len(slug))], "-")
	sum := sha256.Sum256([]byte(channel))
	return strings.TrimLeft(slug+"-"+hex.EncodeToString(sum[:])[:digits], "-")
}

// Parse returns the audience that the operator's settings describe. Only the connection "dm" without a group
// is a direct conversation; everything else is a group. notice is "" if the settings are exact, otherwise one
// line that tells the operator what was assumed. An invalid group name is an error, because guessing could
// put two groups into one compartment.
func Parse(connection, group string) (a Audience, notice string, err error) {
	// SECURITY: no trimming and no case folding; everything but exactly "dm" is a group.
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
