package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/workspace/plain"
)

// filesLock is the file whose lock all processes take to replace whole files. A replaced file cannot carry the lock
// itself, because the lock would stay with the old file. ignoreFile keeps the folder out of version control.
const (
	filesLock  = ".yamo/locks/files.lock"
	ignoreFile = ".yamo/.gitignore"
)

// ErrCredentials is returned for text that was not written because it contains credentials (RFC-0009 §4.2).
var ErrCredentials = errors.New("the text contains credentials, which do not belong in a workspace file: keep them " +
	"in a password manager and write where they are")

// ConflictError means that a person or another session changed the file since the writer read it. Nothing was written.
type ConflictError struct {
	Name string
	Hash string // of the present content, "" if the file is missing
}

// Error names the file, its present hash and the next step.
func (e *ConflictError) Error() string {
	if e.Hash == "" {
		return fmt.Sprintf("%s is not there (any more); nothing was written: to make it, write it with an empty hash", e.Name)
	}
	return fmt.Sprintf("%s was changed in the meantime and now has the hash %s; nothing was written: read it again, "+
		"work the changes in, and write it with that hash", e.Name, e.Hash)
}

// Hash returns "sha256:" and the 64 hexadecimal digits of data's SHA-256. It identifies the version of a file to Write.
func Hash(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Write replaces the content of the file called name with data, atomically, and returns the hash of data. base is the
// hash of the content that the writer has read, "" to create the file; if the file has another content, nothing is
// written and the error is a *ConflictError. SOUL.md and IDENTITY.md can only be created, at the first boot; otherwise
// the error is fs.ErrPermission, as for every file that the audience may only read. Data with new credentials is
// ErrCredentials, and data above MaxFileSize is ErrTooLarge.
func (v *View) Write(ctx context.Context, name string, data []byte, base string) (hash string, err error) {
	return v.write(ctx, name, data, base, Note{})
}

// write is Write with a note for the Recorder.
func (v *View) write(
	ctx context.Context, name string, data []byte, base string, note Note,
) (hash string, err error) {
	class := classify(v.who, name)
	// SECURITY: the access check.
	switch {
	case v.who.May(audience.Write, class):
	case base == "" && v.who.May(audience.Create, class) && v.State() == Bootstrap:
	case v.who.May(audience.Read, class):
		return "", &fs.PathError{Op: "write", Path: name, Err: fs.ErrPermission}
	default:
		return "", missing("write", name)
	}
	_, err = v.replace(ctx, name, class, data, note, func(present []byte) (bool, error) {
		there := ""
		if present != nil {
			there = Hash(present)
		}
		if there != base {
			return false, &ConflictError{name, there}
		}
		return true, nil
	})
	if err != nil {
		return "", err
	}
	return Hash(data), nil
}

// lock waits for filesLock and returns the function that releases it. It also writes ignoreFile, as mesh does:
// whichever comes first, .yamo is never committed by accident.
func (w *Workspace) lock(ctx context.Context) (release func() error, err error) {
	release, err = plain.Lock(ctx, w.root, filesLock)
	if err != nil {
		return nil, ofMemory(filesLock, err)
	}
	ifMissing := func(present []byte) (bool, error) { return present == nil, nil }
	_, err = plain.Replace(w.root, ignoreFile, []byte("*\n"), ifMissing)
	// What a person put there instead is theirs, and no reason to write nothing.
	if _, refused := errors.AsType[*plain.RefusedError](err); err != nil && !refused {
		return nil, errors.Join(ofMemory(ignoreFile, err), release())
	}
	return release, nil
}

// memoryError is an error about a file in .yamo that came up while another file was being written.
type memoryError struct{ error }

func (e *memoryError) Unwrap() error { return e.error }

// ofMemory returns err as one about the file called name, instead of the one that a caller was about to write.
func ofMemory(name string, err error) error {
	if refused, ok := errors.AsType[*plain.RefusedError](err); ok {
		return &memoryError{&fault.UnusableError{Path: name, Reason: refused.Reason, Want: "a plain file in plain folders"}}
	}
	if system, ok := errors.AsType[*fs.PathError](err); ok {
		return &memoryError{&fs.PathError{Op: system.Op, Path: name, Err: system.Err}}
	}
	return err
}

// locked calls do with the lock held.
func (w *Workspace) locked(ctx context.Context, do func() error) (err error) {
	release, err := w.lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	return do()
}

// credentials reports whether text has credentials that present, the content it replaces, does not have. What a person
// put there, or what only looks like a credential, must not make the rest of the file uneditable. Lines that were added
// or changed are checked by themselves, since one credential may have been exchanged for another.
func (w *Workspace) credentials(present, text string) bool {
	_, now := w.scrub(text)
	if now == 0 {
		return false
	}
	if _, before := w.scrub(present); now > before {
		return true
	}
	old := map[string]bool{}
	for line := range strings.Lines(present) {
		old[strings.TrimSpace(line)] = true
	}
	var added strings.Builder
	for line := range strings.Lines(text) {
		if !old[strings.TrimSpace(line)] {
			added.WriteString(line)
		}
	}
	_, redactions := w.scrub(added.String())
	return redactions > 0
}

// Editable reports whether the audience may change the file called name.
func (v *View) Editable(name string) bool { return v.who.May(audience.Write, classify(v.who, name)) }

// CheckText returns ErrCredentials for text that must not be in a workspace file or in the record of its edits.
func (v *View) CheckText(text string) error {
	if _, redactions := v.ws.scrub(text); redactions > 0 {
		return ErrCredentials
	}
	return nil
}

// acceptable returns the reason why data must not replace present in the file called name, nil if it may.
func (v *View) acceptable(name string, present, data []byte) error {
	if len(data) > MaxFileSize {
		return &fs.PathError{Op: "write", Path: name, Err: ErrTooLarge}
	}
	// SECURITY: credentials do not reach a workspace file.
	if v.ws.credentials(string(present), string(data)) {
		return &fs.PathError{Op: "write", Path: name, Err: ErrCredentials}
	}
	return nil
}

// Transaction is the change of one file, under the lock on all files: between [View.Begin] and [Transaction.Close] no
// other session replaces a file. Only a person's editor, which does not know the lock, can intervene, and Stage notices
// that. Stage and Commit replace the file; without them nothing is changed. It is not safe for concurrent use.
type Transaction struct {
	view    *View
	name    string
	class   audience.Class
	release func() error
	file    *plain.Replacement
	before  *recording
}

// Begin starts a change of the file called name, which need not exist. It waits for the lock until ctx is done. The
// error is fs.ErrPermission for a file that the audience may only read, and fs.ErrNotExist for one that it may not see.
// The caller closes the transaction; until then it must not write files in another way, which would wait for the same
// lock forever.
func (v *View) Begin(ctx context.Context, name string) (*Transaction, error) {
	class := classify(v.who, name)
	// SECURITY: the access check.
	switch {
	case v.who.May(audience.Write, class):
	case v.who.May(audience.Read, class):
		return nil, &fs.PathError{Op: "write", Path: name, Err: fs.ErrPermission}
	default:
		return nil, missing("write", name)
	}
	return v.begin(ctx, name, class)
}

// begin is Begin without the access check, which the caller has done.
func (v *View) begin(ctx context.Context, name string, class audience.Class) (*Transaction, error) {
	tx := &Transaction{view: v, name: name, class: class}
	var err error
	if tx.release, err = v.ws.lock(ctx); err != nil {
		return nil, tx.fault(err)
	}
	tx.before = v.startRecording(name)
	if tx.file, err = plain.Begin(v.ws.root, name); err != nil {
		return nil, tx.fault(errors.Join(err, tx.release()))
	}
	return tx, nil
}

// Present returns the content of the file as it was read last, nil if it is missing. The caller must not change it.
func (tx *Transaction) Present() []byte { return tx.file.Present() }

// Stage writes data to disk under another name, so that Commit only renames: a crash leaves the old file or the new
// one. If a person changed the file since Present, ok is false and nothing is staged; the caller starts again from the
// new Present. The error is ErrCredentials or ErrTooLarge for data that a workspace file must not contain.
func (tx *Transaction) Stage(data []byte) (ok bool, err error) {
	if err := tx.view.acceptable(tx.name, tx.Present(), data); err != nil {
		return false, err
	}
	ok, err = tx.file.Stage(data)
	return ok, tx.fault(err)
}

// Commit replaces the file with the staged data, and returns when that is on disk. note describes the change to the
// Recorder, if there is one.
func (tx *Transaction) Commit(ctx context.Context, note Note) error {
	if err := tx.file.Commit(); err != nil {
		return tx.fault(err)
	}
	tx.before.finish(ctx, note)
	return nil
}

// Close ends the transaction: staged data that was not committed is removed, and the lock is released.
func (tx *Transaction) Close() error { return tx.fault(errors.Join(tx.file.Close(), tx.release())) }

func (tx *Transaction) fault(err error) error {
	if err == nil {
		return nil
	}
	return tx.view.fault("write", tx.name, tx.class, err)
}

// replace writes data to the file called name if check, which receives the present content, agrees; check is called
// again when a person changed the file meanwhile. The caller has done the access check.
func (v *View) replace(
	ctx context.Context, name string, class audience.Class, data []byte, note Note,
	check func(present []byte) (bool, error),
) (replaced bool, err error) {
	tx, err := v.begin(ctx, name, class)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, tx.Close()) }()
	for {
		if err := v.acceptable(name, tx.Present(), data); err != nil {
			return false, err
		}
		ok, err := check(tx.Present())
		if conflict, ok := errors.AsType[*ConflictError](err); ok {
			return false, conflict
		}
		if !ok || err != nil {
			return false, tx.fault(err)
		}
		if ok, err = tx.Stage(data); err != nil {
			return false, err
		}
		if ok {
			return true, tx.Commit(ctx, note)
		}
	}
}

