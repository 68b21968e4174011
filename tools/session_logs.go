package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/yamo-protocol/yamo-mcp/internal/conversation"
	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/workspace/transcript"
)

// logQuery is the arguments of session_logs (seed 002, phase 10.8).
type logQuery struct {
	Action    string `json:"action" jsonschema:"enum=list_sessions,enum=read_session,enum=search,enum=recent"`
	SessionID string `json:"session_id,omitempty"`
	Query     string `json:"query,omitempty"`
	Offset    int    `json:"offset,omitempty" jsonschema:"minimum=0"`
	Limit     int    `json:"limit,omitempty" jsonschema:"maximum=500"`
	MaxChars  int    `json:"max_chars,omitempty" jsonschema:"maximum=4000"`
}

func (logQuery) JSONSchemaExtend(s *jsonSchema) {
	describe(s, map[string]string{
		"action":     "recent: last turns.",
		"session_id": "For read_session; optional for search, recent.",
		"query":      "For search; may have since:DATE until:DATE project:NAME role:user|assistant|tool.",
		"offset":     "For read_session.",
		"limit":      "Up to 500.",
		"max_chars":  "Per turn.",
	})
}

// logAnswer is what the four actions return, one part each (seed 002, phase 10.8).
type logAnswer struct {
	OK           bool                 `json:"ok"`
	Sessions     []transcript.Session `json:"sessions,omitzero"`
	Entries      []transcript.Entry   `json:"entries,omitzero"`
	Hits         []transcript.Hit     `json:"hits,omitzero"`
	Count        int                  `json:"count"`
	Truncated    bool                 `json:"truncated"`
	NextOffset   int                  `json:"next_offset,omitempty"`
	Hint         string               `json:"hint,omitempty"`
	SessionID    string               `json:"session_id,omitempty"`
	Header       *transcript.Session  `json:"header,omitempty"`
	SkippedLines int                  `json:"skipped_lines,omitempty"`
	Pending      int                  `json:"pending,omitempty"`
}

func (logAnswer) JSONSchemaExtend(s *jsonSchema) {
	describe(s, map[string]string{
		"count":         "Number of returned items.",
		"truncated":     "More exist than are returned.",
		"next_offset":   "For read_session: offset of the next turns.",
		"hint":          "How to get more.",
		"header":        "The session of the entries.",
		"skipped_lines": "Number of lines that are too long or no JSON.",
		"pending":       "Number of sessions that are not searched by meaning yet.",
	})
}

// SessionLogs is the tool session_logs (seed 002, phase 10.8). It is registered only where a transcripts
// folder is set. The view decides which sessions an audience has: a group sees its own, and another's ID is unknown to
// it. project returns the project of a call's session, "" for none; recent prefers its sessions.
func SessionLogs(v *conversation.View, project func(context.Context) string) Tool {
	return Define(Spec{
		Name:        "session_logs",
		Title:       "Session logs",
		Description: "Your past sessions verbatim. For stored memories use memory_search.",
		ReadOnly:    true,
		Idempotent:  true,
	}, func(ctx context.Context, in logQuery) (logAnswer, error) {
		answer, err := readLogs(ctx, v, project, in)
		switch {
		case errors.Is(err, transcript.ErrNotFound):
			return answer, fault.New("session_id: no such session; action list_sessions returns the existing ones")
		case errors.Is(err, transcript.ErrInvalidID), errors.Is(err, transcript.ErrNoQuery):
			return answer, fault.New("%v", err)
		}
		return answer, err
	})
}

// readLogs performs one action. Each fills the result up to its budget: sessions, turns and hits from the first, the
// turns of recent from the last.
func readLogs(
	ctx context.Context, v *conversation.View, project func(context.Context) string, in logQuery,
) (logAnswer, error) {
	// Refused and not ignored: a model that pages through a search would get the first hits again and again.
	if in.Offset > 0 && in.Action != "read_session" {
		return logAnswer{}, fault.New("offset: only for read_session; omit it")
	}
	left := newRoom()
	switch in.Action {
	case "list_sessions":
		r, err := v.ListSessions(ctx, in.Limit)
		sessions := fit(&left, r.Sessions)
		answer := logAnswer{
			OK: r.OK, Sessions: sessions, Count: len(sessions),
			Truncated: r.Truncated || len(sessions) < len(r.Sessions),
		}
		return answer.hinted("use a larger limit, or search"), err
	case "search":
		query, err := conversation.Parse(in.Query)
		if err != nil {
			return logAnswer{}, err
		}
		query.SessionID, query.InProject, query.Limit, query.MaxChars = in.SessionID, project(ctx), in.Limit, in.MaxChars
		r, err := v.Search(ctx, query)
		hits := fit(&left, r.Hits)
		answer := logAnswer{
			OK: r.OK, Hits: hits, Count: len(hits),
			Truncated: r.Truncated || len(hits) < len(r.Hits), SkippedLines: r.SkippedLines, Pending: r.Pending,
		}
		return answer.hinted("search for a longer text, in one session, or with a smaller max_chars"), err
	case "recent":
		r, err := v.Recent(ctx, in.SessionID, project(ctx), in.Limit, in.MaxChars)
		slices.Reverse(r.Entries)
		r.Entries = fit(&left, r.Entries) // the last ones count
		slices.Reverse(r.Entries)
		return turns(r).hinted("ask with a larger limit or smaller max_chars, or read_session from its beginning"), err
	default:
		if in.SessionID == "" {
			return logAnswer{}, fault.New("session_id: required by read_session; action list_sessions returns the existing ones")
		}
		r, err := v.ReadSession(ctx, in.SessionID, in.Offset, in.Limit, in.MaxChars)
		r.Entries = fit(&left, r.Entries)
		answer := turns(r)
		// A count of 0 means that one turn does not fit: an offset that does not advance would loop.
		if next := in.Offset + answer.Count; next < r.TotalEntries && answer.Count > 0 {
			answer.NextOffset = next
			answer.Hint = fmt.Sprintf("%d more turns: call again with next_offset as offset.", r.TotalEntries-next)
		}
		return answer, err
	}
}

// turns returns the turns of a session, with its header, so that a model knows whose words they are.
func turns(r transcript.Entries) logAnswer {
	return logAnswer{
		OK: r.OK, Entries: r.Entries, Count: len(r.Entries), Truncated: len(r.Entries) < r.TotalEntries,
		SessionID: r.SessionID, Header: &r.Header,
	}
}

// hinted is the answer with what to do if there is more.
func (a logAnswer) hinted(how string) logAnswer {
	if a.Truncated {
		a.Hint = "More exist: " + how + "."
	}
	return a
}
