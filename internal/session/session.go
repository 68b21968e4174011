// Package session assembles a session: the tools, resources and prompts of one audience over one workspace. It decides
// which of them an audience has, and opens what they work on.
//
// The invariant: what is registered gets views of one audience, never the workspace folder or the memory's files, and
// what a group may not see is neither opened nor registered for it.
package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/mark3labs/mcp-go/server"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/config"
	"github.com/yamo-protocol/yamo-mcp/internal/conversation"
	"github.com/yamo-protocol/yamo-mcp/internal/dream"
	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/serve"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/resources"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
	"github.com/yamo-protocol/yamo-mcp/workspace/transcript"
	"github.com/yamo-protocol/yamo-mcp/workspace/watch"
)

// Options is what the sessions of a process have in common.
type Options struct {
	Config  config.Config
	Getenv  func(string) string
	Logger  *slog.Logger
	Version string // of the program

	// shared computes vectors where a process serves several audiences. Nil: each session has an embedder of its own.
	shared embed.Embedder
	// limited applies to a group what strangers may store. Commands of the operator have no limit.
	limited bool
	// author is who changes workspace files, in the git repository; "" is the agent.
	author string
}

// parts is what the tools, resources and prompts of one audience work on.
type parts struct {
	settings config.Session
	// destinations are where the operator lets texts be sent.
	destinations []string

	logger *slog.Logger
	view   *workspace.View
	memory *mesh.View
	logs   *conversation.View // nil without session logs
	editor *edit.Editor       // nil in a group
	dreams *dream.Sweeper     // nil in a group

	closers []func() error // in the order of opening
}

// Open opens a session and returns what its server is built of. release closes it again.
func Open(o Options, who audience.Audience) (deps serve.Deps, release func() error, err error) {
	o.Logger = relativeLog(o.Logger, o.Config.Workspace)
	p, err := open(o, who)
	if err != nil {
		return serve.Deps{}, nil, errors.Join(err, p.close())
	}
	return p.deps(o, who), p.close, nil
}

// deps returns what the session's server is built of.
func (p *parts) deps(o Options, who audience.Audience) serve.Deps {
	return serve.Deps{
		Audience:     who,
		Version:      o.Version,
		Instructions: serve.Instructions(who, p.view.AgentName(), p.view.UserName()),
		Logger:       o.Logger,
		Tools:        p.tools(),
		AppTools:     p.appTools(),
		Projects:     projects(o, who),
		// Asked at each call: a workspace becomes ready in the middle of its first session.
		Ready: func(context.Context) error {
			if refusal := p.view.Refusal(); refusal != "" {
				return fault.New("%s", refusal)
			}
			return nil
		},
		Resources:   p.registerResources,
		Prompts:     p.prompts(),
		Completions: resources.NewCompleter(p.view),
	}
}

// open opens the parts. Those that are open when it fails are in the result, to be closed.
func open(o Options, who audience.Audience) (*parts, error) {
	p := &parts{settings: o.Config.Session, destinations: o.Config.Destinations(o.Getenv), logger: o.Logger}
	folder, err := OpenFolder(o, who, cmp.Or(o.author, o.Config.Session.AgentID))
	if err != nil {
		return p, fmt.Errorf("workspace %q: %w (--workspace or YAMO_WORKSPACE)", o.Config.Workspace, config.WithoutPath(err))
	}
	p.closers = append(p.closers, folder.Close)
	// SECURITY: what is registered gets these views, never the folder or the files of the memory.
	p.view = folder.View(who)
	p.view.CheckRecord(context.Background())
	var release func() error
	o.limited = true
	if p.memory, release, err = openMemory(o, who, searched(p.view), zoneOf(p.view)); err != nil {
		return p, err
	}
	p.closers = append(p.closers, release)
	logs, closeLogs, err := OpenConversations(o, who, p.memory, p.view.Now)
	if err != nil {
		return p, err
	}
	p.logs, p.closers = logs, append(p.closers, closeLogs)
	// After the memory and the logs, in which edits cite evidence.
	if p.editor, err = OpenEditor(o, p.view, p.memory, p.transcripts()); err != nil {
		return p, err
	}
	if p.dreams, err = OpenDreams(o, p.view, p.memory, p.editor); err != nil {
		return p, err
	}
	return p, nil
}

// transcripts returns the session logs without their index, nil without session logs.
func (p *parts) transcripts() *transcript.View {
	if p.logs == nil {
		return nil
	}
	return p.logs.View
}

// agent is the agent's name in what the session writes.
func (p *parts) agent() string { return p.settings.AgentID }

// close closes what was opened, last first.
func (p *parts) close() error {
	var errs []error
	for i := range p.closers {
		// All of them, even if one fails: each holds locks or files.
		errs = append(errs, p.closers[len(p.closers)-1-i]())
	}
	return errors.Join(errs...)
}

// registerResources registers the resources of the session's audience, and follows the files behind them until close.
func (p *parts) registerResources(srv *server.MCPServer) error {
	for _, e := range resourceEntries {
		if !e.when(p) {
			continue
		}
		if err := e.register(p, srv); err != nil {
			return err
		}
	}
	// One watcher for both: what clients are notified of is what the memory indexes again.
	stop, err := resources.Notify(srv, p.view, watch.Options{Logger: p.logger}, func(ctx context.Context) {
		if err := p.memory.Refresh(ctx); err != nil && ctx.Err() == nil {
			p.logger.WarnContext(ctx, "index workspace files", slog.Any("error", err))
		}
	})
	if err != nil {
		return err
	}
	p.closers = append(p.closers, func() error { stop(); return nil })
	return nil
}
