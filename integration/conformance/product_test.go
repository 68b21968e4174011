package conformance

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// product is the built program, which serves one workspace over HTTP.
type product struct {
	address string

	binary, tokens string
	log            bytes.Buffer
	mu             sync.Mutex
}

// startProduct starts binary over the workspace, with further flags. It is asked to stop when the test ends, and has to do so well.
func startProduct(tb testing.TB, binary, workspace string, flags ...string) *product {
	tb.Helper()
	s := &product{binary: binary, tokens: filepath.Join(tb.TempDir(), "tokens.json")}
	args := append([]string{
		"serve", "--transport", "http", "--listen", "127.0.0.1:0", "--workspace", workspace, "--tokens", s.tokens, "--calls-per-minute", "1000000",
	}, flags...)
	cmd := exec.Command(binary, args...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	lines.Buffer(nil, 1<<20)
	for s.address == "" && lines.Scan() {
		s.note(lines.Bytes())
		var line struct{ Address string }
		if json.Unmarshal(lines.Bytes(), &line) == nil {
			s.address = line.Address
		}
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for lines.Scan() {
			s.note(lines.Bytes())
		}
		_, _ = io.Copy(io.Discard, stderr) // a line that was too long
	}()
	tb.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-ended
		if err := cmd.Wait(); err != nil {
			tb.Errorf("the server ended with %v\n%s", err, s.logged())
		}
		if strings.Contains(s.logged(), "panic") {
			tb.Errorf("the server panicked:\n%s", s.logged())
		}
	})
	if s.address == "" {
		<-ended
		tb.Fatalf("the server does not say where it listens:\n%s", s.logged())
	}
	return s
}

func (s *product) note(line []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log.Write(append(line, '\n'))
}

// logged is what the server has logged.
func (s *product) logged() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

// token makes a DM's token.
func (s *product) token(tb testing.TB) string {
	tb.Helper()
	args := []string{"token", "create", "--tokens", s.tokens, "--name", "suite", "--connection", "dm"}
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(s.binary, args...)
	cmd.Stdout, cmd.Stderr, cmd.Env = &stdout, &stderr, os.Environ()
	if err := cmd.Run(); err != nil {
		tb.Fatalf("token create: %v\n%s", err, &stderr)
	}
	return strings.TrimSpace(stdout.String())
}
