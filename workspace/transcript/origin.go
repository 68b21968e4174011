package transcript

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/workspace/plain"
)

const (
	// originsFile is OpenClaw's index of the sessions in its folder.
	originsFile = "sessions.json"
	// maxOrigins is how many bytes of it are read; one that is longer says nothing.
	maxOrigins = 16 << 20
	// topicMark separates a session's id from a topic's in the name of an OpenClaw log.
	topicMark = "-topic-"
)

// groupWords are what OpenClaw calls a conversation of several, in a session's key and as its chat type.
var groupWords = []string{"group", "channel", "room"}

// origins says which sessions of folder were a group's, as a sessions.json there has it: the id of each to the name of
// the group, "telegram:group:-100123". Sessions that it does not say so of are the direct conversation's.
//
// SECURITY: it is for DMs only, who are told that something was said in a group. A group is given nothing by it: the
// file names everybody's sessions, so that a group's process does not open it.
func (v *View) origins(folder string) map[string]string {
	if !v.who.IsDM() {
		return nil
	}
	name := originsFile
	if folder != "." {
		name = folder + "/" + name
	}
	data, more, err := plain.Read(v.root, name, maxOrigins)
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

// originOf is the group whose session id was, by what origins found, "" if it was no group's.
func originOf(origins map[string]string, id string) string {
	session, _, _ := strings.Cut(id, topicMark)
	return origins[session]
}
