package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

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
	Confidence   string               `json:"confidence,omitempty"`
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
		"skipped_lines": "Number of lines that are too long, no JSON, or not of a known form.",
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
			OK: r.OK, Hits: hits, Confidence: r.Confidence, Count: len(hits),
			Truncated: r.Truncated || len(hits) < len(r.Hits), SkippedLines: r.SkippedLines, Pending: r.Pending,
		}
		answer = answer.hinted("search for a longer text, in one session, or with a smaller max_chars")
		if r.Incomplete {
			answer.addHint("There was no time to look everywhere for the text as it is: search with a session_id.")
		}
		return answer, err
	case "recent":
		r, err := v.Recent(ctx, in.SessionID, project(ctx), in.Limit, in.MaxChars)
		slices.Reverse(r.Entries)
		r.Entries = fit(&left, r.Entries) // the last ones count
		slices.Reverse(r.Entries)
		answer := turns(r).hinted("ask with a larger limit or smaller max_chars, or read_session from its beginning")
		answer.goOn(r.TotalEntries-len(r.Entries), 0)
		return answer, err
	default:
		if in.SessionID == "" {
			return logAnswer{}, fault.New("session_id: required by read_session; action list_sessions returns the existing ones")
		}
		from, err := turnStart(in.Query)
		if err != nil {
			return logAnswer{}, err
		}
		r, err := v.ReadSession(ctx, in.SessionID, in.Offset, in.Limit, in.MaxChars)
		if from > 0 {
			r, err = v.ReadTurn(ctx, in.SessionID, in.Offset, from, in.MaxChars)
		}
		r.Entries = fit(&left, r.Entries)
		answer := turns(r)
		// A count of 0 means that one turn does not fit: an offset that does not advance would loop.
		if next := in.Offset + answer.Count; next < r.TotalEntries && answer.Count > 0 {
			answer.NextOffset = next
			answer.Hint = fmt.Sprintf("%d more turns: call again with next_offset as offset.", r.TotalEntries-next)
		}
		answer.goOn(in.Offset, from)
		return answer, err
	}
}

// startMark begins the query of a read_session for the rest of a turn: from:4000 for what is after its first 4,000
// characters.
const startMark = "from:"

// turnStart returns the number of characters in the query of a read_session, 0 if it has none.
func turnStart(query string) (int, error) {
	number, ok := strings.CutPrefix(strings.TrimSpace(query), startMark)
	if !ok {
		return 0, nil
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || n > maxTurn {
		return 0, fault.New("query: %s takes a number of characters from 0 to %d, e.g. %s4000", startMark, maxTurn, startMark)
	}
	return n, nil
}

// maxTurn is more characters than a turn of a session log has.
const maxTurn = 4 << 20

// goOn adds how to read the rest of the first turn that was cut. first is the number of the first turn, from where in
// it the answer begins.
func (a *logAnswer) goOn(first, from int) {
	for i, e := range a.Entries {
		if !e.Truncated {
			continue
		}
		a.addHint(fmt.Sprintf("Turn %d is cut: read_session with offset %d, limit 1, max_chars %d and query \"%s%d\" "+
			"returns more of it.", first+i, first+i, transcript.MaxMaxChars, startMark,
			from+utf8.RuneCountInString(e.Content)-utf8.RuneCountInString("…")))
		return
	}
}

// addHint adds a sentence to the hint.
func (a *logAnswer) addHint(sentence string) {
	a.Hint = strings.TrimSpace(a.Hint + " " + sentence)
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
