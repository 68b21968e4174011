package edit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// snapshotEvery is the number of edits of a file after which its whole text is recorded again. It bounds what is kept
// in memory, and the work of replaying.
const snapshotEvery = 100

// state is the projection of the record of edits, up to the last line read. e.mu protects it.
type state struct {
	version int // of the key, 0 before the first event
	files   map[string]*file
	byKey   map[string]Event             // edits by idempotency key, without their texts
	seqs    map[string]int64             // the lines of events, by id
	pins    map[string]map[string]string // file, then anchor: OpPin or OpLock
	last    *Event                       // the last one that writes a file, which may have been interrupted
	lastSeq int64                        // of its line
	lines   int64                        // the number of lines that were read, erased ones too

	proposals map[string]*Proposal // by id, without their texts
	offered   map[string]bool      // idempotency keys of offers, those of erased ones too
}

// newState returns the state of an empty record.
func newState() *state {
	return &state{
		files: map[string]*file{}, byKey: map[string]Event{}, seqs: map[string]int64{}, pins: map[string]map[string]string{},
		proposals: map[string]*Proposal{}, offered: map[string]bool{},
	}
}

// file is the projection of the events of one file.
type file struct {
	known    bool            // an event had its text
	base     string          // the last whole text
	tail     []Event         // edits since then
	after    string          // the hash of the file after the last event, "" if it did not exist
	version  int             // of the key of that hash
	drifts   []Event         // not yet decided, without their texts
	sections map[string]bool // headings of the sections with events
	day      string          // of done, UTC
	done     []counted
	undone   map[string]counted // of today, by the id of the event that took them back
	rolled   []int64            // of today: lines of the events that only wrote the rollup
}

// counted is an edit that the day's rollup counts.
type counted struct {
	grammar.Done
	id  string
	seq int64
}

func newFile() *file { return &file{sections: map[string]bool{}, undone: map[string]counted{}} }

// decode decodes the event in a ledger entry.
func decode(line ledger.Entry) (Event, error) {
	var e Event
	if err := json.Unmarshal(line.Data, &e); err != nil {
		return Event{}, fmt.Errorf("line %d of the record of edits: %w", line.Seq, err)
	}
	return e, nil
}

// apply applies a line of the record to the state. An unknown operation is an error: a later version of the program
// wrote it, and ignoring it would give a wrong text.
func (s *state) apply(line ledger.Entry) error {
	s.lines = line.Seq
	if line.Erased {
		return nil
	}
	e, err := decode(line)
	if err != nil {
		return err
	}
	s.version = max(s.version, e.Integrity.SaltVersion)
	s.seqs[e.ID] = line.Seq
	if strings.HasPrefix(e.Key, offerPrefix) && (e.Op == OpPropose || e.Op == OpErase) {
		s.offered[e.Key] = true
	}
	f := s.files[e.File]
	if f == nil && e.File != "" {
		f = newFile()
		s.files[e.File] = f
	}
	switch e.Op {
	case OpSnapshot:
		f.rebase(e)
	case OpObserved:
		f.rebase(e)
		f.follow(e.File)
	case OpDrift:
		f.rebase(e)
		f.drifts = append(f.drifts, e.brief())
	case OpAccept:
		f.decided(e.RefersTo)
	case OpRestore:
		f.rebase(e)
		f.decided(e.RefersTo)
		s.last, s.lastSeq = &e, line.Seq
	case OpUndo:
		f.rebase(e)
		f.tookBack(e)
		s.last, s.lastSeq = &e, line.Seq
		if e.Key != "" {
			s.byKey[e.Key] = e.brief()
		}
	case OpUndone:
		s.undo(f, e)
	case OpPin, OpLock:
		if s.pins[e.File] == nil {
			s.pins[e.File] = map[string]string{}
		}
		s.pins[e.File][e.Anchor] = e.Op
	case OpUnpin, OpUnlock:
		delete(s.pins[e.File], e.Anchor)
	case OpPropose:
		s.proposed(e)
	case OpReject:
		s.decided(e)
	case OpErase:
		s.erase(e)
	case OpRotate, OpDismiss:
	default:
		if !e.IsEdit() || f == nil {
			return fmt.Errorf("line %d of the record of edits: the operation %q is not known to this program", line.Seq, e.Op)
		}
		f.edited(e, line.Seq)
		s.last, s.lastSeq = &e, line.Seq
		if e.Key != "" {
			s.byKey[e.Key] = e.brief()
		}
		s.decided(e)
	}
	return nil
}

