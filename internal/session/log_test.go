package session

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLogNamesNoFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	folder, link := filepath.Join(dir, "ana", "agent"), filepath.Join(dir, "link")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(folder, link); err != nil {
		t.Fatal(err)
	}
	for name, workspace := range map[string]string{"folder": folder, "link": link} {
		var log bytes.Buffer
		logger := relativeLog(slog.New(slog.NewJSONHandler(&log, nil)), workspace)
		file := &fs.PathError{Op: "open", Path: filepath.Join(folder, "SOUL.md"), Err: fs.ErrPermission}
		logger.With("of", fmt.Errorf("close: %w", file)).WithGroup("g").Warn("no file", "folder", workspace,
			"error", errors.Join(file, errors.New("lance: "+workspace+"/.yamo/shared: not found")),
			slog.Group("more", "path", workspace), "n", 3)
		got := log.String()
		if strings.Contains(got, dir) {
			t.Errorf("%s: the log has the folder: %s", name, got)
		}
		for _, want := range []string{
			`"folder":"."`, `"of":"close: open SOUL.md: permission denied"`, `lance: .yamo/shared: not found`,
			`"more":{"path":"."}`, `"n":3`,
		} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: the log has no %s: %s", name, want, got)
			}
		}
	}
}
