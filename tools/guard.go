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

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
)

var (
	errInternal  = errors.New("internal error")
	errCancelled = errors.New("the call was cancelled")
)

// Guard runs handle and returns its result, or an error whose text may go to the client: a fault, that
// the call was cancelled, or "internal error". The detail of an internal error or a panic goes to the
// log under what, which names the handler.
//
// SECURITY: everything that answers a client runs inside Guard, because mcp-go sends the text of errors
// and the value of panics as they are.
func Guard[T any](ctx context.Context, logger *slog.Logger, what string, handle func() (T, error)) (result T, err error) {
	defer func() {
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
	if told, ok := fault.As(err); ok {
		return result, told
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return result, errCancelled
	}
	logger.ErrorContext(ctx, "handler failed", slog.String("handler", what), slog.String("error", withoutPaths(err)))
	return result, errInternal
}

// describePanic is what the log hears of a panic.
func describePanic(value any) string {
	// SECURITY: a panic's value can hold anything, memories too; only the runtime's own are told.
	if err, ok := value.(runtime.Error); ok {
		return err.Error()
	}
	return fmt.Sprintf("panic with a %T", value)
}

// withoutPaths is err's text with the folders of file errors cut off.
func withoutPaths(err error) string {
	text := err.Error()
	if e, ok := errors.AsType[*fs.PathError](err); ok && filepath.IsAbs(e.Path) {
		text = strings.ReplaceAll(text, e.Path, filepath.Base(e.Path))
	}
	return text
}
