package workspace

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/workspace/plain"
)

// Note says what a change of files is, for the readers of a record of changes.
type Note struct {
	Subject  string   // one line; "" names only the files
	Body     string   // a paragraph, "" for none
	Trailers []string // such as "Event: ev:…"
}

// FileChange is what became of a file. Nil contents are no file.
type FileChange struct {
	Name          string // relative to the workspace
	Before, After []byte
}

// Revision is a change that is on disk.
type Revision struct {
	Note
	At    time.Time
	Files []FileChange
	// All are the files that may be recorded, as they are, for a record that is new.
	All func() []FileChange
}

// Recorder keeps a record of the files beside that of edits.
type Recorder interface {
	// Record records a revision. It is called for one at a time, in all processes.
	Record(ctx context.Context, r Revision) error
	// Check says why a revision could not be recorded now. It changes nothing.
	Check(ctx context.Context) error
}

// WithRecorder sets who is told of the changes that direct conversations and the operator make: of each by itself,
// exactly as it was made, under the lock on all files, before it is acknowledged. That one could not be recorded is
// reported, and fails no change.
//
// A file that a group may not read is recorded only where private is true, BOOTSTRAP.md and .yamo never.
func WithRecorder(r Recorder, private bool) Option {
	return func(w *Workspace) { w.recorder, w.recordPrivate = r, private }
}

// CheckRecord looks whether changes could be recorded, and reports it if not. It is for the start of a session.
func (v *View) CheckRecord(ctx context.Context) {
	// SECURITY: a group's session records nothing.
	if v.ws.recorder != nil && v.who.IsDM() {
		v.notRecorded(ctx, v.ws.recorder.Check(ctx))
	}
}

// RecordTrouble is why changes are not recorded at the moment, "" if they are or need not be, and in a group.
func (v *View) RecordTrouble() string {
	if reason, ok := v.ws.recordTrouble.Load().(string); ok && v.who.IsDM() {
		return reason
	}
	return ""
}

// notRecorded keeps in mind whether changes are recorded, and reports a reason why not when it is new.
func (v *View) notRecorded(ctx context.Context, err error) {
	reason := ""
	if err != nil {
		reason = err.Error()
	}
	if before, _ := v.ws.recordTrouble.Swap(reason).(string); reason != "" && reason != before {
		v.ws.log.WarnContext(ctx, "changes of files are written and not committed to git (setting git); the next commit "+
			"of a file takes them along", "reason", reason)
	}
}

// recordable are those of names that are recorded.
func (v *View) recordable(names []string) []string {
	// SECURITY: a group's session records nothing: what is recorded beside its files is not for it.
	if v.ws.recorder == nil || !v.who.IsDM() {
		return nil
	}
	var group audience.Audience
	var some []string
	for _, name := range names {
		class := classify(v.who, name)
		if base, ok := strings.CutPrefix(name, archiveFolder+"/"); ok {
			class = classify(v.who, memoryFolder+"/"+strings.TrimSuffix(base, archived))
		}
		// SECURITY: BOOTSTRAP.md may hold what must not persist (RFC-0009 §4.3). What a group may not read is recorded
		// only for an operator who said so.
		if class == audience.Unknown || class == audience.Bootstrap ||
			!v.ws.recordPrivate && !group.May(audience.Read, class) {
			continue
		}
		some = append(some, name)
	}
	return some
}

// recording is what files were before a change that is to be recorded.
type recording struct {
	view  *View
	files []FileChange
	whole bool // every file that is changed is recorded
}

// startRecording begins the recording of a change of the files called names. The caller holds the lock on all files.
func (v *View) startRecording(names ...string) *recording {
	some := v.recordable(names)
	r := &recording{view: v, whole: len(some) == len(names)}
	for _, name := range some {
		r.files = append(r.files, FileChange{Name: name, Before: v.whole(name)})
	}
	return r
}

// finish has the change recorded, which is on disk, with a note.
func (r *recording) finish(ctx context.Context, note Note) {
	if len(r.files) == 0 {
		return
	}
	if together, ok := ctx.Value(batchKey{}).(*batch); ok {
		together.add(r.files)
		return
	}
	// SECURITY: what is said of a file that is not recorded is not recorded either.
	if !r.whole {
		note = Note{}
	}
	r.view.tell(ctx, note, r.files)
}

// lockedAndRecorded calls do, which writes the files called names in a way that needs no lock, and has that recorded,
// for which the lock on all files is taken.
func (v *View) lockedAndRecorded(ctx context.Context, note Note, do func() error, names ...string) error {
	if len(v.recordable(names)) == 0 {
		return do()
	}
	return v.ws.locked(ctx, func() error {
		change := v.startRecording(names...)
		if err := do(); err != nil {
			return err
		}
		change.finish(ctx, note)
		return nil
	})
}

// tell tells the recorder of files that have changed.
func (v *View) tell(ctx context.Context, note Note, files []FileChange) {
	var changed []FileChange
	var names []string
	for _, file := range files {
		file.After = v.whole(file.Name)
		if (file.Before == nil) != (file.After == nil) || !bytes.Equal(file.Before, file.After) {
			changed, names = append(changed, file), append(names, file.Name)
		}
	}
	if len(changed) == 0 {
		return
	}
	if note.Subject == "" {
		note.Subject = strings.Join(names, ", ") + ": written"
	}
	v.notRecorded(ctx, v.ws.recorder.Record(ctx, Revision{
		Note: note, At: v.ws.now(), Files: changed, All: v.allRecordable,
	}))
}

// whole is the file called name, nil if it is missing, refused or too large.
func (v *View) whole(name string) []byte {
	data, more, err := plain.Read(v.ws.root, name, MaxFileSize)
	if err != nil || more {
		return nil
	}
	return slices.Concat([]byte{}, data) // not nil
}

// allRecordable are the files that may be recorded, as they are.
func (v *View) allRecordable() []FileChange {
	var names []string
	for name := range rootFiles {
		if name != otherDreams || v.whole(DreamsFile) == nil { // where the file system folds case, the two are one
			names = append(names, name)
		}
	}
	for _, file := range slices.Concat(v.tree(memoryFolder, 0), v.tree(notesFolder, 0), v.profiles()) {
		names = append(names, file.Name)
	}
	for _, name := range v.archivedLogs() {
		names = append(names, archiveName(name))
	}
	slices.Sort(names)
	var all []FileChange
	for _, name := range v.recordable(slices.Compact(names)) {
		if data := v.whole(name); data != nil {
			all = append(all, FileChange{name, data, data})
		}
	}
	return all
}

// batch collects what one revision is to have.
type batch struct{ files []FileChange }

type batchKey struct{}

func (b *batch) add(files []FileChange) {
	for _, file := range files {
		if !slices.ContainsFunc(b.files, func(f FileChange) bool { return f.Name == file.Name }) {
			b.files = append(b.files, file)
		}
	}
}

// Together calls do and has what it changes through ctx, one after the other, recorded as one revision with the note it
// returns, also when it fails. The files must be of one kind, private or not.
func (v *View) Together(ctx context.Context, do func(ctx context.Context) (Note, error)) error {
	if v.ws.recorder == nil || !v.who.IsDM() {
		_, err := do(ctx)
		return err
	}
	together := &batch{}
	note, err := do(context.WithValue(ctx, batchKey{}, together))
	if len(together.files) > 0 {
		ctx := context.WithoutCancel(ctx)
		if err := v.ws.locked(ctx, func() error {
			v.tell(ctx, note, together.files)
			return nil
		}); err != nil {
			v.notRecorded(ctx, err)
		}
	}
	return err
}
