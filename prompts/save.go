package prompts

import (
	"context"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/transcript"
)

// offeredSessions is the maximum number of sessions offered as completions, newest first.
const offeredSessions = 20

// SessionSave ends a session: a DM writes a memory file (seed 003), a group its log. logs may be nil.
func SessionSave(v *workspace.View, logs *transcript.View) Prompt {
	p := saving(v, "session_save", "Save the session", "End a session: save what it was about")
	session := Argument{Name: "session_id", Description: "ID of the session, if the host knows it"}
	if logs != nil {
		session.Values = func(ctx context.Context) ([]string, error) {
			list, err := logs.ListSessions(ctx, offeredSessions)
			var ids []string
			for _, s := range list.Sessions {
				ids = append(ids, s.SessionID)
			}
			return ids, err
		}
	}
	p.Arguments = []Argument{{Name: "topic", Description: "What the session was about, in 2 to 5 words"}, session}
	return p
}

// MemoryFlush comes before the context is compacted: a DM writes a memory file (seed 003), a group its log.
func MemoryFlush(v *workspace.View) Prompt {
	p := saving(v, "memory_flush", "Save before compaction", "Before the context is compacted: save what must survive")
	p.Arguments = []Argument{{Name: "focus", Description: "What must not be lost"}}
	return p
}

// saving returns a prompt with fixed text, a different one for groups, that is followed by its arguments.
func saving(v *workspace.View, name, title, description string) Prompt {
	text := name
	if !v.Audience().IsDM() {
		text += "_group"
	}
	p := Prompt{Name: name, Title: title, Description: description}
	p.Render = func(_ context.Context, args map[string]string) (string, error) {
		return whenReady(v, func() (string, error) {
			var out strings.Builder
			out.WriteString(fixed(text))
			// A fixed order: the arguments are a map, and the same call must give the same prompt.
			for _, name := range []string{"topic", "session_id", "focus"} {
				if value := args[name]; value != "" {
					out.WriteString("\n" + name + ":\n\n" + quoted(value))
				}
			}
			return out.String(), nil
		})
	}
	return p
}
