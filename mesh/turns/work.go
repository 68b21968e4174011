package turns

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

// state is what the process knows of a log.
type state struct {
	log    Log
	pos    position
	read   Log      // as it was when it was read to its end last
	ids    []string // of its turns in memory
	loaded bool     // what was said in it is in memory, as far as there is room
	text   int      // bytes of that
}

// current reports whether the log has not changed since it was read to its end. s.pos must be that of the digest.
func (s *state) current() bool {
	return s.read == s.log || s.pos.end == s.log.Size && s.pos.modified == s.log.Modified.UnixNano()
}

// maxIndexed is how much of a turn's text is found by its words, in bytes. Results of tools can be whole files.
const maxIndexed = 64 << 10

// batchBytes is the size of the text after which turns are written.
const batchBytes = 4 << 20

// wake starts a pass over the logs, unless one is in progress. The channel is closed at its end.
func (x *Index) wake() <-chan struct{} {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.working != nil {
		return x.working
	}
	working := make(chan struct{})
	if x.ctx.Err() != nil {
		close(working)
		return working
	}
	x.working = working
	x.done.Go(func() {
		err := x.follow(x.ctx)
		x.mu.Lock()
		x.working = nil
		close(working)
		x.mu.Unlock()
		if err == nil {
			err = x.embed(x.ctx)
		}
		if err != nil && x.ctx.Err() == nil && !errors.Is(err, embed.ErrNoAssets) {
			x.Logger.Warn("index conversations", "error", err)
		}
	})
	return working
}

// follow reads what digests and logs have, and writes the digests unless another process does.
func (x *Index) follow(ctx context.Context) error {
	if err := x.pass(ctx, false, nil); err != nil {
		return err
	}
	x.mu.Lock()
	behind, order := x.behind, slices.Clone(x.order)
	x.mu.Unlock()
	left, err := x.leftOver(order)
	if err != nil || behind == 0 && len(left) == 0 {
		return err
	}
	if err := x.Prepare(); err != nil {
		return err
	}
	return x.digests.Try(func() error { return x.pass(ctx, true, nil) })
}

// pass goes through all logs, the newest first. With write, which takes the lock, it reads those that have grown and
// writes their digests; otherwise it reads digests only.
func (x *Index) pass(ctx context.Context, write bool, report func(done, total int)) error {
	x.passing.Lock()
	defer x.passing.Unlock()
	if write {
		if err := x.Prepare(); err != nil {
			return err
		}
	}
	logs, err := x.Source.List(ctx)
	if err != nil {
		return err
	}
	x.arrange(logs)
	behind := 0
	for i, l := range logs {
		if report != nil {
			report(i, len(logs))
		}
		done, err := x.passLog(ctx, l.Name, write)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil { // one log that cannot be read does not end the work
			x.Logger.Debug("a session log is not searched", "error", err)
			continue
		}
		if !done {
			behind++
		}
		x.mu.Lock()
		x.behind = behind + len(logs) - i - 1
		x.mu.Unlock()
	}
	x.mu.Lock()
	x.behind = behind
	x.mu.Unlock()
	if report != nil {
		report(len(logs), len(logs))
	}
	if write {
		return x.sweep()
	}
	return nil
}

// arrange notes which logs there are, and removes the turns of others from memory.
func (x *Index) arrange(logs []Log) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.order = x.order[:0]
	there := make(map[string]bool, len(logs))
	for _, l := range logs {
		there[l.Name] = true
		x.order = append(x.order, l.Name)
		if s, ok := x.logs[l.Name]; ok {
			s.log = l
		} else {
			x.logs[l.Name] = &state{log: l}
		}
	}
	for name, s := range x.logs {
		if !there[name] {
			x.forget(s)
			delete(x.logs, name)
		}
	}
}

// forget removes the turns of a log from memory. x.mu is held.
func (x *Index) forget(s *state) {
	x.store.Remove(s.ids...)
	for _, id := range s.ids {
		delete(x.turns, id)
	}
	x.count -= len(s.ids)
	x.text -= s.text
	x.stale = x.stale || len(s.ids) > 0
	s.ids, s.loaded, s.text = nil, false, 0
}

// leftOver returns the names of the digests of logs that do not exist any more; order has those that do.
func (x *Index) leftOver(order []string) (left []string, err error) {
	files, err := os.ReadDir(x.Dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("list digests: %w", err)
	}
	known := make(map[string]bool, len(order))
	for _, name := range order {
		known[filepath.Base(digestPath(x.Dir, name))] = true
	}
	for _, f := range files {
		if strings.HasSuffix(f.Name(), ".turns") && !known[f.Name()] {
			left = append(left, f.Name())
		}
	}
	return left, nil
}

