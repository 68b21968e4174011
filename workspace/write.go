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
var ErrCredentials = errors.New("the text contains credentials, which do not belong in a workspace file: keep them " +
	"in a password manager and write where they are")

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
	return fmt.Sprintf("%s was changed in the meantime and now has the hash %s; nothing was written: read it again, "+
		"work the changes in, and write it with that hash", e.Name, e.Hash)
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
	return v.write(ctx, name, data, base, Note{})
}

// write is Write, with what a record of changes says of it.
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

// lock waits for the lock under which whole files are replaced, and returns the function that releases it. The folder
// of the lock is kept out of version control; mesh makes the same file.
func (w *Workspace) lock(ctx context.Context) (release func() error, err error) {
	release, err = plain.Lock(ctx, w.root, filesLock)
	if err != nil {
		return nil, err
	}
	ifMissing := func(present []byte) (bool, error) { return present == nil, nil }
	if _, err := plain.Replace(w.root, ignoreFile, []byte("*\n"), ifMissing); err != nil {
		return nil, errors.Join(err, release())
	}
	return release, nil
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

// CheckText is ErrCredentials for a text that must not be in a workspace file, nor in the record of its edits.
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
