//go:build linux || darwin

package stdio

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// KeepStdout reserves stdout for the protocol: it returns a file that is the real stdout, and redirects file
// descriptor 1 to stderr. Native libraries print, and a single stray byte on stdout breaks the protocol. Call
// it once, first thing in the program. Child processes do not inherit the file.
func KeepStdout() (*os.File, error) {
	kept, err := unix.FcntlInt(1, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, fmt.Errorf("duplicate stdout: %w", err)
	}
	if err := redirect(1, 2); err != nil {
		return nil, fmt.Errorf("redirect descriptor 1 to stderr: %w", err)
	}
	return os.NewFile(uintptr(kept), "stdout"), nil
}

// WithStdout calls start, which replaces the program in this process, with the file of [KeepStdout] as stdout again.
func WithStdout(kept *os.File, start func() error) error {
	if err := redirect(1, int(kept.Fd())); err != nil {
		return fmt.Errorf("give stdout back: %w", err)
	}
	return errors.Join(start(), redirect(1, 2)) // start has failed if it returns
}