// sweep removes the digests of logs that do not exist any more. The lock is held.
func (x *Index) sweep() error {
	x.mu.Lock()
	order := slices.Clone(x.order)
	x.mu.Unlock()
	left, err := x.leftOver(order)
	if err != nil {
		return err
	}
	for _, name := range left {
		if err := os.Remove(filepath.Join(x.Dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("remove a digest: %w", err)
		}
	}
	return nil
}

// passLog brings one log up to date, and reports whether it is.
func (x *Index) passLog(ctx context.Context, name string, write bool) (done bool, err error) {
	x.mu.Lock()
	s := x.logs[name]
	x.mu.Unlock()
	path := digestPath(x.Dir, name)
	p, err := x.reread(s, path)
	if err != nil {
		return false, err
	}
	x.move(s, p)
	if err := x.load(ctx, s, path); err != nil {
		return false, err
	}
	if s.current() {
		return true, nil
	}
	if !write {
		return false, nil
	}
	return true, x.index(ctx, s, path)
}

// move notes how far the digest of a log is. Only the pass writes a state, so that only searches need the lock to read
// it.
func (x *Index) move(s *state, p position) {
	x.mu.Lock()
	defer x.mu.Unlock()
	s.pos = p
}

// reread reads what another process has added to a log's digest.
func (x *Index) reread(s *state, path string) (position, error) {
	before := s.pos
	p, err := readDigest(path, before, nil)
	if err != nil {
		return before, err
	}
	if info, err := os.Lstat(path); before.size > 0 && (err != nil || info.Size() > p.size) {
		// Not a continuation of what was read: the digest was made again.
		if p, err = readDigest(path, position{}, nil); err != nil {
			return before, err
		}
		before.turns = -1
	}
	if p.turns != before.turns && s.loaded {
		x.mu.Lock()
		x.forget(s)
		x.mu.Unlock()
	}
	return p, nil
}

// load puts what was said in a log into memory, as far as its digest knows of it and there is room.
func (x *Index) load(ctx context.Context, s *state, path string) error {
	x.mu.Lock()
	room := maxTurns - x.count
	if x.text >= maxText {
		room = 0
	}
	if room <= 0 && !s.loaded && !s.current() && s.pos.turns > 0 || x.text > maxText+maxText/4 {
		x.clear() // an old session goes on: the others are read again after it
		room = maxTurns
	}
	loaded := s.loaded
	x.mu.Unlock()
	if loaded || room <= 0 || s.pos.turns == 0 {
		return nil
	}
	var found []entry
	if _, err := readDigest(path, position{}, func(ordinal int, e entry) {
		if e.flags&flagSpoken != 0 {
			e.words, e.key = nil, uint64(ordinal) //nolint:gosec // a number of turns; the key is not needed here
			found = append(found, e)
		}
	}); err != nil {
		return err
	}
	found = found[max(0, len(found)-room):]
	offsets, byOffset := make([]int64, len(found)), make(map[int64]entry, len(found))
	for i, e := range found {
		offsets[i], byOffset[e.offset] = e.offset, e
	}
	turns, err := x.Source.Turns(ctx, s.log, offsets)
	if err != nil {
		return err
	}
	var list []spoken
	for _, t := range turns {
		e := byOffset[t.Offset]
		list = append(list, spoken{t, int(e.key), e.flags&flagClean != 0}) //nolint:gosec // as above
	}
	x.add(s, list)
	return nil
}

// spoken is a turn in which something was said.
type spoken struct {
	Turn
	ordinal int
	clean   bool
}

// add puts turns of a log into memory.
func (x *Index) add(s *state, list []spoken) {
	var records []*record.Record
	var places []place
	folder := s.pos.folder
	for _, t := range list {
		text := t.Spoken
		if !t.clean {
			text, _ = x.Redact(text)
		}
		folder = cmp.Or(t.Folder, folder)
		when := t.Time
		if when.IsZero() {
			when = s.log.Modified
		}
		kind := record.FileType
		// SECURITY: what a group said is no instruction in a direct conversation.
		if t.Role == "user" && (t.Group == "" || x.Visibility != record.Private) {
			kind = record.TurnType
		}
		for i, chunk := range store.Cut(text) {
			sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d\x00%d\x00%s", s.log.Name, t.Offset, i, chunk.Text))
			records = append(records, &record.Record{
				ID: "turn_" + hex.EncodeToString(sum[:12]), Project: x.projectOf(folder),
				Memory: record.Memory{
					Type: kind, Content: chunk.Text, SessionID: s.log.Name, Source: t.Role,
				},
				CreatedAt: when.UTC().Truncate(time.Millisecond),
			})
			places = append(places, place{s, t.Offset, t.ordinal})
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for i, r := range records {
		if _, ok := x.turns[r.ID]; ok {
			continue
		}
		x.turns[r.ID] = places[i]
		s.ids = append(s.ids, r.ID)
		x.text += len(r.Content)
		s.text += len(r.Content)
		x.count++
		x.store.Add(r)
	}
	s.loaded = true
}

// projectOf returns the identity of a folder's project.
func (x *Index) projectOf(folder string) string {
	if folder == "" || x.Project == nil {
		return ""
	}
	x.mu.Lock()
	known, ok := x.projects[folder]
	x.mu.Unlock()
	if !ok {
		known = x.Project(folder)
		x.mu.Lock()
		x.projects[folder] = known
		x.mu.Unlock()
	}
	return known
}
