//go:build linux && (amd64 || arm64)

package confine

import (
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

var (
	// SECURITY: io_uring opens sockets and files without the system calls that a filter sees. The others read or control
	// other processes of the user, of which one may serve a DM.
	never = []uint32{
		unix.SYS_IO_URING_SETUP, unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV,
		unix.SYS_PIDFD_GETFD, unix.SYS_KCMP, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
		unix.SYS_MOUNT, unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	}
	programs = []uint32{unix.SYS_EXECVE, unix.SYS_EXECVEAT}
	// Sockets that it was started with, of its host, remain, and so does socketpair, which reaches no other process.
	network = []uint32{unix.SYS_SOCKET}
)

// Process confines the process, with all of its threads. What is not allowed fails with EPERM from then on. An error
// means that nothing has changed, because the kernel lacks or forbids it.
//
// SECURITY: a text of a group that exploits a native library finds neither a shell nor a network.
func Process(allowed Allowed) error {
	raw, err := bpf.Assemble(filter(allowed))
	if err != nil {
		return fmt.Errorf("assemble the filter of system calls: %w", err)
	}
	code := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		code[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	program := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]} //nolint:gosec // a few dozen
	// Both calls must be of one thread. The kernel gives the others the bit with the filter.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("give up privileges: %w", err)
	}
	thread, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC,
		uintptr(unsafe.Pointer(&program))) //nolint:gosec // it is how the call takes it
	if errno != 0 {
		return fmt.Errorf("filter system calls: %w", errno)
	}
	if thread != 0 {
		return fmt.Errorf("filter system calls: thread %d cannot be filtered", thread)
	}
	return nil
}

// filter returns the program that decides about each system call.
func filter(allowed Allowed) []bpf.Instruction {
	const (
		numberAt, archAt = 0, 4 // in struct seccomp_data
		x32              = 0x40000000
	)
	refuse := func(with unix.Errno) bpf.Instruction {
		return bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(with)} //nolint:gosec // a small number
	}
	code := []bpf.Instruction{
		// Calls of another architecture have other numbers.
		bpf.LoadAbsolute{Off: archAt, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: arch, SkipTrue: 1},
		refuse(unix.ENOSYS),
		bpf.LoadAbsolute{Off: numberAt, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpLessThan, Val: x32, SkipTrue: 1},
		refuse(unix.ENOSYS),
	}
	refused := never
	if !allowed.Programs {
		refused = append(slices.Clip(refused), programs...)
	}
	if !allowed.Network {
		refused = append(slices.Clip(refused), network...)
	}
	for _, number := range refused {
		code = append(code, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: number, SkipTrue: 1}, refuse(unix.EPERM))
	}
	return append(code, bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW})
}
