package session

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/conversation"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/workspace/transcript"
)

// OpenConversations opens the session logs of one audience with their index, which is memory's neighbour on the disk.
// It returns nil if no folder of session logs is set. release closes them and must be called before memory is closed.
func OpenConversations(
	o Options, who audience.Audience, memory *mesh.View, now func() time.Time,
) (v *conversation.View, release func() error, err error) {
	folder, err := openLogs(o, who)
	if folder == nil || err != nil {
		return nil, func() error { return nil }, err
	}
	list, err := o.Config.Learning.Redact()
	if err != nil {
		return nil, nil, errors.Join(err, folder.Close())
	}
	logs := folder.View(who)
	redact := CredentialScrubber(list)
	// SECURITY: no folder that a group's log names is looked at.
	var project func(dir string) string
	if who.IsDM() {
		find := ProjectFinder(o.Config.Workspace).Identify
		project = func(dir string) string { return cmp.Or(find(dir), transcript.ProjectName(dir)) }
	}
	cleaned := func(text string) (string, bool) {
		clean, found := redact(text)
		return clean, found == 0
	}
	index := memory.Conversations(o.Config.Session.Transcripts, conversation.Source(logs), cleaned, project)
	view := &conversation.View{View: logs, Index: index, Now: now, Answers: memory.Answers, Logger: o.Logger}
	return view, func() error {
		ctx, cancel := context.WithTimeout(context.Background(), closing)
		defer cancel()
		err := index.Close(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			o.Logger.Info("the index of conversations is not up to date; the next process continues with it")
			err = nil
		}
		return errors.Join(err, folder.Close())
	}, nil
}
