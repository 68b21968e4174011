//go:build linux || darwin

package serve

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// KeepStdout takes file descriptor 1 out of everybody's reach: it returns a file that is the real
// stdout and points descriptor 1 at stderr. Native libraries print, and on stdout a single stray byte
// breaks the protocol. Called once, first thing in the program; child processes do not inherit the file.
func KeepStdout() (*os.File, error) {
	kept, err := unix.FcntlInt(1, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, fmt.Errorf("keep stdout aside: %w", err)
	}
	if err := redirect(1, 2); err != nil {
		return nil, fmt.Errorf("point descriptor 1 at stderr: %w", err)
	}
	return os.NewFile(uintptr(kept), "stdout"), nil
}
