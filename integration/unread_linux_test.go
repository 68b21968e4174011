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
