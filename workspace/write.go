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
	"github.com/yamo-protocol/yamo-mcp/workspace/plain"
)

// filesLock is the lock under which whole files are replaced, in all processes; ignoreFile keeps its folder out of
// version control.
const (
	filesLock  = ".yamo/locks/files.lock"
	ignoreFile = ".yamo/.gitignore"
)

// ErrCredentials is returned for a file that was not written because it contains credentials.
var ErrCredentials = errors.New("the text contains credentials, which do not belong into a workspace file: keep them in a password manager and write where they are")

// ConflictError says that a file is not what the writer took it for: a human or another session changed it.
// Nothing was written.
type ConflictError struct {
	Name string
	Hash string // of the present content, "" when there is no file
}

// Error says what to do.
func (e *ConflictError) Error() string {
	if e.Hash == "" {
		return fmt.Sprintf("%s is not there (any more); nothing was written: to make it, write it with an empty hash", e.Name)
	}
	return fmt.Sprintf("%s was changed in the meantime and now has the hash %s; nothing was written: read it again, work the changes in, and write it with that hash", e.Name, e.Hash)
}

// Hash names the content of a file: "sha256:" and 64 hexadecimal digits.
func Hash(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Write replaces the file called name by data, atomically, and returns the new content's hash. base is the
// hash of the content the writer has read, "" for a file that is to be made; where the file has another
// content, nothing is written and the error is a *ConflictError. SOUL.md and IDENTITY.md can be made at the
// first boot and not be written otherwise.
func (v *View) Write(ctx context.Context, name string, data []byte, base string) (hash string, err error) {
	return v.write(ctx, name, data, base, nil)
}

// write is Write, with what a record says of it; note may be nil.
func (v *View) write(ctx context.Context, name string, data []byte, base string, note func() Note) (hash string, err error) {
	class := classify(v.who, name)
	// SECURITY: the door.
	switch {
	case v.who.May(audience.Write, class):
	case base == "" && v.who.May(audience.Create, class) && v.State() == Bootstrap:
	case v.who.May(audience.Read, class):
		return "", &fs.PathError{Op: "write", Path: name, Err: fs.ErrPermission}
	default:
		return "", missing("write", name)
	}
	return v.replace(ctx, name, class, data, note, func(present []byte) error {
		there := ""
		if present != nil {
			there = Hash(present)
		}
		if there != base {
			return &ConflictError{name, there}
		}
		return nil
	})
}

// locked calls do while whole files are this process's alone to replace. The folder that the lock lies in is kept out of
// version control, as mesh keeps it too: whichever is first makes it.
func (w *Workspace) locked(ctx context.Context, do func() error) error {
	return plain.Locked(ctx, w.root, filesLock, func() error {
		err := plain.Replace(w.root, ignoreFile, []byte("*\n"), func(present []byte) error {
			if present != nil {
				return errKept
			}
			return nil
		})
		if err != nil && !errors.Is(err, errKept) {
			return err
		}
		return do()
	})
}

// credentials reports whether text, which is to take the place of present, has credentials that present has not: what a
// human put there, or what only looks like a credential, does not keep the rest of the file from being edited.
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

// Change is what Update is to make of a file.
type Change struct {
	Data []byte
	// Commit runs when the data is known to be acceptable and is on disk under another name; its error
	// leaves the file as it is. Done runs when the file has been replaced. Both may be nil.
	Commit func() error
	Done   func()
	Note   Note // what a record says of it
}

// Update replaces the file called name by what prepare makes of its present content, nil for none, as Write
// does and under the same lock, so that no other session writes in between. prepare and Commit must not write
// files themselves. Their errors are returned as they are. When a human changes the file meanwhile, prepare is
// asked again.
func (v *View) Update(ctx context.Context, name string, prepare func(present []byte) (Change, error)) (hash string, err error) {
	class := classify(v.who, name)
	// SECURITY: the door.
	switch {
	case v.who.May(audience.Write, class):
	case v.who.May(audience.Read, class):
		return "", &fs.PathError{Op: "write", Path: name, Err: fs.ErrPermission}
	default:
		return "", missing("write", name)
	}
	var own error // of prepare and Commit
	var change Change
	update := func() error {
		err := plain.Update(v.ws.root, name, func(present []byte) ([]byte, error) {
			if change, own = prepare(present); own != nil {
				return nil, own
			}
			own = v.acceptable(name, present, change.Data)
			return change.Data, own
		}, func() error {
			if change.Commit != nil {
				own = change.Commit()
			}
			return own
		})
		if err == nil && change.Done != nil {
			change.Done()
		}
		return err
	}
	err = v.ws.locked(ctx, func() error {
		return v.recorded(ctx, func() Note { return change.Note }, update, name)
	})
	switch {
	case own != nil:
		return "", own
	case err != nil:
		return "", v.fault("write", name, class, err)
	}
	return Hash(change.Data), nil
}

// CheckText is ErrCredentials for a text that must not stand in a workspace file, nor in the record of its edits.
func (v *View) CheckText(text string) error {
	if _, redactions := v.ws.scrub(text); redactions > 0 {
		return ErrCredentials
	}
	return nil
}

// acceptable refuses data in place of present, the content of the file called name.
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

// replace writes the file called name, which the caller has been allowed to, if check agrees to what is there now. note may
// be nil.
func (v *View) replace(ctx context.Context, name string, class audience.Class, data []byte, note func() Note, check func(present []byte) error) (hash string, err error) {
	replace := func() error {
		return plain.Replace(v.ws.root, name, data, func(present []byte) error {
			if err := v.acceptable(name, present, data); err != nil {
				return err
			}
			return check(present)
		})
	}
	err = v.ws.locked(ctx, func() error { return v.recorded(ctx, note, replace, name) })
	if conflict, ok := errors.AsType[*ConflictError](err); ok {
		return "", conflict
	}
	if err != nil {
		return "", v.fault("write", name, class, err)
	}
	return Hash(data), nil
}
