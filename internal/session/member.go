package session

import (
	"errors"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/serve"
	"github.com/yamo-protocol/yamo-mcp/internal/viewer"
)

// OpenMember opens what a person looks at as one audience: the parts of a session of it, and for a group the server
// that its sessions talk to. Changes are the operator's. release closes it again.
func OpenMember(o Options, who audience.Audience) (m viewer.Member, release func() error, err error) {
	o.author = Operator
	p, err := open(o, who)
	if err != nil {
		return m, nil, errors.Join(err, p.close())
	}
	m = viewer.Member{
		Audience: who, Workspace: p.view, Memory: p.memory, Logs: p.transcripts(), Editor: p.editor, Dreams: p.dreams,
	}
	// A DM's pages use the views only, so that no server follows its files for nothing.
	if !who.IsDM() {
		if m.Server, err = serve.Build(p.deps(o, who)); err != nil {
			return m, nil, errors.Join(err, p.close())
		}
	}
	return m, p.close, nil
}
