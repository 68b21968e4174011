package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"github.com/yamo-protocol/yamo-mcp/internal/sqlitefile"
	"github.com/yamo-protocol/yamo-mcp/workspace/transcript"
)

// openClawFile is the name of OpenClaw's database of an agent, since its version 2026.7.2.
const openClawFile = "openclaw-agent.sqlite"

// maxEvent is the maximum size of an event that OpenClaw compresses, in bytes.
const maxEvent = 4 << 20

// openClawStore reads OpenClaw's logs and, given a file, its database of an agent.
type openClawStore struct{ hostLogs }

// Read implements Reader. Sessions of groups are left out, as hostLogs does.
func (o openClawStore) Read(ctx context.Context, path string, visit func(Session) error) (err error) {
	if !isDatabase(path) {
		return o.hostLogs.Read(ctx, path, visit)
	}
	db, err := sqlitefile.Open(ctx, path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, table := range []string{"session_windows", "transcript_events"} {
		if has, err := db.Has(ctx, table); err != nil || !has {
			return errors.Join(fmt.Errorf("%s: it has no table %s", path, table), err)
		}
	}
	codec, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxEvent), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return fmt.Errorf("read OpenClaw's database: %w", err)
	}
	defer codec.Close()
	var windows []openClawWindow
	byKey := map[string]openClawWindow{}
	err = db.Each(ctx, "SELECT * FROM session_windows ORDER BY created_at, session_id", func(r sqlitefile.Row) error {
		w := openClawWindow{
			id: r.Text("session_id"), key: r.Text("session_key"), spawnedBy: r.Text("spawned_by"),
			title: r.Text("display_name"),
		}
		w.group = transcript.IsGroup(w.key, r.Text("chat_type"), r.Text("session_scope"))
		windows = append(windows, w)
		byKey[w.key] = w // the latest
		return nil
	})
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for _, w := range windows {
		if w.ofGroup(byKey) {
			continue
		}
		s, err := w.session(ctx, db, codec, byKey)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if err := visit(s); err != nil {
			return err
		}
	}
	return nil
}

// openClawWindow is a session in OpenClaw's database.
type openClawWindow struct {
	id, key, spawnedBy, title string
	group                     bool
}

// ofGroup reports whether the session was a group's, or that of a subagent of one.
//
// SECURITY: a copy is the direct conversation's, and what strangers said in a group is not.
func (w openClawWindow) ofGroup(byKey map[string]openClawWindow) bool {
	for range len(byKey) + 1 { // it may name itself
		by, ok := byKey[w.spawnedBy]
		if w.group || transcript.IsGroup(w.spawnedBy) || !ok {
			break
		}
		w = by
	}
	return w.group || transcript.IsGroup(w.spawnedBy)
}

// session reads the events of the session.
func (w openClawWindow) session(
	ctx context.Context, db *sqlitefile.File, codec *zstd.Decoder, byKey map[string]openClawWindow,
) (Session, error) {
	s := Session{ID: w.id, Title: w.title}
	if w.spawnedBy != "" || transcript.IsSubagent(w.key) {
		s.Parent = w.id // unless it is known
		if by, ok := byKey[w.spawnedBy]; ok {
			s.Parent = by.id
		}
	}
	seen := map[string]bool{}
	events := 0
	err := db.Each(ctx, "SELECT * FROM transcript_events WHERE session_id = ? ORDER BY seq", func(r sqlitefile.Row) error {
		events++
		event := r.Bytes("event_json")
		if event == nil {
			var err error
			if event, err = codec.DecodeAll(r.Bytes("event_zstd"), nil); err != nil {
				s.Unknown++
				return nil
			}
		}
		turns, folder, readable := transcript.ParseTurns(event, s.Parent)
		s.Folder = cmp.Or(s.Folder, folder)
		if !readable {
			s.Unknown++
		}
		for _, t := range turns {
			if t.Key == "" || !seen[t.Key] {
				seen[t.Key] = true
				s.add(hostTurn(t))
			}
		}
		return nil
	}, w.id)
	if events == 0 && err == nil {
		s.Unknown++ // OpenClaw has moved it to an archive of its own
	}
	return s, err
}
