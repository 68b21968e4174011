package transcript

import (
	"cmp"
	"encoding/json"
	"os"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/workspace/plain"
)

const (
	// originsFile is OpenClaw's index of the sessions in its folder.
	originsFile = "sessions.json"
	// maxOrigins is its maximum size in bytes; a larger one is ignored.
	maxOrigins = 16 << 20
	// topicMark separates a session's id from a topic's in the name of an OpenClaw log.
	topicMark = "-topic-"
)

// groupWords are OpenClaw's words for a conversation of several people, in a session's key and as its chat type.
var groupWords = []string{"group", "channel", "room"}

// origin is whose session one was: of the group with a name such as "telegram:group:-100123"; a subagent's, of the
// session with the id parent, which is its own if that is not known.
type origin struct{ group, parent string }

// origins returns the origins of those sessions of folder, by their ids, that were a group's or a subagent's according
// to a sessions.json there. All other sessions are the direct conversation's.
//
// SECURITY: it is for DMs only, which learn that something was said in a group. It never gives a group access: the file
// names the sessions of all conversations, so that a group's process does not open it.
func (v *View) origins(root *os.Root, folder string) map[string]origin {
	if !v.who.IsDM() {
		return nil
	}
	name := originsFile
	if folder != "." {
		name = folder + "/" + name
	}
	data, more, err := plain.Read(root, name, maxOrigins)
	if err != nil || more {
		return nil
	}
	var rows map[string]json.RawMessage
	if json.Unmarshal(data, &rows) != nil {
		return nil
	}
	sessions := make(map[string]openClawSession, len(rows))
	for key, row := range rows {
		var session openClawSession
		if json.Unmarshal(row, &session) == nil && session.ID != "" {
			sessions[key] = session
		}
	}
	found := map[string]origin{}
	for key, session := range sessions {
		id, first := session.ID, key
		of := origin{}
		if by, ok := sessions[session.SpawnedBy]; ok && by.ID != session.ID {
			of.parent = by.ID
		}
		// SECURITY: what works for a group's session is the group's.
		for range maxSpawned {
			by, ok := sessions[session.SpawnedBy]
			if of.group = groupIn(key, session); of.group != "" || !ok {
				break
			}
			key, session = session.SpawnedBy, by
		}
		if of.parent == "" && IsSubagent(first) {
			of.parent = id // what it works for is not known
		}
		if of != (origin{}) {
			found[id] = of
		}
	}
	return found
}

// openClawSession is a row of sessions.json.
type openClawSession struct {
	ID        string `json:"sessionId"`
	ChatType  string `json:"chatType"`
	SpawnedBy string `json:"spawnedBy"` // the key of the session that a subagent works for
	Origin    struct {
		ChatType string `json:"chatType"`
	} `json:"origin"`
}

// maxSpawned is how many subagents of subagents are followed.
const maxSpawned = 8

// subagentWord is OpenClaw's word for a subagent in a session's key.
const subagentWord = "subagent"

// keyParts returns the parts of a session's key after the agent: agent:<id>:main, agent:<id>:subagent:<id>,
// agent:<id>:<channel>:group|channel|room:<id>.
func keyParts(key string) []string {
	parts := strings.Split(key, ":")
	if len(parts) > 2 && parts[0] == "agent" {
		parts = parts[2:]
	}
	return parts
}

// IsGroup reports whether a session of OpenClaw's was a group's, by its key and what OpenClaw notes of its chat.
func IsGroup(key string, chat ...string) bool {
	return slices.ContainsFunc(slices.Concat(keyParts(key), chat), func(word string) bool {
		return slices.Contains(groupWords, word)
	})
}

// IsSubagent reports whether a session of OpenClaw's was a subagent's, by its key.
func IsSubagent(key string) bool { return slices.Contains(keyParts(key), subagentWord) }

// groupIn returns the group of a row of sessions.json, "" if it is not a group's.
func groupIn(key string, session openClawSession) string {
	if IsGroup(key, session.ChatType, session.Origin.ChatType) {
		return strings.Join(keyParts(key), ":")
	}
	return ""
}

// settle notes what origins tells of the log.
func (l *log) settle(origins map[string]origin) {
	session, _, _ := strings.Cut(l.id, topicMark)
	of := origins[session]
	l.group, l.parent = cmp.Or(l.group, of.group), cmp.Or(l.parent, of.parent)
}
