package transcript

import (
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

// origins returns which sessions of folder were a group's according to a sessions.json there: a map from the id of each
// to the name of the group, such as "telegram:group:-100123". All other sessions are the direct conversation's.
//
// SECURITY: it is for DMs only, which learn that something was said in a group. It never gives a group access: the file
// names the sessions of all conversations, so that a group's process does not open it.
func (v *View) origins(root *os.Root, folder string) map[string]string {
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
	found := map[string]string{}
	for key, row := range rows {
		var session struct {
			ID       string `json:"sessionId"`
			ChatType string `json:"chatType"`
			Origin   struct {
				ChatType string `json:"chatType"`
			} `json:"origin"`
		}
		if json.Unmarshal(row, &session) != nil || session.ID == "" {
			continue
		}
		// agent:<id>:main, agent:<id>:<channel>:group|channel|room:<id>
		parts := strings.Split(key, ":")
		if len(parts) > 2 && parts[0] == "agent" {
			parts = parts[2:]
		}
		isGroup := func(word string) bool { return slices.Contains(groupWords, word) }
		if slices.ContainsFunc(parts, isGroup) || isGroup(session.ChatType) || isGroup(session.Origin.ChatType) {
			found[session.ID] = strings.Join(parts, ":")
		}
	}
	return found
}

// originOf returns the group of the session id according to origins, "" if it was not a group's.
func originOf(origins map[string]string, id string) string {
	session, _, _ := strings.Cut(id, topicMark)
	return origins[session]
}
