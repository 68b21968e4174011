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
// SECURITY: it names no file. A group's handlers open nothing private, so the system's errors about their files tell
// nothing about others.
func refusedBySystem(err error) error {
	if refused, ok := errors.AsType[*workspace.RefusedError](err); ok {
		return fault.New("%v. Ask the workspace owner to put a plain file or folder there", refused)
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
		return fault.New("the system denies access to a file or folder of the workspace. " +
			"Ask the workspace owner to correct its owner or mode; the server's log names it")
	}
	return errInternal
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
	if e, ok := errors.AsType[*fs.PathError](err); ok && filepath.IsAbs(e.Path) {
		text = strings.ReplaceAll(text, e.Path, filepath.Base(e.Path))
	}
	return text
}
