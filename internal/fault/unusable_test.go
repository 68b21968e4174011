package fault

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"
)

// What the system refuses because of its kind is told with the path and what must be there; other errors stay.
func TestUnusable(t *testing.T) {
	t.Parallel()
	const path = "/home/kim/.yamo/key"
	for errno, reason := range map[syscall.Errno]string{
		syscall.ELOOP:   "it is a symbolic link",
		syscall.EISDIR:  "it is a folder",
		syscall.ENOTDIR: "a part of its path is not a folder",
	} {
		err := Unusable(path, "a file", fmt.Errorf("open: %w", &fs.PathError{Op: "open", Path: path, Err: errno}))
		want := path + " cannot be used: " + reason + "; put a file in its place"
		if err.Error() != want || !errors.Is(err, errno) {
			t.Errorf("%v: %q, want %q with its cause", errno, err, want)
		}
	}
	if err := Unusable(path, "a file", fs.ErrNotExist); err != fs.ErrNotExist { //nolint:errorlint // as it is
		t.Errorf("a missing file: %v", err)
	}
}

// A path is shown from the memory's folder on, whatever is above it.
func TestInMemory(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/home/kim/agent/.yamo":                    ".yamo",
		"/home/kim/.yamo/agent/.yamo/groups/alpha": ".yamo/groups/alpha",
		".yamo/locks/files.lock":                   ".yamo/locks/files.lock",
		"/home/kim/agent/SOUL.md":                  "",
		"/home/kim/agent.yamo/key":                 "",
	} {
		if short, ok := InMemory(path); short != want || ok != (want != "") {
			t.Errorf("%s: %q, %v", path, short, ok)
		}
	}
}
