package edit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// snapshotEvery is after how many edits of a file its whole text is recorded again: it bounds what is kept in
// memory, and the work of replaying.
const snapshotEvery = 100

// state is what the record of edits says, up to the last line read.
type state struct {
	version int // of the key, 0 before the first event
	files   map[string]*file
	byKey   map[string]Event             // edits by idempotency key, without their texts
	seqs    map[string]int64             // the lines of events, by id
	pins    map[string]map[string]string // file, then anchor: OpPin or OpLock
	last    *Event                       // the last that writes, which may be interrupted
	lastSeq int64                        // of its line

	proposals map[string]*Proposal // by id, without their texts
}

func newState() *state {
	return &state{
		files: map[string]*file{}, byKey: map[string]Event{}, seqs: map[string]int64{}, pins: map[string]map[string]string{},
		proposals: map[string]*Proposal{},
	}
}

// file is what the record says about one file.
type file struct {
	known    bool            // there was an event with its text
	base     string          // the last whole text
	tail     []Event         // edits since
	after    string          // the hash of the file after the last event, "" for no file
	version  int             // of the key that made it
	drifts   []Event         // that the maintainer has not decided about, without their texts
	sections map[string]bool // that events are about, by heading
	day      string          // of done, UTC
	done     []grammar.Done
}

func newFile() *file { return &file{sections: map[string]bool{}} }

// decode reads the event of a ledger's line.
func decode(line ledger.Entry) (Event, error) {
	var e Event
	if err := json.Unmarshal(line.Data, &e); err != nil {
		return Event{}, fmt.Errorf("line %d of the record of edits: %w", line.Seq, err)
	}
	return e, nil
}

// apply applies a line.
func (s *state) apply(line ledger.Entry) error {
	if line.Erased {
		return nil
	}
	e, err := decode(line)
	if err != nil {
		return err
	}
	s.version = max(s.version, e.Integrity.SaltVersion)
	s.seqs[e.ID] = line.Seq
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
	case OpRotate:
	default:
		if !e.IsEdit() || f == nil {
			return fmt.Errorf("line %d of the record of edits: the operation %q is not known to this program", line.Seq, e.Op)
		}
		f.edited(e)
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

// brief is the event without texts.
func (e Event) brief() Event {
	e.Base, e.Changes, e.Asked = nil, nil, nil
	return e
}

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

// follow keeps track of the sections that events are about where their headings were changed by hand a little: else
// they would be lost with the next change.
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

// decided takes a drift off the queue; "" takes all.
func (f *file) decided(id string) {
	f.drifts = slices.DeleteFunc(f.drifts, func(d Event) bool { return id == "" || d.ID == id })
}

func (f *file) edited(e Event) {
	if e.Base != nil {
		f.base, f.tail = *e.Base, nil
	}
	f.known, f.tail = true, append(f.tail, e)
	f.after, f.version = e.FileAfter, e.Integrity.SaltVersion
	for _, c := range e.Changes {
		f.sections[c.Section] = true
	}
	if day := e.Time[:min(len(e.Time), len(time.DateOnly))]; day != f.day {
		f.day, f.done = day, nil
	}
	if f.counts(e) {
		f.done = append(f.done, grammar.Done{Op: grammar.Op(e.Op), Section: e.Section, Items: e.Items})
	}
}

// counts reports whether the day's rollup mentions e: what was written into the Change Log speaks for itself.
func (*file) counts(e Event) bool { return !isChangeLog(e.Section) }

// undo takes back an edit that never reached its file.
func (s *state) undo(f *file, e Event) {
	i := slices.IndexFunc(f.tail, func(t Event) bool { return t.ID == e.RefersTo })
	if i < 0 {
		return
	}
	undone := f.tail[i]
	f.tail = slices.Delete(f.tail, i, i+1)
	if n := len(f.done); n > 0 && f.counts(undone) {
		f.done = f.done[:n-1]
	}
	f.after, f.version = e.FileAfter, e.Integrity.SaltVersion
	delete(s.byKey, undone.Key)
	s.reopen(undone)
}

// text is the file as the record has it.
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
