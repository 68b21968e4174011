// Package brief builds what a session starts with: who the agent is, whom it serves, what was going on, and what it
// must not forget, the most valuable first and within a number of tokens. The tools, the prompts, the resources, the
// command and the hooks of hosts all show what it builds.
//
// Its invariant: it reads only through the views of one audience. In a group it shows the persona, the group's own
// logs, memories and lessons, and nothing else.
package brief

import (
	"cmp"
	"context"
	"errors"
	"log/slog"

	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
)

// DefaultTokens is the size of a brief unless the caller chooses another.
const DefaultTokens = 1500

// MinTokens is the smallest size that has room for the essentials.
const MinTokens = 300

// Sources is what the brief of one audience is built from.
type Sources struct {
	Workspace *workspace.View
	Memory    *mesh.View
	Editor    *edit.Editor // nil in a group
	Logger    *slog.Logger // gets the reason when a source cannot be read
}

// Options select what a brief is about.
type Options struct {
	Tokens  int    // its maximum size, as Tokens counts; 0 is DefaultTokens, and less than MinTokens is MinTokens
	Project string // the name of the folder or repository that the session is about; "": that of the memory's context
	// SoulExcerpt is the beginning of SOUL.md that is shown next to the brief, with IDENTITY.md: the brief goes on after
	// it. "" for none.
	SoulExcerpt string
}

// Brief is the start of a session.
type Brief struct {
	State   string              `json:"state"` // of the workspace: uninitialized, bootstrap, ready
	Text    string              `json:"text"`  // Markdown
	Tokens  int                 `json:"tokens"`
	Skipped []workspace.Skipped `json:"skipped"` // what is not in the text, or not whole, with the reason
}

// errNoSources reports a mistake of the program.
var errNoSources = errors.New("brief: no workspace or memory")

// Build returns the brief. What cannot be read is named in it, except SOUL.md, without which there is no session.
func (s Sources) Build(ctx context.Context, o Options) (Brief, error) {
	if s.Workspace == nil || s.Memory == nil {
		return Brief{}, errNoSources
	}
	if s.Logger == nil {
		s.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Tokens == 0 {
		o.Tokens = DefaultTokens
	}
	o.Tokens = max(o.Tokens, MinTokens)
	o.Project = cmp.Or(o.Project, record.ProjectName(s.Memory.Project(ctx)))
	state := s.Workspace.State()
	if refusal := s.Workspace.Refusal(); refusal != "" {
		return Brief{
			State: state.String(), Text: refusal + "\n", Tokens: Tokens(refusal), Skipped: []workspace.Skipped{},
		}, nil
	}
	g := &gatherer{Sources: s, Options: o, now: s.Workspace.Now()}
	sections, err := g.sections(ctx, state)
	if err != nil {
		return Brief{}, err
	}
	text, skipped := within(sections, g.skipped, o.Tokens)
	return Brief{State: state.String(), Text: text, Tokens: Tokens(text), Skipped: skipped}, nil
}

// Extra returns the parts of the brief that are in no file of the startup sequence (RFC-0009 §2.2), for the prompt
// that shows those files as a whole: the time, open items, rules, memories, and what waits. skipped names the files
// that the sequence left out.
func (s Sources) Extra(ctx context.Context, skipped []workspace.Skipped) (string, error) {
	if s.Logger == nil {
		s.Logger = slog.New(slog.DiscardHandler)
	}
	g := &gatherer{Sources: s, Options: Options{Tokens: extraTokens}, now: s.Workspace.Now(), whole: true}
	sections := []section{g.nowSection(), g.openItems(), g.lessons(ctx), g.memories(ctx), g.waiting(ctx)}
	text, _ := within(sections, append(skipped, g.skipped...), extraTokens)
	return text, nil
}

// extraTokens is the size of Extra. The files before it may take some 15,000.
const extraTokens = 2500
