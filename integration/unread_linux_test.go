package integration

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A host that has asked for more than its pipe holds, and more than the server queues, and reads nothing, does not keep
// the process alive after the end of the input or a signal.
func TestHostThatReadsNothing(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(io.Closer, *os.Process) error{
		"end of input": func(stdin io.Closer, _ *os.Process) error { return stdin.Close() },
		"signal":       func(_ io.Closer, process *os.Process) error { return process.Signal(syscall.SIGTERM) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := launch{workspace: sample(t), cache: t.TempDir()}
			cmd := exec.Command(serverBinary(t), h.args()...)
			var stderr bytes.Buffer
			cmd.Env, cmd.Stderr = h.environment(), &stderr
			stdin, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			unread, stdout, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = unread.Close() }()
			cmd.Stdout = stdout
			if err := errors.Join(cmd.Start(), stdout.Close()); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = cmd.Process.Kill() }()
			ask(t, stdin, unread)
			// Until the pipe is full: from then on the server is writing.
			for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
				if n, err := unix.IoctlGetInt(int(unread.Fd()), unix.TIOCINQ); err != nil || n > 60_000 {
					break
				}
				if time.Since(begun) > patience {
					t.Fatalf("the server does not write:\n%s", &stderr)
				}
			}
			if err := end(stdin, cmd.Process); err != nil {
				t.Fatal(err)
			}
			done := make(chan struct{})
			go func() {
				_ = cmd.Wait() // the exit code is checked below
				close(done)
			}()
			select {
			case <-done:
			case <-time.After(patience):
				t.Fatal("it goes on")
			}
			if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(stderr.String(), "does not read") {
				t.Errorf("it ended with %v:\n%s", cmd.ProcessState, &stderr)
			}
		})
	}
}

// A host that never reads stderr, as many do, gets its answers all the same, and the process ends.
func TestHostThatReadsNoLog(t *testing.T) {
	t.Parallel()
	h := launch{workspace: sample(t), cache: t.TempDir()}
	cmd := exec.Command(serverBinary(t), append(h.args(), "--log-level", "debug")...)
	cmd.Env = h.environment()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	unread, stderr, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unread.Close() }()
	cmd.Stderr = stderr
	if err := errors.Join(cmd.Start(), stderr.Close()); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 16<<20)
	requests := 0
	// Until the pipe is full, and as many requests again.
	full := 0
	for begun := time.Now(); full == 0 || requests < 2*full; requests++ {
		message := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"my_stats","arguments":{}}}`
		if requests == 0 {
			message = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
				`"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
		}
		if _, err := io.WriteString(stdin, message+"\n"); err != nil {
			t.Fatal(err)
		}
		if !waitFor(patience, lines.Scan) {
			t.Fatalf("no answer to request %d", requests)
		}
		n, err := unix.IoctlGetInt(int(unread.Fd()), unix.TIOCINQ)
		if full == 0 && (err != nil || n > 60_000) {
			full = requests
		}
		if time.Since(begun) > 2*patience {
			t.Fatalf("the log has %d bytes after %d requests", n, requests)
		}
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if !waitFor(patience, func() bool { return cmd.Wait() == nil }) {
		t.Errorf("it did not end well: %v", cmd.ProcessState)
	}
}

// waitFor calls is in the background and returns its answer, or false after a time.
func waitFor(most time.Duration, is func() bool) bool {
	answer := make(chan bool, 1)
	go func() { answer <- is() }()
	select {
	case ok := <-answer:
		return ok
	case <-time.After(most):
		return false
	}
}

// ask introduces a host, reads that answer, and then sends many requests.
func ask(t *testing.T, stdin io.Writer, stdout io.Reader) {
	t.Helper()
	const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
		`"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n"
	if _, err := io.WriteString(stdin, hello); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	requests := `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	for id := 1; id < 400; id++ {
		method := `"tools/call","params":{"name":"who_am_i","arguments":{}}`
		if id < 20 { // these are long
			method = `"tools/list"`
		}
		requests += fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%s}`+"\n", id, method)
	}
	if _, err := io.WriteString(stdin, requests); err != nil {
		t.Fatal(err)
	}
}
