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

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/serve"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/resources"
	"github.com/yamo-protocol/yamo-mcp/tools"
	"github.com/yamo-protocol/yamo-mcp/workspace"
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
	folder, err := openFolder(o.workspace, who, o.git, o.agentID, getenv, logger)
	if err != nil {
		return serve.Deps{}, nil, fmt.Errorf("workspace %q: %w (--workspace or YAMO_WORKSPACE)", o.workspace, withoutPath(err))
	}
	// SECURITY: what is registered below gets these views, never the folder or the stores.
	view := folder.View(who)
	view.CheckRecord(context.Background())
	embedder, closeEmbedder, err := o.openEmbedder(getenv, logger)
	if err != nil {
		return serve.Deps{}, nil, errors.Join(err, folder.Close())
	}
	memory, closeMemory := openView(o, view, embedder, logger)
	closeMemory = closeBoth(closeMemory, closeEmbedder)
	var list []tools.Tool
	if slices.Contains(o.toolsets, memoryTools) {
		list = append(list,
			tools.MemoryStore(memory),
			tools.MemorySearch(memory),
			tools.DistillLesson(memory),
			tools.WhoAmI(view, o.agentID, o.model),
		)
	}
	editor, err := openEditor(view, memory, logger)
	if err != nil {
		return serve.Deps{}, nil, errors.Join(err, closeMemory(), folder.Close())
	}
	dreams, err := openDreams(o, view, memory, editor)
	if err != nil {
		return serve.Deps{}, nil, errors.Join(err, closeMemory(), folder.Close())
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
		list = append(list, workspaceToolset(view, memory, sessions, editor, dreams, o.agentID)...)
	}
	if slices.Contains(o.toolsets, learningTools) {
		list = append(list, learningToolset(view, memory, editor, o.agentID)...)
	}
	stopWatching := func() {}
	deps = serve.Deps{
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
			if editor != nil {
				if err := resources.RegisterEvidence(srv, func(ctx context.Context, token string) (any, error) {
					return resolveEvidence(ctx, editor, memory, token)
				}); err != nil {
					return err
				}
			}
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
		Prompts:     sessionPrompts(o.toolsets, view, memory, sessions, editor, logger),
		Completions: resources.NewCompleter(view),
	}
	release = func() error {
		stopWatching()
		errs := []error{closeMemory(), folder.Close()}
		if logs != nil {
			errs = append(errs, logs.Close())
		}
		return errors.Join(errs...)
	}
	return deps, release, nil
}

// openEmbedder opens what makes this session's vectors: the process's own, where it has one for all sessions.
func (o serveOptions) openEmbedder(getenv func(string) string, logger *slog.Logger) (mesh.Embedder, func() error, error) {
	if o.shared == nil {
		return o.embedder.open(getenv, logger)
	}
	return embed.Cached(o.shared, remembered), func() error { return nil }, nil
}

// openView opens the memory of a view's audience, with the files that it searches. Nothing is read and no model
// loaded before it is used.
func openView(o serveOptions, view *workspace.View, embedder mesh.Embedder, logger *slog.Logger) (*mesh.View, func() error) {
	memory := mesh.Open(memoryOptions(o, view.Audience(), embedder, searched(view), logger))
	return memory, func() error {
		ctx, cancel := context.WithTimeout(context.Background(), closing)
		defer cancel()
		return memory.Close(ctx)
	}
}

// openMemory opens the memory of one audience without the rest of a session.
func openMemory(o serveOptions, who audience.Audience, getenv func(string) string, logger *slog.Logger) (*mesh.View, func() error, error) {
	embedder, closeEmbedder, err := o.embedder.open(getenv, logger)
	if err != nil {
		return nil, nil, err
	}
	closeFolder := func() error { return nil }
	var files mesh.Files
	// A folder that cannot be opened has no files: whoever serves it says so.
	if who.IsDM() {
		if folder, err := workspace.Open(o.workspace, workspace.WithLogger(logger)); err == nil {
			files, closeFolder = searched(folder.View(who)), folder.Close
		}
	}
	memory := mesh.Open(memoryOptions(o, who, embedder, files, logger))
	return memory, func() error {
		ctx, cancel := context.WithTimeout(context.Background(), closing)
		defer cancel()
		return errors.Join(memory.Close(ctx), closeEmbedder(), closeFolder())
	}, nil
}

func memoryOptions(o serveOptions, who audience.Audience, embedder mesh.Embedder, files mesh.Files, logger *slog.Logger) mesh.Options {
	return mesh.Options{
		Dir:       filepath.Join(o.workspace, memoryFolder),
		Audience:  who,
		AgentID:   o.agentID,
		Ranking:   mesh.Ranking(o.ranking),
		Embedder:  embedder,
		Completer: o.completer,
		Files:     files,
		Logger:    logger,

		LessonMinConfidence: o.learning.minConfidence,
		LessonRetentionDays: o.learning.retentionDays,
		HeritageDepth:       o.learning.heritageDepth,
	}
}

// closeBoth closes the first, then the second.
func closeBoth(first, second func() error) func() error {
	return func() error {
		err := first()
		return errors.Join(err, second())
	}
}

// openLogs opens the transcripts folder, nil if none is set or who has nothing in it (seed 002: the tool
// session_logs is there when the folder is not empty).
func openLogs(dir string, who audience.Audience) (*transcript.Folder, error) {
	if dir == "" {
		return nil, nil
	}
	if _, err := os.Stat(dir); err != nil {
		return nil, setting("transcripts").wrong("transcripts %q: %w", dir, withoutPath(err))
	}
	// SECURITY: a group looks at its own folder alone, so that whether there are private logs makes no
	// difference to it.
	own := dir
	if !who.IsDM() {
		own = filepath.Join(dir, "groups", who.Group())
	}
	entries, err := os.ReadDir(own)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, setting("transcripts").wrong("transcripts %q: %w", dir, withoutPath(err))
	}
	if len(entries) == 0 {
		return nil, nil
	}
	return transcript.Open(dir)
}
