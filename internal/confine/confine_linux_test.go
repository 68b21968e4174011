//go:build linux && (amd64 || arm64)

package confine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// inside is the variable with which the tests run themselves, since a process cannot be set free again.
const inside = "CONFINE_TEST_ALLOWED"

// beyondPIDs is no process: it is above the kernel's limit of IDs.
const beyondPIDs = 1<<22 + 1

func TestMain(m *testing.M) {
	allowed, ok := os.LookupEnv(inside)
	if !ok {
		os.Exit(m.Run())
	}
	if strings.Contains(allowed, "isolated") {
		if err := Isolate(func(start func() error) error { return start() }); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	// A thread that runs already when the others are confined.
	confined, old := make(chan struct{}), make(chan error)
	go func() {
		runtime.LockOSThread()
		<-confined
		old <- open(unix.AF_INET)
	}()
	if err := Process(Allowed{
		Programs: strings.Contains(allowed, "programs"), Network: strings.Contains(allowed, "network"),
	}); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	close(confined)
	for name, try := range map[string]func() error{
		"exec": func() error { return exec.Command("/bin/true").Run() },
		"inet": func() error { return open(unix.AF_INET) },
		"unix": func() error { return open(unix.AF_UNIX) },
		// Of no process: without a filter, attaching to the parent would stop it.
		"ptrace": func() error { return unix.PtraceAttach(beyondPIDs) },
		"memory": func() error {
			_, err := unix.ProcessVMReadv(os.Getppid(), []unix.Iovec{}, []unix.RemoteIovec{}, 0)
			return err
		},
		"uring": func() error {
			if _, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 0, 0, 0); errno == unix.EPERM {
				return errno
			}
			return nil // without a filter it is another error
		},
		"signal": func() error { return unix.Kill(os.Getppid(), 0) },
		"other's memory": func() error {
			f, err := os.Open(fmt.Sprintf("/proc/%d/mem", os.Getppid()))
			if errors.Is(err, fs.ErrPermission) {
				return unix.EPERM
			}
			if err == nil {
				err = f.Close()
			}
			return err
		},
		"move":       move,
		"file":       func() error { _, err := os.ReadFile("/proc/self/status"); return err },
		"pair":       func() error { _, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0); return err },
		"old thread": func() error { return <-old },
	} {
		if err := try(); errors.Is(err, syscall.EPERM) {
			fmt.Println("no", name)
		} else if err != nil {
			fmt.Println(name, "fails:", err)
		}
	}
}

// move moves a file to another folder, which Landlock refuses unless it is allowed.
func move() error {
	dir, err := os.MkdirTemp("", "confine")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	from, to := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	return errors.Join(os.Mkdir(from, 0o700), os.Mkdir(to, 0o700),
		os.WriteFile(filepath.Join(from, "f"), nil, 0o600), os.Rename(filepath.Join(from, "f"), filepath.Join(to, "f")))
}

func open(domain int) error {
	fd, err := unix.Socket(domain, unix.SOCK_STREAM, 0)
	if err == nil {
		err = unix.Close(fd)
	}
	return err
}

// What is not allowed is refused to each thread, and the rest works.
func TestProcess(t *testing.T) {
	t.Parallel()
	for allowed, want := range map[string][]string{
		"nothing":          {"no exec", "no inet", "no memory", "no old thread", "no ptrace", "no unix", "no uring"},
		"programs":         {"no inet", "no memory", "no old thread", "no ptrace", "no unix", "no uring"},
		"programs network": {"no memory", "no ptrace", "no uring"},
		"programs network isolated": {
			"no memory", "no other's memory", "no ptrace", "no signal", "no uring",
		},
	} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), inside+"="+allowed)
		output, err := cmd.CombinedOutput()
		if err != nil && strings.Contains(string(output), "Landlock") {
			t.Logf("this kernel cannot isolate: %s", output)
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v\n%s", allowed, err, output)
		}
		got := strings.Split(strings.TrimSpace(string(output)), "\n")
		slices.Sort(got)
		got = slices.DeleteFunc(got, func(line string) bool {
			switch line {
			case "no other's memory": // other means of the kernel, such as Yama, refuse it too
				return !strings.Contains(allowed, "isolated")
			case "no signal":
				return landlock() < withScopes
			}
			return false
		})
		want = slices.DeleteFunc(want, func(line string) bool { return line == "no signal" && landlock() < withScopes })
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", allowed, got, want)
		}
	}
}

// landlock is the version of the kernel's Landlock, 0 for none.
func landlock() uintptr {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return version
}

// The numbers of other architectures are refused: on this one they mean something else.
func TestFilter(t *testing.T) {
	t.Parallel()
	vm, err := bpf.NewVM(filter(Allowed{}))
	if err != nil {
		t.Fatal(err)
	}
	const (
		pass = unix.SECCOMP_RET_ALLOW
		no   = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
		none = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	)
	for _, test := range []struct {
		name         string
		number, arch uint32
		want         uint32
	}{
		{"read", unix.SYS_READ, arch, pass},
		{"openat", unix.SYS_OPENAT, arch, pass},
		{"socketpair", unix.SYS_SOCKETPAIR, arch, pass},
		{"execve", unix.SYS_EXECVE, arch, no},
		{"socket", unix.SYS_SOCKET, arch, no},
		{"ptrace", unix.SYS_PTRACE, arch, no},
		{"execve of i386", 11, unix.AUDIT_ARCH_I386, none},
		{"read of ARM", 3, unix.AUDIT_ARCH_ARM, none},
		{"socket of x32", 0x40000000 | unix.SYS_SOCKET, arch, none},
	} {
		// The machine of the package reads big-endian numbers, the kernel's those of the processor.
		data := binary.BigEndian.AppendUint32(nil, test.number)
		data = binary.BigEndian.AppendUint32(data, test.arch)
		if got, err := vm.Run(append(data, make([]byte, 56)...)); err != nil || uint32(got) != test.want {
			t.Errorf("%s: %#x, %v, want %#x", test.name, got, err, test.want)
		}
	}
}
