package tools

import (
	"context"
	"errors"
	"sync"

	"github.com/mark3labs/mcp-go/server"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/resourceuri"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
)

// logEntry is the input of log_append.
type logEntry struct {
	Text    string `json:"text" jsonschema:"minLength=1"`
	Heading string `json:"heading,omitempty" jsonschema:"maxLength=200"`
}

func (logEntry) JSONSchemaExtend(s *jsonSchema) {
	describe(s, map[string]string{
		"text":    "Markdown without headings.",
		"heading": "Title, one line.",
	})
}

// logged is the result of log_append.
type logged struct {
	File       string `json:"file"`
	URI        string `json:"uri"`
	Redactions int    `json:"redactions"`
	Evidence   string `json:"evidence_token,omitempty"`
}

func (logged) JSONSchemaExtend(s *jsonSchema) {
	describe(s, map[string]string{ //nolint:gosec // descriptions of tokens, not tokens
		"file":           "The log, relative to the workspace.",
		"uri":            "The log as a resource.",
		"redactions":     "Number of credentials removed from the text; they belong in a password manager.",
		"evidence_token": "Cites the entry as evidence.",
	})
}

// LogAppend is the tool log_append (RFC-0009 §2.5). Each session has its own block in the log of the day; a group
// writes its own log. When it returns, the text is on disk. Credentials are replaced, and counted in the result. With
// editor, nil in a group, the result has the token that cites the entry.
func LogAppend(v *workspace.View, editor *edit.Editor) Tool {
	where := "the log of the day"
	if !v.Audience().IsDM() {
		where = "this group's log of the day"
	}
	sessions := &journals{view: v}
	return Define(Spec{
		Name:        "log_append",
		Title:       "Write to the log",
		Description: "Append to " + where + ": events, decisions, open questions. What is not written down is forgotten.",
	}, func(ctx context.Context, in logEntry) (logged, error) {
		done, err := sessions.journal(ctx).Append(ctx, in.Heading, in.Text)
		if errors.Is(err, workspace.ErrNoText) || errors.Is(err, workspace.ErrLongText) ||
			errors.Is(err, workspace.ErrFullLog) {
			return logged{}, fault.New("text: %v", err)
		}
		if err != nil {
			return logged{}, err
		}
		out := logged{File: done.Name, URI: resourceuri.File(done.Name), Redactions: done.Redactions}
		out.Evidence = cited(ctx, editor, done.Text)
		return out, nil
	})
}

// cited returns the evidence token of a text that was written into a file, "" without an editor. The text is written
// whatever becomes of its token.
func cited(ctx context.Context, editor *edit.Editor, written string) string {
	if editor == nil {
		return ""
	}
	token, err := editor.Cite(ctx, written)
	if err != nil {
		return ""
	}
	return token
}

// maxJournals is the maximum number of sessions that keep their block in the log. An HTTP server that runs for months
// serves many; a session that is forgotten begins a new block, which loses nothing.
const maxJournals = 1000

// journals keeps one journal for each session. It is safe for concurrent use.
type journals struct {
	view *workspace.View

	mu   sync.Mutex
	byID map[string]*workspace.Journal
}

// journal returns the journal of the session that calls, "" being that of a server without sessions.
func (j *journals) journal(ctx context.Context) *workspace.Journal {
	// A stdio server has one session, and servers without sessions share one block.
	id := ""
	if session := server.ClientSessionFromContext(ctx); session != nil {
		id = session.SessionID()
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if journal, ok := j.byID[id]; ok {
		return journal
	}
	// All at once and not the oldest: no order of use is kept for a limit that is hardly ever reached.
	if j.byID == nil || len(j.byID) >= maxJournals {
		j.byID = map[string]*workspace.Journal{}
	}
	journal := j.view.Journal()
	j.byID[id] = journal
	return journal
}
