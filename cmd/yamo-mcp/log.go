package main

import (
	"io"
	"log/slog"
	"time"

	"github.com/lmittmann/tint"
)

// newLogger logs to w: for people if w is a terminal, JSON lines otherwise. There is no level above
// warn, so that the notice about an audience that had to be assumed cannot be turned off.
func newLogger(w io.Writer, level string) (*slog.Logger, error) {
	levels := map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn}
	l, ok := levels[level]
	if !ok {
		return nil, setting("log-level").wrong("log level %q: it is one of debug, info, warn", level)
	}
	if isTerminal(w) {
		return slog.New(tint.NewTextHandler(w, &tint.Options{Level: l, TimeFormat: time.TimeOnly})), nil
	}
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: l})), nil
}
