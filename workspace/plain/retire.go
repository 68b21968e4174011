package plain

import (
	"context"
	"errors"
	"io"
	"os"
	"path"

	"github.com/yamo-protocol/yamo-mcp/internal/lockfile"
)

// Retire removes the plain file name below root if keep, which receives its content, returns nil, and returns when that
// is on disk. Nothing is lost: writers that use Append wait meanwhile and continue in a new file, and if the file
// changes in another way, keep is called again. Errors are those of keep and of [Open].
func Retire(ctx context.Context, root *os.Root, name string, keep func(data []byte) error) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		done, err := retireOnce(ctx, root, name, keep)
		if done || err != nil {
			return err
		}
	}
}

func retireOnce(ctx context.Context, root *os.Root, name string, keep func(data []byte) error) (done bool, err error) {
	dir, err := Folder(root, path.Dir(name))
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	base := path.Base(name)
	file, err := Open(dir, base, os.O_RDWR)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, file.Close()) }() // which releases the lock
	if err := lockfile.File(ctx, file); err != nil {
		return false, err
	}
	before, err := file.Stat()
	if err != nil {
		return false, err
	}
	data, err := io.ReadAll(file)
	if err != nil {
		return false, err
	}
	if err := keep(data); err != nil {
		return false, err
	}
	// An editor does not know the lock: what it saved while keep ran must not be removed unseen.
	after, err := dir.Lstat(base)
	if err != nil {
		return false, err
	}
	if !unchanged(before, after) {
		return false, nil
	}
	if err := dir.Remove(base); err != nil {
		return false, err
	}
	return true, syncFolder(dir)
}