// EraseLines removes lines from the file called name, daily logs included, because the person asked for it. keep gets
// the present text and returns what stays; it is called again when a person changed the file meanwhile. It returns the
// number of lines that were removed. The error is fs.ErrPermission for a file that the audience may only read.
func (v *View) EraseLines(ctx context.Context, name string, keep func(present string) string) (removed int, err error) {
	class := classify(v.who, name)
	// SECURITY: the access check. A log that may be deleted may lose lines; a group can do neither. SOUL.md and
	// IDENTITY.md are the owner's.
	switch {
	case v.who.May(audience.Write, class), v.who.May(audience.Read|audience.Delete, class) && class != audience.Bootstrap:
	case v.who.May(audience.Read, class):
		return 0, &fs.PathError{Op: "write", Path: name, Err: fs.ErrPermission}
	default:
		return 0, missing("write", name)
	}
	tx, err := v.begin(ctx, name, class)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, tx.Close()) }()
	for {
		if tx.Present() == nil {
			return 0, missing("write", name)
		}
		present := string(tx.Present())
		kept := keep(present)
		if kept == present {
			return 0, nil
		}
		ok, err := tx.Stage([]byte(kept))
		if err != nil {
			return 0, err
		}
		if ok {
			removed := strings.Count(present, "\n") - strings.Count(kept, "\n")
			return removed, tx.Commit(ctx, Note{Subject: name + ": erase lines on request"})
		}
	}
}
