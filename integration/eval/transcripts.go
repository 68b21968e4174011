package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/conversation"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/index"
	"github.com/yamo-protocol/yamo-mcp/mesh/keyword"
	"github.com/yamo-protocol/yamo-mcp/workspace/transcript"
)

// logged returns the turns of a conversation as a host's transcripts, where nothing is stored: one file a session, as
// Claude Code writes them; and what ends it.
func logged(
	ctx context.Context, embedder index.Embedder, c dialog,
) (view *conversation.View, end func(), err error) {
	dir, err := os.MkdirTemp("", "yamo-eval-")
	if err != nil {
		return nil, nil, err
	}
	ends := []func() error{func() error { return os.RemoveAll(dir) }}
	end = func() {
		for _, one := range slices.Backward(ends) {
			_ = one()
		}
	}
	defer func() {
		if err != nil {
			end()
		}
	}()
	if err := writeTranscripts(filepath.Join(dir, "projects", "eval"), c.turns); err != nil {
		return nil, nil, err
	}
	memory := mesh.Open(mesh.Options{
		Dir: filepath.Join(dir, ".yamo"), Audience: audience.DM(), AgentID: "eval", Embedder: embedder,
		Logger: slog.New(slog.DiscardHandler),
	})
	ends = append(ends, func() error { return memory.Close(ctx) })
	folder, err := transcript.Open(filepath.Join(dir, "projects"), transcript.Options{Stems: keyword.Stems})
	if err != nil {
		return nil, nil, err
	}
	ends = append(ends, folder.Close)
	logs := folder.View(audience.DM())
	find := memory.Conversations("", conversation.Source(logs), func(s string) (string, bool) { return s, true }, nil)
	ends = append(ends, func() error { return find.Close(ctx) })
	view = &conversation.View{
		View: logs, Index: find, Now: time.Now, Answers: memory.Answers, Logger: slog.New(slog.DiscardHandler),
	}
	for { // until everything has its vector
		if _, err := view.Search(ctx, conversation.Query{Text: "ready?"}); err != nil {
			return nil, nil, err
		}
		if p := find.Progress(); p.Turns > 0 && p.Behind+p.Pending == 0 {
			return view, end, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// transcriptOf asks the questions of a conversation of session_logs, where its turns are in transcripts only.
func transcriptOf(ctx context.Context, embedder index.Embedder, c dialog, into ...*tally) error {
	view, end, err := logged(ctx, embedder, c)
	if err != nil {
		return err
	}
	defer end()
	bySession := map[string][]turn{}
	for _, t := range c.turns {
		bySession[t.session] = append(bySession[t.session], t)
	}
	for _, q := range c.questions {
		start := time.Now()
		found, err := view.Search(ctx, conversation.Query{Text: q.text, Limit: 50})
		if err != nil {
			return err
		}
		searching := time.Since(start)
		var ids, inSessions, wanted []string
		for _, hit := range found.Hits {
			if !slices.Contains(inSessions, hit.SessionID) {
				inSessions = append(inSessions, hit.SessionID)
			}
			if hit.Offset != nil {
				ids = append(ids, bySession[hit.SessionID][*hit.Offset].id)
			}
		}
		for _, t := range c.turns {
			if slices.Contains(q.evidence, t.id) {
				wanted = append(wanted, t.session)
			}
		}
		for _, t := range into {
			t.count(ids, inSessions, q.evidence, wanted, searching)
		}
	}
	return nil
}

// writeTranscripts writes turns as the logs of their sessions.
func writeTranscripts(dir string, turns []turn) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	files := map[string]*bytes.Buffer{}
	for i, t := range turns {
		role := "user"
		if strings.EqualFold(t.role, "assistant") {
			role = "assistant"
		}
		line, err := json.Marshal(map[string]any{
			"type": role, "uuid": fmt.Sprintf("turn-%d", i), "sessionId": t.session, "cwd": "/home/kate/eval",
			"timestamp": time.Date(2026, 1, 1, 0, 0, i, 0, time.UTC).Format(time.RFC3339),
			"message":   map[string]any{"role": role, "content": []any{map[string]any{"type": "text", "text": t.text}}},
		})
		if err != nil {
			return err
		}
		if files[t.session] == nil {
			files[t.session] = new(bytes.Buffer)
		}
		files[t.session].Write(append(line, '\n'))
	}
	for session, data := range files {
		if err := os.WriteFile(filepath.Join(dir, session+".jsonl"), data.Bytes(), 0o600); err != nil {
			return err
		}
	}
	return nil
}
