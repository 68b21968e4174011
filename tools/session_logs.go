package tools

import (
	"context"
	"errors"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/workspace/transcript"
)

type logQuery struct {
	Action    string `json:"action" jsonschema:"enum=list_sessions,enum=read_session,enum=search,enum=recent" jsonschema_description:"list_sessions: the newest sessions. read_session: one session from its beginning. search: turns that contain a text. recent: the last turns of a session."`
	SessionID string `json:"session_id,omitempty" jsonschema_description:"Required by read_session. search looks at this session alone; recent takes the current session without it."`
	Query     string `json:"query,omitempty" jsonschema_description:"Required by search: the text to find, in any case."`
	Limit     int    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=500,default=50" jsonschema_description:"At most so many sessions, turns or hits."`
	MaxChars  int    `json:"max_chars,omitempty" jsonschema:"minimum=1,maximum=4000,default=200" jsonschema_description:"At most so many characters of each turn."`
}

// logAnswer is what the four actions return, one part each (seed 002, phase 10.8).
type logAnswer struct {
	OK           bool                 `json:"ok"`
	Sessions     []transcript.Session `json:"sessions,omitzero"`
	Entries      []transcript.Entry   `json:"entries,omitzero"`
	Hits         []transcript.Hit     `json:"hits,omitzero"`
	Count        int                  `json:"count" jsonschema_description:"How many are returned."`
	Truncated    bool                 `json:"truncated" jsonschema_description:"There are more than limit."`
	SessionID    string               `json:"session_id,omitempty"`
	Header       *transcript.Session  `json:"header,omitempty" jsonschema_description:"The session that the entries are of."`
	SkippedLines int                  `json:"skipped_lines,omitempty" jsonschema_description:"Lines too long to be searched."`
}

// SessionLogs is the tool session_logs. It is registered only where there is a transcripts folder.
func SessionLogs(v *transcript.View) Tool {
	return Define(Spec{
		Name:  "session_logs",
		Title: "Session logs",
		Description: "Read your own past sessions word for word: list them, read one, search them, or see the last turns. " +
			"For what was worth remembering use memory_search; this is the raw record.",
		ReadOnly:   true,
		Idempotent: true,
	}, func(ctx context.Context, in logQuery) (logAnswer, error) {
		answer, err := readLogs(ctx, v, in)
		switch {
		case errors.Is(err, transcript.ErrNotFound):
			return answer, fault.New("session_id: there is no such session; action list_sessions names those there are")
		case errors.Is(err, transcript.ErrInvalidID), errors.Is(err, transcript.ErrNoQuery):
			return answer, fault.New("%v", err)
		}
		return answer, err
	})
}

func readLogs(ctx context.Context, v *transcript.View, in logQuery) (logAnswer, error) {
	switch in.Action {
	case "list_sessions":
		r, err := v.ListSessions(ctx, in.Limit)
		return logAnswer{OK: r.OK, Sessions: r.Sessions, Count: r.Count, Truncated: r.Truncated}, err
	case "search":
		r, err := v.Search(ctx, in.Query, in.SessionID, in.Limit, in.MaxChars)
		return logAnswer{OK: r.OK, Hits: r.Hits, Count: r.Count, Truncated: r.Truncated, SkippedLines: r.SkippedLines}, err
	case "recent":
		return turns(v.Recent(ctx, in.SessionID, in.Limit, in.MaxChars))
	default:
		if in.SessionID == "" {
			return logAnswer{}, fault.New("session_id: read_session needs it; action list_sessions names the sessions there are")
		}
		return turns(v.ReadSession(ctx, in.SessionID, in.Limit, in.MaxChars))
	}
}

func turns(r transcript.Entries, err error) (logAnswer, error) {
	return logAnswer{
		OK: r.OK, Entries: r.Entries, Count: r.Returned, Truncated: r.Truncated, SessionID: r.SessionID, Header: &r.Header,
	}, err
}
