package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// initialization is a host's first request.
const initialization = `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"host","version":"1"}}`

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":` + initialization + "}\n"

// startProgram starts the real program on a workspace and returns it with its pipes.
func startProgram(tb testing.TB) (cmd *exec.Cmd, stdin io.WriteCloser, stdout *bufio.Reader, stderr *bytes.Buffer) {
	tb.Helper()
	workspace := tb.TempDir()
	if err := os.WriteFile(filepath.Join(workspace, "SOUL.md"), []byte("# Soul\n"), 0o600); err != nil {
		tb.Fatal(err)
	}
	cmd = exec.Command("yamo-mcp", "serve", "--workspace", workspace, "--connection", "dm")
	cmd.Env = []string{"HOME=" + workspace, "PATH=" + os.Getenv("PATH")}
	stderr = new(bytes.Buffer)
	cmd.Stderr = stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd, stdin, bufio.NewReader(out), stderr
}

// A host that stops the program with a signal gets a clean end, with the input still open.
func TestSignalEndsTheProgram(t *testing.T) {
	t.Parallel()
	for _, signal := range []os.Signal{syscall.SIGTERM, syscall.SIGINT} {
		cmd, stdin, stdout, stderr := startProgram(t)
		if _, err := io.WriteString(stdin, initialize); err != nil {
			t.Fatal(err)
		}
		if answer, err := stdout.ReadString('\n'); err != nil || !strings.Contains(answer, `"id":1`) {
			t.Fatalf("answer %q, %v\n%s", answer, err, stderr)
		}
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("%v: %v\n%s", signal, err, stderr)
			}
		case <-time.After(2 * time.Minute):
			t.Fatalf("%v did not end the program", signal)
		}
	}
}

// BenchmarkInitialize measures from the start of the process to its answer to initialize.
func BenchmarkInitialize(b *testing.B) {
	for b.Loop() {
		cmd, stdin, stdout, stderr := startProgram(b)
		if _, err := io.WriteString(stdin, initialize); err != nil {
			b.Fatal(err)
		}
		if _, err := stdout.ReadString('\n'); err != nil {
			b.Fatalf("%v\n%s", err, stderr)
		}
		b.StopTimer()
		if err := stdin.Close(); err != nil {
			b.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			b.Fatalf("%v\n%s", err, stderr)
		}
		b.StartTimer()
	}
}