// inOrder orders the ids of events by their lines: the ids of one millisecond have random digits only.
func (s *state) inOrder(a, b string) int { return cmp.Compare(s.seqs[a], s.seqs[b]) }

// brief returns the event without its texts, for what is kept in memory of all events.
func (e Event) brief() Event {
	e.Base, e.Changes, e.Asked = nil, nil, nil
	return e
}

// time returns the event's time, zero if it is malformed.
func (e Event) time() time.Time {
	t, err := time.Parse(timeForm, e.Time)
	if err != nil {
		return time.Time{}
	}
	return t
}

// rebase begins a new tail with a whole text.
func (f *file) rebase(e Event) {
	f.known, f.base, f.tail = true, "", nil
	if e.Base != nil {
		f.base = *e.Base
	}
	f.after, f.version = e.FileAfter, e.Integrity.SaltVersion
}

// follow keeps track of sections with events whose headings were changed slightly by hand. Without it the next change
// would compare with a heading that is two changes old, and be reported as drift.
func (f *file) follow(name string) {
	t, _ := grammar.TypeOf(name)
	d := grammar.Parse(f.base)
	have := d.Sections()
	for _, section := range slices.Collect(maps.Keys(f.sections)) {
		if section == "" || slices.Contains(have, section) {
			continue
		}
		if i, ok := d.Reanchor(t, section); ok {
			f.sections[d.Parts[i].Name] = true
		}
	}
}

// decided removes a drift from the queue; "" removes all.
func (f *file) decided(id string) {
	f.drifts = slices.DeleteFunc(f.drifts, func(d Event) bool { return id == "" || d.ID == id })
}

// edited applies an edit to the file's projection.
func (f *file) edited(e Event, seq int64) {
	if e.Base != nil {
		f.base, f.tail = *e.Base, nil
	}
	f.known, f.tail = true, append(f.tail, e)
	f.after, f.version = e.FileAfter, e.Integrity.SaltVersion
	for _, c := range e.Changes {
		f.sections[c.Section] = true
	}
	// The rollup of the Change Log is one entry a day, in UTC (seed 004 §6).
	if day := e.Time[:min(len(e.Time), len(time.DateOnly))]; day != f.day {
		f.day, f.done, f.undone, f.rolled = day, nil, map[string]counted{}, nil
	}
	if e.Rollup {
		f.rolled = append(f.rolled, seq)
	}
	if f.counts(e) {
		f.done = append(f.done, counted{
			Done: grammar.Done{Op: grammar.Op(e.Op), Section: e.Section, Items: e.Items}, id: e.ID, seq: seq,
		})
	}
}

// tookBack applies an undo to what the day's rollup counts: it has what the restored Change Log has.
func (f *file) tookBack(e Event) {
	if !e.Exact {
		return
	}
	if again, ok := f.undone[e.RefersTo]; ok { // it takes back an undo
		delete(f.undone, e.RefersTo)
		f.done = append(f.done, again)
		return
	}
	if i := slices.IndexFunc(f.done, func(c counted) bool { return c.id == e.RefersTo }); i >= 0 {
		f.undone[e.ID] = f.done[i]
		f.done = slices.Delete(f.done, i, i+1)
	}
}

// counts reports whether the day's rollup mentions e. An edit of the Change Log itself needs no other entry.
func (*file) counts(e Event) bool { return !isChangeLog(e.Section) }

// undo reverts an edit that never reached its file.
func (s *state) undo(f *file, e Event) {
	i := slices.IndexFunc(f.tail, func(t Event) bool { return t.ID == e.RefersTo })
	if i < 0 {
		return
	}
	undone := f.tail[i]
	f.tail = slices.Delete(f.tail, i, i+1)
	// Only the last edit can be undone, so that its entry is the last one too.
	if n := len(f.done); n > 0 && f.counts(undone) {
		f.done = f.done[:n-1]
	}
	if n := len(f.rolled); n > 0 && undone.Rollup {
		f.rolled = f.rolled[:n-1]
	}
	f.after, f.version = e.FileAfter, e.Integrity.SaltVersion
	delete(s.byKey, undone.Key)
	s.reopen(undone)
}

// text returns the file's text according to the record.
func (f *file) text(name string) (string, error) {
	d := grammar.Parse(f.base)
	t, _ := grammar.TypeOf(name)
	for _, e := range f.tail {
		if err := reapply(d, t, e); err != nil {
			return "", err
		}
	}
	return d.String(), nil
}
