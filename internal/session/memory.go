package session

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/config"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/fileindex"
	"github.com/yamo-protocol/yamo-mcp/mesh/index"
	"github.com/yamo-protocol/yamo-mcp/mesh/rank"
	"github.com/yamo-protocol/yamo-mcp/workspace"
)

const (
	// MemoryFolder is the folder of the memory and of the record of edits in a workspace.
	MemoryFolder = ".yamo"
	// closing limits how long the end of a session may take to write embedded memories to LanceDB. What is not written
	// then is written by the next session.
	closing = 5 * time.Second
)

// OpenMemory opens the memory of one audience without the rest of a session. It searches the files of the
// workspace too, a group's only the group's logs. release closes it again.
func OpenMemory(o Options, who audience.Audience) (memory *mesh.View, release func() error, err error) {
	closeFolder := func() error { return nil }
	var files fileindex.Source
	var zone func() *time.Location
	// A folder that cannot be opened has no files to search. Commands that need the folder report the reason.
	if folder, err := workspace.Open(o.Config.Workspace, workspace.WithLogger(o.Logger)); err == nil {
		view := folder.View(who)
		files, zone, closeFolder = searched(view), zoneOf(view), folder.Close
	}
	memory, closeMemory, err := openMemory(o, who, files, zone)
	if err != nil {
		return nil, nil, errors.Join(err, closeFolder())
	}
	return memory, func() error { return errors.Join(closeMemory(), closeFolder()) }, nil
}

// zoneOf returns the time zone of a view's audience: in a DM the user's.
func zoneOf(view *workspace.View) func() *time.Location {
	return func() *time.Location { return view.Now().Location() }
}

// openMemory opens the memory of one audience, which searches files as well unless they are nil. A nil zone is the
// machine's. Nothing is read and no model is loaded before it is used.
func openMemory(
	o Options, who audience.Audience, files fileindex.Source, zone func() *time.Location,
) (*mesh.View, func() error, error) {
	list, err := o.Config.Learning.Redact()
	if err != nil {
		return nil, nil, err
	}
	completer, err := o.Config.LLM.Open(o.Getenv)
	if err != nil {
		return nil, nil, err
	}
	embedder, closeEmbedder, err := o.openEmbedder()
	if err != nil {
		return nil, nil, err
	}
	quota := mesh.Quota{}
	if !who.IsDM() && o.limited {
		quota = mesh.GroupQuota
	}
	memory := mesh.Open(mesh.Options{
		Quota:     quota,
		Dir:       filepath.Join(o.Config.Workspace, MemoryFolder),
		Heads:     config.HeadFolder(o.Config.Workspace, o.Getenv),
		Audience:  who,
		AgentID:   o.Config.Session.AgentID,
		Ranking:   rank.Ranking(o.Config.Search.Ranking),
		Embedder:  embedder,
		Completer: completer,
		Files:     files,
		Zone:      zone,
		Logger:    o.Logger,

		LessonMinConfidence: o.Config.Learning.MinConfidence,
		LessonRetentionDays: o.Config.Learning.RetentionDays,
		HeritageDepth:       o.Config.Learning.HeritageDepth,
		KeepContacts:        o.Config.Learning.KeepContacts,
		Redact:              list,
	})
	return memory, func() error {
		ctx, cancel := context.WithTimeout(context.Background(), closing)
		defer cancel()
		return errors.Join(memory.Close(ctx), closeEmbedder())
	}, nil
}

// openEmbedder opens the session's embedder: a cache and a queue of its own over the process's shared one, if there is
// one.
func (o Options) openEmbedder() (index.Embedder, func() error, error) {
	if o.shared == nil {
		return o.Config.Embedder.Open(o.Getenv, o.Logger)
	}
	return embed.Cached(o.lane(), config.CachedTexts), func() error { return nil }, nil
}

// lane returns the process's shared embedder with a queue of its own, if it has queues.
func (o Options) lane() embed.Embedder {
	if local, ok := o.shared.(*embed.Local); ok {
		return local.Lane()
	}
	return o.shared
}
