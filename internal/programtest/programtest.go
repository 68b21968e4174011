// Package programtest writes programs for tests to run.
//
// Invariant: no process has a written program open for writing when the test runs it. A child that another test starts
// while the file is open inherits the descriptor until it executes its own program, and Linux does not run a program
// that is open for writing ("text file busy").
package programtest

import (
	"os"
	"syscall"
	"testing"
)

// Write writes an executable file.
func Write(tb testing.TB, name, content string) {
	tb.Helper()
	err := WithoutForks(func() error {
		return os.WriteFile(name, []byte(content), 0o700) // #nosec G306 -- a program
	})
	if err != nil {
		tb.Fatal(err)
	}
}

// WithoutForks calls write while this process starts no other one.
func WithoutForks(write func() error) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return write()
}
