package cli

import (
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/lmittmann/tint"
	"github.com/mattn/go-isatty"
)

// NewLogger logs to w: as colored text if w is a terminal, as JSON lines otherwise. level is debug, info or warn: there
// is none above warn, so that the notice about an assumed audience cannot be turned off. Hosts collect stderr, and
// their logs are easier to search as JSON.
func NewLogger(w io.Writer, level string) (*slog.Logger, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, err
	}
	if IsTerminal(w) {
		return slog.New(tint.NewTextHandler(w, &tint.Options{Level: l, TimeFormat: time.TimeOnly})), nil
	}
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: l})), nil
}

// IsTerminal reports whether w, an io.Reader or io.Writer, is a terminal.
func IsTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}
