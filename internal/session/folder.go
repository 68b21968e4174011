package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/config"
	"github.com/yamo-protocol/yamo-mcp/internal/dream"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/keyword"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
	"github.com/yamo-protocol/yamo-mcp/workspace/git"
	"github.com/yamo-protocol/yamo-mcp/workspace/transcript"
)

// Operator is the actor of changes that a person makes on the command line.
const Operator = "operator"

// OpenFolder opens the workspace folder for an audience. With the setting git, what a DM changes is committed in
// author's name.
func OpenFolder(o Options, who audience.Audience, author string) (*workspace.Workspace, error) {
	list, err := o.Config.Learning.Redact()
	if err != nil {
		return nil, err
	}
	options := []workspace.Option{workspace.WithLogger(o.Logger), workspace.WithScrubber(CredentialScrubber(list))}
	// SECURITY: a group's session has no repository, whose index and history name private files.
	if o.Config.Git.On && who.IsDM() {
		repository, err := OpenRepository(o, author)
		if err != nil {
			return nil, fmt.Errorf("open workspace: %w", config.WithoutPath(err))
		}
		options = append(options, workspace.WithRecorder(repository, o.Config.Git.Private))
	}
	return workspace.Open(o.Config.Workspace, options...)
}

// OpenRepository opens the workspace's own git repository.
func OpenRepository(o Options, author string) (*git.Repository, error) {
	return git.Open(git.Options{
		Dir: o.Config.Workspace, Author: author, Private: o.Config.Git.Private, Getenv: o.Getenv, Logger: o.Logger,
	})
}

// recovering limits how long the start of a session may take to finish an interrupted edit.
const recovering = 10 * time.Second

// OpenEditor opens the record of edits of a DM's workspace and finishes an edit that was interrupted; in a group it
// returns nil. memory may be nil: then every id in evidence is accepted as a memory's, and every quote. logs are the
// session logs that edits cite, nil for none.
func OpenEditor(o Options, view *workspace.View, memory *mesh.View, logs *transcript.View) (*edit.Editor, error) {
	// SECURITY: a group has no edits.
	if !view.Audience().IsDM() {
		return nil, nil
	}
	options := edit.Options{
		View: view, Dir: filepath.Join(view.Dir(), MemoryFolder), Logger: o.Logger,
		Heads: config.HeadFolder(o.Config.Workspace, o.Getenv), Logs: logs,
	}
	if memory != nil {
		options.Memory = func(ctx context.Context, id string) (string, error) {
			hit, err := memory.Get(ctx, id)
			if err != nil {
				return "", err
			}
			return hit.Content, nil
		}
	}
	editor, err := edit.Open(options)
	if err != nil {
		return nil, err
	}
	// Not the session's context: an edit that was begun is finished even if the host leaves at once.
	ctx, cancel := context.WithTimeout(context.Background(), recovering)
	defer cancel()
	if err := editor.Recover(ctx); err != nil {
		// The next edit tries again and reports the reason to its caller.
		o.Logger.Error("finish an interrupted edit", slog.Any("error", err))
	}
	return editor, nil
}

// OpenDreams opens the sweeper of a DM's memory; in a group it returns nil.
func OpenDreams(o Options, view *workspace.View, memory *mesh.View, editor *edit.Editor) (*dream.Sweeper, error) {
	// SECURITY: a group has no dreams.
	if !view.Audience().IsDM() {
		return nil, nil
	}
	return dream.Open(dream.Options{
		Memory: memory, Workspace: view, Editor: editor, Dir: filepath.Join(o.Config.Workspace, MemoryFolder),
		AgentID: o.Config.Session.AgentID, Thresholds: o.Config.Dreams,
	})
}

// ImportedFolder is the folder of imported session logs below MemoryFolder.
const ImportedFolder = "private/imported"

// openLogs opens the folder of session logs, and returns nil if none is set and a DM has imported none (seed 002, phase
// 10.8). It may be empty or missing: a host makes it with its first session.
//
// SECURITY: what is in the folder makes no difference to which tools a session has, so that a group does not learn from
// them whether private logs exist.
func openLogs(o Options, who audience.Audience) (*transcript.Folder, error) {
	dir, own := o.Config.Session.Transcripts, ""
	// SECURITY: a group's process does not look whether something was imported.
	if who.IsDM() {
		own = filepath.Join(o.Config.Workspace, MemoryFolder, ImportedFolder)
	}
	if dir == "" {
		if info, err := os.Lstat(own); own == "" || err != nil || !info.IsDir() {
			return nil, nil
		}
	}
	const setting config.Name = "transcripts"
	info, err := os.Stat(dir)
	switch {
	case dir == "":
	case errors.Is(err, fs.ErrNotExist):
		o.Logger.Warn("the folder of session logs does not exist yet; session_logs finds nothing until it does",
			"transcripts", dir)
	case err != nil:
		return nil, setting.Errorf("transcripts %q: %w", dir, config.WithoutPath(err))
	case !info.IsDir():
		return nil, setting.Errorf("transcripts %q: not a folder; set the one that has the host's .jsonl files", dir)
	}
	list, err := o.Config.Learning.Redact()
	if err != nil {
		return nil, err
	}
	redact := CredentialScrubber(list)
	return transcript.Open(dir, transcript.Options{
		Redact:   func(text string) string { clean, _ := redact(text); return clean },
		Stems:    keyword.Stems,
		Project:  ProjectFinder(o.Config.Workspace).Identify,
		Imported: own,
	})
}

// OpenLogs opens the session logs of one audience without the rest of a session, nil if no folder is set. release
// closes them again.
func OpenLogs(o Options, who audience.Audience) (logs *transcript.View, release func() error, err error) {
	folder, err := openLogs(o, who)
	if folder == nil {
		return nil, func() error { return nil }, err
	}
	return folder.View(who), folder.Close, nil
}
