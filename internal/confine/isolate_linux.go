//go:build linux && (amd64 || arm64)

package confine

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// isolated is the variable that tells the program, when it is started again, that it is isolated.
const isolated = "YAMO_ISOLATED"

// Versions of Landlock: that which can allow files to be moved between folders, and that which keeps signals in.
const (
	withRefer  = 2
	withScopes = 6
)

// Isolate lets the process neither read the memory of processes that are not isolated with it, as /proc/PID/mem shows
// it to their user, nor send them signals where the kernel can prevent that. It starts the program again in the same
// process, because Landlock isolates a single thread and what that starts. So it returns nil in the second run, and
// never in the first, except with an error: then nothing has changed. prepare is called with what starts the program,
// which returns only with an error.
//
// SECURITY: a filter of system calls does not see which file is opened. The memory of a DM's process is one.
func Isolate(prepare func(start func() error) error) error {
	if os.Getenv(isolated) != "" {
		return os.Unsetenv(isolated)
	}
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return fmt.Errorf("find Landlock: %w", errno)
	}
	if version < withRefer {
		return errors.New("the kernel's Landlock is too old")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	// SECURITY: before the program starts again: what an isolated thread starts is isolated.
	if err := restrict(version >= withScopes); err != nil {
		return err
	}
	// The thread is restricted already, which does no harm: nothing that the program does is refused.
	return prepare(func() error {
		// SECURITY: the other threads of this run are not isolated.
		err := syscall.Exec("/proc/self/exe", os.Args, append(os.Environ(), isolated+"=1")) //nolint:gosec // itself
		return fmt.Errorf("start again: %w", err)
	})
}

// restrict begins a domain of Landlock for this thread. It has to name a right that it rules over: moving files between
// folders, which no domain has otherwise, and which is allowed everywhere.
func restrict(scopes bool) error {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: unix.LANDLOCK_ACCESS_FS_REFER}
	size := unsafe.Sizeof(attr.Handled_access_fs)
	if scopes {
		// SECURITY: a signal could end a DM's process, and with it what it has not written yet.
		attr.Scoped = unix.LANDLOCK_SCOPE_SIGNAL
		size = unsafe.Sizeof(attr)
	}
	rules, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET,
		uintptr(unsafe.Pointer(&attr)), size, 0) //nolint:gosec // it is how the call takes it
	if errno != 0 {
		return fmt.Errorf("make rules of Landlock: %w", errno)
	}
	defer func() { _ = unix.Close(int(rules)) }()
	root, err := unix.Open("/", unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open the root: %w", err)
	}
	defer func() { _ = unix.Close(root) }()
	below := unix.LandlockPathBeneathAttr{
		Allowed_access: unix.LANDLOCK_ACCESS_FS_REFER, Parent_fd: int32(root), //nolint:gosec // a descriptor
	}
	if _, _, errno = unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, rules, unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&below)), 0, 0, 0); errno != 0 { //nolint:gosec // likewise
		return fmt.Errorf("add a rule of Landlock: %w", errno)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("give up privileges: %w", err)
	}
	if _, _, errno = unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, rules, 0, 0); errno != 0 {
		return fmt.Errorf("isolate with Landlock: %w", errno)
	}
	return nil
}
