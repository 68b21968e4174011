package mesh

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// checkFolders returns an error if anything from .yamo down to dir exists and is not a folder.
//
// SECURITY: a link could lead one audience's store into another one's.
func (v *View) checkFolders(dir string) error {
	for ; ; dir = filepath.Dir(dir) {
		info, err := os.Lstat(dir)
		// What is above a name of which there can be none is looked at next.
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			return fmt.Errorf("open memory: %w", err)
		}
		if err == nil && !info.IsDir() {
			reason := "it is not a folder"
			if info.Mode()&fs.ModeSymlink != 0 {
				reason = "it is a symbolic link"
			}
			return &fault.UnusableError{Path: dir, Reason: reason, Want: "a plain folder"}
		}
		if dir == v.Dir {
			return nil
		}
	}
}

// compartments opens everything this audience may read, its own compartment first, and applies what other processes
// have written. A compartment that cannot be read, or not all of it, is listed in damaged; of a damaged ledger it has
// the entries before the damage. If it is the audience's own that is an error: an answer without recent memories would
// look as if they had never been stored.
func (v *View) compartments(ctx context.Context) (stores []*compartment, damaged []record.Visibility, err error) {
	names, err := v.visible()
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		var c *compartment
		err := v.withCompartment(ctx, name, func(opened *compartment) error {
			c = opened
			return c.Sync(ctx)
		})
		_, corrupt := errors.AsType[*ledger.CorruptError](err)
		switch {
		case err == nil:
			stores = append(stores, c)
		case name == v.home() || !corrupt && !unreadable(err):
			return nil, nil, err
		case corrupt:
			stores, damaged = append(stores, c), append(damaged, name)
		default:
			damaged = append(damaged, name)
		}
		if err != nil {
			v.logUnreadable(ctx, name, err)
		}
	}
	return stores, damaged, nil
}

// unreadable reports whether err is about what a compartment's files are: trying again does not help, and it must not
// keep a session from the others. A group's folder may have been moved, or be another account's.
func unreadable(err error) bool {
	_, unusable := errors.AsType[*fault.UnusableError](err)
	return unusable || errors.Is(err, fs.ErrPermission)
}

// denied returns the error of closing an index, nil after it was logged if the system does not let this process write
// there, or the disk is full: nothing is lost, and a process that only reads has no failure.
func (v *View) denied(ctx context.Context, err error) error {
	if !unreadable(err) && !errors.Is(err, syscall.EROFS) && !full(err) {
		return err
	}
	v.Logger.WarnContext(ctx, "the memory index cannot be written; a process that may write it continues with it",
		"error", err)
	return nil
}

// full reports whether an error is that of a disk without room. LanceDB has the system's error in its text only.
func full(err error) bool {
	return err != nil && (errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) ||
		strings.Contains(err.Error(), fmt.Sprintf("(os error %d)", int(syscall.ENOSPC))))
}

// logUnreadable tells the operator once what is wrong with a compartment.
func (v *View) logUnreadable(ctx context.Context, name record.Visibility, err error) {
	if _, again := v.unreadable.LoadOrStore(name, true); again {
		return
	}
	if corrupt, ok := errors.AsType[*ledger.CorruptError](err); ok {
		v.Logger.ErrorContext(ctx, "a ledger is damaged", "compartment", name, "line", corrupt.Line, "error", corrupt.Err)
		return
	}
	v.Logger.ErrorContext(ctx, "a ledger cannot be read; its memories are left out", "compartment", name, "error", err)
}
