package session

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
)

// relativeLog logs as logger does, but with the paths below folder relative to it.
//
// SECURITY: the system's errors, and LanceDB's, contain whole paths. A group must not learn where the workspace is, and
// a log may be sent to others, while the path of a home folder names its owner.
func relativeLog(logger *slog.Logger, folder string) *slog.Logger {
	if folder == "" {
		return logger
	}
	folders := []string{filepath.Clean(folder)}
	if abs, err := filepath.Abs(folder); err == nil {
		folders = append(folders, abs)
		if target, err := filepath.EvalSymlinks(abs); err == nil {
			folders = append(folders, target)
		}
	}
	var pairs []string
	for _, f := range slices.Compact(folders) {
		if filepath.IsAbs(f) {
			pairs = append(pairs, f+string(filepath.Separator), "", f, ".")
		}
	}
	return slog.New(relativeHandler{logger.Handler(), strings.NewReplacer(pairs...)})
}

// relativeHandler removes a folder from the text of records.
type relativeHandler struct {
	slog.Handler
	remove *strings.Replacer
}

// Handle implements slog.Handler.
func (h relativeHandler) Handle(ctx context.Context, r slog.Record) error {
	without := slog.NewRecord(r.Time, r.Level, h.remove.Replace(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		without.AddAttrs(h.attr(a))
		return true
	})
	return h.Handler.Handle(ctx, without)
}

// WithAttrs implements slog.Handler.
func (h relativeHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	without := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		without[i] = h.attr(a)
	}
	return relativeHandler{h.Handler.WithAttrs(without), h.remove}
}

// WithGroup implements slog.Handler.
func (h relativeHandler) WithGroup(name string) slog.Handler {
	return relativeHandler{h.Handler.WithGroup(name), h.remove}
}

// attr returns a with the folder removed from its text, and that of an error or group in it.
func (h relativeHandler) attr(a slog.Attr) slog.Attr {
	value := a.Value.Resolve()
	switch value.Kind() {
	case slog.KindString:
		return slog.String(a.Key, h.remove.Replace(value.String()))
	case slog.KindGroup:
		group := slices.Clone(value.Group())
		for i := range group {
			group[i] = h.attr(group[i])
		}
		return slog.Attr{Key: a.Key, Value: slog.GroupValue(group...)}
	case slog.KindAny:
		if err, ok := value.Any().(error); ok {
			return slog.String(a.Key, h.remove.Replace(err.Error()))
		}
	}
	return slog.Attr{Key: a.Key, Value: value}
}
