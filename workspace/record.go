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

// Note describes a change of files in a record of changes.
type Note struct {
	Subject  string   // one line; "" is replaced by the names of the files
	Body     string   // a paragraph, "" for none
	Trailers []string // such as "Event: ev:…"
}

// FileChange is a file before and after a change. Nil means that it did not exist.
type FileChange struct {
	Name          string // relative to the workspace
	Before, After []byte
}

// Revision is a change that is already on disk.
type Revision struct {
	Note
	At    time.Time
	Files []FileChange
	// All returns every file that may be recorded as it is now, for the first revision of a new record.
	All func() []FileChange
}

// Recorder keeps a record of file contents, such as a git repository, in addition to the record of edits.
type Recorder interface {
	// Record records a revision. Calls are serialized across all processes by the lock on all files.
	Record(ctx context.Context, r Revision) error
	// Check returns the reason why a revision could not be recorded now. It changes nothing.
	Check(ctx context.Context) error
}

// WithRecorder sets the recorder of the changes that direct conversations and the operator make. Each change is
// recorded by itself, under the lock on all files and before it is acknowledged. A change that cannot be recorded still
// succeeds, and the reason is logged: a broken repository must not stop the agent from remembering.
//
// Files that a group may not read are recorded only if private is true; BOOTSTRAP.md and .yamo never are.
func WithRecorder(r Recorder, private bool) Option {
	return func(w *Workspace) { w.recorder, w.recordPrivate = r, private }
}

// CheckRecord logs why changes could not be recorded, if they could not. It is called at the start of a session.
func (v *View) CheckRecord(ctx context.Context) {
	// SECURITY: a group's session records nothing.
	if v.ws.recorder != nil && v.who.IsDM() {
		v.notRecorded(ctx, v.ws.recorder.Check(ctx))
	}
}

// RecordTrouble returns why the last change was not recorded, "" if it was, if there is no recorder, and in a group.
func (v *View) RecordTrouble() string {
	if reason, ok := v.ws.recordTrouble.Load().(string); ok && v.who.IsDM() {
		return reason
	}
	return ""
}

// notRecorded remembers err for RecordTrouble; nil clears it. It logs a reason only once, until another replaces it.
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

// recordable returns those of names that are recorded, in order.
func (v *View) recordable(names []string) []string {
	// SECURITY: a group's session records nothing: a revision may contain files that are not for the group.
	if v.ws.recorder == nil || !v.who.IsDM() {
		return nil
	}
	var group audience.Audience
	var some []string
	for _, name := range names {
		class := classify(v.who, name)
		if base, ok := strings.CutPrefix(name, archiveFolder+"/"); ok {
			class = classify(v.who, unarchived(base))
		}
		// SECURITY: BOOTSTRAP.md may contain what must not persist (RFC-0009 §4.3). What a group may not read is recorded
		// only if the operator asked for it.
		if class == audience.Unknown || class == audience.Bootstrap ||
			!v.ws.recordPrivate && !group.May(audience.Read, class) {
			continue
		}
		some = append(some, name)
	}
	return some
}

// recording holds the contents of files before a change that will be recorded.
type recording struct {
	view  *View
	files []FileChange
	whole bool // all changed files are recorded, so that the note may be, too
}

// startRecording reads the files called names before they are changed. The caller holds the lock on all files.
func (v *View) startRecording(names ...string) *recording {
	some := v.recordable(names)
	r := &recording{view: v, whole: len(some) == len(names)}
	for _, name := range some {
		r.files = append(r.files, FileChange{Name: name, Before: v.whole(name)})
	}
	return r
}

// finish records the change, which is on disk by now, with a note; inside Together the batch is recorded at its end.
func (r *recording) finish(ctx context.Context, note Note) {
	if len(r.files) == 0 {
		return
	}
	if together, ok := ctx.Value(batchKey{}).(*batch); ok {
		together.add(r.files)
		return
	}
	// SECURITY: a note may quote a file that is not recorded.
	if !r.whole {
		note = Note{}
	}
	r.view.tell(ctx, note, r.files)
}

// lockedAndRecorded calls do, which writes the files called names with a lock of its own, and records the change. Only
// then it takes the lock on all files, so that sessions without a recorder append to logs in parallel.
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

// tell passes those of files that really changed to the recorder.
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
	// SECURITY: a reason and its evidence come from direct conversations. A record of public files is read by others.
	if !v.ws.recordPrivate {
		note.Body = ""
		note.Trailers = slices.DeleteFunc(slices.Clone(note.Trailers), func(t string) bool {
			return !strings.HasPrefix(t, "Event: ")
		})
	}
	v.notRecorded(ctx, v.ws.recorder.Record(ctx, Revision{
		Note: note, At: v.ws.now(), Files: changed, All: v.allRecordable,
	}))
}

// whole returns the content of the file called name, nil if it is missing, refused or too large. It is not nil for an
// empty file.
func (v *View) whole(name string) []byte {
	data, more, err := plain.Read(v.ws.root, name, MaxFileSize)
	if err != nil || more {
		return nil
	}
	return slices.Concat([]byte{}, data)
}

// allRecordable returns the files that may be recorded, as they are now, sorted by name.
func (v *View) allRecordable() []FileChange {
	var names []string
	for name := range rootFiles {
		if name != otherDreams || v.whole(DreamsFile) == nil { // on a file system that folds case the two are one
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

// batch collects the changes that Together records as one revision.
type batch struct{ files []FileChange }

type batchKey struct{}

// add keeps the first state of each file: what it was before the whole.
func (b *batch) add(files []FileChange) {
	for _, file := range files {
		if !slices.ContainsFunc(b.files, func(f FileChange) bool { return f.Name == file.Name }) {
			b.files = append(b.files, file)
		}
	}
}

// Together calls do and records all changes that do makes with the ctx it receives as one revision, with the note that
// do returns, even if do fails or ctx is canceled by then. Its error is that of do. The files must be all private or
// all not, because one note describes them.
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
