package fault

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
)

// UnusableError is the error about a file or folder of the memory that is not what it must be, such as a link. It is
// not a fault itself, because its text has a path of this machine: clients get that from the memory's folder on.
type UnusableError struct {
	Path   string // absolute, or relative to the workspace
	Reason string // such as "it is a symbolic link"
	Want   string // what must be there instead, such as "a plain folder"
	Cause  error  // what the system reported, nil if it was not the system
}

// Error names the path, what is wrong with it, and what to put there.
func (e *UnusableError) Error() string {
	return fmt.Sprintf("%s cannot be used: %s; put %s in its place", e.Path, e.Reason, e.Want)
}

// Unwrap returns the system's error.
func (e *UnusableError) Unwrap() error { return e.Cause }

// Unusable returns err as an [UnusableError] about path if the system refused a link or a file of another kind, else
// err as it is.
func Unusable(path, want string, err error) error {
	reason := ""
	switch {
	case errors.Is(err, syscall.ELOOP):
		reason = "it is a symbolic link"
	case errors.Is(err, syscall.EISDIR):
		reason = "it is a folder"
	case errors.Is(err, syscall.ENOTDIR):
		reason = "a part of its path is not a folder"
	default:
		return err
	}
	return &UnusableError{Path: path, Reason: reason, Want: want, Cause: err}
}

// memoryFolder is the folder of the memory in a workspace.
const memoryFolder = ".yamo"

// InMemory returns a path of the memory from its folder on, as in ".yamo/key". ok is false for other paths.
//
// SECURITY: what is above the folder names the account and the machine.
func InMemory(path string) (short string, ok bool) {
	path = filepath.ToSlash(path)
	if path == memoryFolder || strings.HasPrefix(path, memoryFolder+"/") {
		return path, true
	}
	if strings.HasSuffix(path, "/"+memoryFolder) {
		return memoryFolder, true
	}
	at := strings.LastIndex(path, "/"+memoryFolder+"/")
	if at < 0 {
		return "", false
	}
	return path[at+1:], true
}
