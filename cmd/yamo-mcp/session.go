package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/serve"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/resources"
	"github.com/yamo-protocol/yamo-mcp/tools"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/audience"
	"github.com/yamo-protocol/yamo-mcp/workspace/transcript"
	"github.com/yamo-protocol/yamo-mcp/workspace/watch"
)

const (
	memoryFolder = ".yamo"
	// closing is how long the end of a session may take to write what is embedded to LanceDB. What is
	// not written then is written by the next session.
	closing = 5 * time.Second
)

// openSession opens what a server for one audience is made of. release closes it again.
func openSession(o serveOptions, who audience.Audience, getenv func(string) string, logger *slog.Logger) (deps serve.Deps, release func() error, err error) {
	folder, err := workspace.Open(o.workspace, workspace.WithLogger(logger), workspace.WithScrubber(credentialScrubber()))
	if err != nil {
		return serve.Deps{}, nil, fmt.Errorf("workspace %q: %w (--workspace or YAMO_WORKSPACE)", o.workspace, withoutPath(err))
	}
	// SECURITY: what is registered below gets these views, never the folder or the stores.
	view := folder.View(who)
	memory, closeMemory, err := openMemory(o, who, getenv, logger)
	if err != nil {
		return serve.Deps{}, nil, errors.Join(err, folder.Close())
	}
	var list []tools.Tool
	if slices.Contains(o.toolsets, memoryTools) {
		list = append(list,
			tools.MemoryStore(memory),
			tools.MemorySearch(memory),
			tools.DistillLesson(memory),
			tools.WhoAmI(view, o.agentID, o.model),
		)
	}
	logs, err := openLogs(o.transcripts, who)
	if err != nil {
		return serve.Deps{}, nil, errors.Join(err, closeMemory(), folder.Close())
	}
	var sessions *transcript.View // nil without session logs
	if logs != nil {
		sessions = logs.View(who)
	}
	if sessions != nil && slices.Contains(o.toolsets, memoryTools) {
		list = append(list, tools.SessionLogs(sessions))
	}
	if slices.Contains(o.toolsets, workspaceTools) {
		list = append(list, workspaceToolset(view, memory, sessions)...)
	}
	if slices.Contains(o.toolsets, learningTools) {
		list = append(list, learningToolset(memory)...)
	}
	stopWatching := func() {}
	return serve.Deps{
		Audience:     who,
		Version:      programVersion(),
		Instructions: serve.Instructions(who),
		Logger:       logger,
		Tools:        list,
		Ready: func(context.Context) error {
			if refusal := view.Refusal(); refusal != "" {
				return fault.New("%s", refusal)
			}
			return nil
		},
		Resources: func(srv *server.MCPServer) error {
			resources.RegisterLessons(srv, memory.Constraints)
			if err := resources.Register(srv, view); err != nil {
				return err
			}
			stop, err := resources.Notify(srv, view, watch.Options{Logger: logger}, func(ctx context.Context) {
				if err := memory.Refresh(ctx); err != nil && ctx.Err() == nil {
					logger.WarnContext(ctx, "index workspace files", slog.Any("error", err))
				}
			})
			if err != nil {
				return err
			}
			stopWatching = stop
			return nil
		},
		Prompts: sessionPrompts(o.toolsets, view, memory, sessions, logger),
		Options: []server.ServerOption{
			server.WithResourceCompletionProvider(resources.NewCompleter(view)),
		},
	}, func() error {
		stopWatching()
		errs := []error{closeMemory(), folder.Close()}
		if logs != nil {
			errs = append(errs, logs.Close())
		}
		return errors.Join(errs...)
	}, nil
}

// openMemory opens the memory of one audience. Nothing is read and no model loaded before it is used.
func openMemory(o serveOptions, who audience.Audience, getenv func(string) string, logger *slog.Logger) (*mesh.View, func() error, error) {
	embedder, closeEmbedder, err := o.embedder.open(getenv, logger)
	if err != nil {
		return nil, nil, err
	}
	files, closeFiles := openFiles(o.workspace, who, logger)
	memory := mesh.Open(mesh.Options{
		Dir:      filepath.Join(o.workspace, memoryFolder),
		Audience: who,
		AgentID:  o.agentID,
		Ranking:  mesh.Ranking(o.ranking),
		Embedder: embedder,
		Files:    files,
		Logger:   logger,
	})
	return memory, func() error {
		ctx, cancel := context.WithTimeout(context.Background(), closing)
		defer cancel()
		return errors.Join(memory.Close(ctx), closeEmbedder(), closeFiles())
	}, nil
}

// openLogs opens the transcripts folder, nil if none is set or who has nothing in it (seed 002: the tool
// session_logs is there when the folder is not empty).
func openLogs(dir string, who audience.Audience) (*transcript.Folder, error) {
	if dir == "" {
		return nil, nil
	}
	if _, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("transcripts %q: %w (--transcripts or YAMO_TRANSCRIPTS)", dir, withoutPath(err))
	}
	// SECURITY: a group looks at its own folder alone, so that whether there are private logs makes no
	// difference to it.
	own := dir
	if !who.IsDM() {
		own = filepath.Join(dir, "groups", who.Group())
	}
	entries, err := os.ReadDir(own)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("transcripts %q: %w (--transcripts or YAMO_TRANSCRIPTS)", dir, withoutPath(err))
	}
	if len(entries) == 0 {
		return nil, nil
	}
	return transcript.Open(dir)
}
