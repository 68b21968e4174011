package session

import (
	"errors"
	"fmt"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/brief"
	"github.com/yamo-protocol/yamo-mcp/internal/config"
)

// brief returns the sources of what a session starts with.
func (p *parts) brief() brief.Sources {
	// SECURITY: the views of one audience; a group's editor is nil.
	return brief.Sources{Workspace: p.view, Memory: p.memory, Editor: p.editor, Logger: p.logger}
}

// OpenBrief opens what the start of a session is built from, without the rest of a session. release closes it again.
func OpenBrief(o Options, who audience.Audience) (s brief.Sources, release func() error, err error) {
	p := &parts{settings: o.Config.Session, logger: o.Logger}
	folder, err := OpenFolder(o, who, o.Config.Session.AgentID)
	if err != nil {
		return s, nil, fmt.Errorf("workspace %q: %w (--workspace or YAMO_WORKSPACE)", o.Config.Workspace,
			config.WithoutPath(err))
	}
	p.closers = append(p.closers, folder.Close)
	p.view = folder.View(who)
	var closeMemory func() error
	if p.memory, closeMemory, err = openMemory(o, who, nil, zoneOf(p.view)); err != nil {
		return s, nil, errors.Join(err, p.close())
	}
	p.closers = append(p.closers, closeMemory)
	if p.editor, err = OpenEditor(o, p.view, p.memory, nil); err != nil {
		return s, nil, errors.Join(err, p.close())
	}
	return p.brief(), p.close, nil
}
