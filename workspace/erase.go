package workspace

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
)

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
