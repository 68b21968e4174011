package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/workspace"
)

var (
	errInternal  = errors.New("internal error")
	errCancelled = errors.New("the call was cancelled")
)

// Guard runs handle and returns its result, or an error whose text may go to the client: a fault, that
// the call was cancelled, that the system refused (a full, read-only or failing disk, a missing permission), or
// "internal error". The detail of the last two and of a panic goes to the log under what, which names the handler.
//
// SECURITY: everything that answers a client runs inside Guard, because mcp-go sends the text of errors
// and the value of panics as they are.
func Guard[T any](
	ctx context.Context, logger *slog.Logger, what string, handle func() (T, error),
) (result T, err error) {
	defer func() {
		// A panic of one call must not end the process: over HTTP it serves other sessions too.
		if r := recover(); r != nil {
			logger.ErrorContext(ctx, "handler panicked", slog.String("handler", what),
				slog.String("error", describePanic(r)), slog.String("stack", string(debug.Stack())))
			err = errInternal
		}
	}()
	result, err = handle()
	if err == nil {
		return result, nil
	}
	// Only the fault's own text: what wraps it may contain a path.
	if told, ok := fault.As(err); ok {
		return result, told
	}
	// Not logged as a failure: clients cancel calls all the time.
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return result, errCancelled
	}
	logger.ErrorContext(ctx, "handler failed", slog.String("handler", what), slog.String("error", withoutPaths(err)))
	return result, refusedBySystem(err)
}

// refusedBySystem returns what the client hears of an error: why the system refused, if a person can correct that, else
// "internal error".
//
// SECURITY: it names no file but those of the memory. A group's handlers open nothing private, so the system's errors
// about their files tell nothing about others.
func refusedBySystem(err error) error {
	if refused, ok := errors.AsType[*workspace.RefusedError](err); ok {
		return fault.New("%v. Ask the workspace owner to put a plain file or folder there", refused)
	}
	if unusable, ok := errors.AsType[*fault.UnusableError](err); ok {
		return fault.New("%s cannot be used: %s. Ask the workspace owner to put %s in its place",
			placed(unusable.Path), unusable.Reason, unusable.Want)
	}
	switch {
	case errors.Is(err, workspace.ErrTooLarge):
		return fault.New("the %v, the maximum that is read as a whole; ask the workspace owner to split it. "+
			"Its beginning is searched", workspace.ErrTooLarge)
	case errors.Is(err, syscall.EROFS):
		return fault.New("the workspace is read-only, so that this was not done, or not all of it. " +
			"Ask its owner to change that; reading still works")
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fault.New("the disk is full or over quota, so that this was not done, or not all of it. " +
			"Ask the workspace owner to free space, then try again")
	case errors.Is(err, syscall.EIO):
		return fault.New("the disk reports an error, so that this was not done or may not last. " +
			"Ask the workspace owner to check the disk, then try again")
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		return fault.New("the system denies access to %s. Ask the workspace owner to correct its owner or mode; "+
			"the server's log has the details", placeOf(err))
	case errors.Is(err, syscall.ELOOP), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EISDIR):
		return fault.New("%s is a link, or is not the file or folder that it must be. Ask the workspace owner to put "+
			"a plain file or folder there; the server's log has the details", placeOf(err))
	case errors.Is(err, syscall.ENOLCK), errors.Is(err, syscall.ENOTSUP):
		return fault.New("the workspace's file system lacks what is needed, such as locks. " +
			"Ask the workspace owner to move it to a local disk")
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return fault.New("too many files are open, so that this was not done. " +
			"Try again later; the workspace owner can raise the limit (ulimit -n)")
	}
	return errInternal
}

// placeOf returns the file or folder of the workspace that a system's error is about, as far as it may be told.
func placeOf(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return placed(e.Path)
	}
	return somewhere
}

// somewhere is a place whose name is not told.
const somewhere = "a file or folder of the workspace"

// placed returns how a path is named to a client.
//
// SECURITY: only files of the memory and Markdown files of the workspace are named, and these are of the audience: a
// session opens no others, and a [workspace.View] looks at none that its audience may not read.
func placed(path string) string {
	if short, ok := fault.InMemory(path); ok {
		return short
	}
	if !filepath.IsAbs(path) && filepath.Ext(path) == ".md" {
		return path
	}
	return somewhere
}

// describePanic returns the text of a panic for the log: that of a runtime error, else only the type of the value.
func describePanic(value any) string {
	// SECURITY: a panic's value can hold anything, memories too; only the runtime's own are told.
	if err, ok := value.(runtime.Error); ok {
		return err.Error()
	}
	return fmt.Sprintf("panic with a %T", value)
}

// withoutPaths returns err's text with the folders of file errors cut off: a log may be sent to others, and the path of
// a home folder names its owner.
func withoutPaths(err error) string {
	text := err.Error()
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		text = withoutFolders(text, e.Path)
	}
	if e, ok := errors.AsType[*fault.UnusableError](err); ok {
		text = withoutFolders(text, e.Path)
	}
	return text
}

// withoutFolders shortens an absolute path in a text: one of the memory to what is in the workspace, others to a name.
func withoutFolders(text, path string) string {
	if !filepath.IsAbs(path) {
		return text
	}
	short, ok := fault.InMemory(path)
	if !ok {
		short = filepath.Base(path)
	}
	return strings.ReplaceAll(text, path, short)
}
