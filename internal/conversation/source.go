package conversation

import (
	"context"
	"errors"
	"time"

	"github.com/yamo-protocol/yamo-mcp/mesh/turns"
	"github.com/yamo-protocol/yamo-mcp/workspace/transcript"
)

// source is the logs of a view as the index reads them.
type source struct{ view *transcript.View }

// Source returns the logs of v for an index.
func Source(v *transcript.View) turns.Source { return source{v} }

func (s source) List(context.Context) ([]turns.Log, error) {
	logs, err := s.view.Logs()
	list := make([]turns.Log, len(logs))
	for i, l := range logs {
		list[i] = turns.Log(l)
	}
	return list, err
}

func (s source) Follow(
	ctx context.Context, l turns.Log, from int64, visit func(turns.Turn) bool,
) (int64, int, error) {
	end, unread, err := s.view.Follow(ctx, logOf(l), from, func(t transcript.Turn) bool { return visit(turnOf(t)) })
	if errors.Is(err, transcript.ErrNotFound) { // another audience's: it has no turns for this one
		return from, 0, nil
	}
	return end, unread, err
}

func (s source) Turns(ctx context.Context, l turns.Log, offsets []int64) ([]turns.Turn, error) {
	read, err := s.view.Turns(ctx, logOf(l), offsets)
	list := make([]turns.Turn, len(read))
	for i, t := range read {
		list[i] = turnOf(t)
	}
	return list, err
}

func (s source) Head(l turns.Log, n int64) ([]byte, error) { return s.view.Head(logOf(l), n) }

func turnOf(t transcript.Turn) turns.Turn {
	at, err := time.Parse(time.RFC3339Nano, t.Timestamp)
	if err != nil {
		at = time.Time{} // not known
	}
	return turns.Turn{
		Offset: t.Offset, Key: t.Key, Role: t.Role, Time: at, Text: t.Content, Spoken: t.Spoken, Folder: t.Folder,
		Group: t.Group, Unread: t.Unread,
	}
}
