// Package web starts the built program as a server that clients reach over HTTP, for tests.
package web

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

// Server is a running server of one workspace.
type Server struct {
	Address string // host and port

	binary, tokens string

	mu   sync.Mutex
	log  bytes.Buffer
	made map[string]string // tokens by group
}

// URL is where clients find the server, without a path.
func (s *Server) URL() string { return "http://" + s.Address }

// Start starts binary over the workspace, with further flags. It is asked to stop when the test ends, and has to do so well.
func Start(tb testing.TB, binary, workspace string, flags ...string) *Server {
	tb.Helper()
	s := &Server{binary: binary, tokens: filepath.Join(tb.TempDir(), "tokens.json"), made: map[string]string{}}
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
	for s.Address == "" && lines.Scan() {
		s.note(lines.Bytes())
		var line struct{ Address string }
		if json.Unmarshal(lines.Bytes(), &line) == nil {
			s.Address = line.Address
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
			tb.Errorf("the server ended with %v\n%s", err, s.Log())
		}
		if strings.Contains(s.Log(), "panic") {
			tb.Errorf("the server panicked:\n%s", s.Log())
		}
	})
	if s.Address == "" {
		<-ended
		tb.Fatalf("the server does not say where it listens:\n%s", s.Log())
	}
	return s
}

func (s *Server) note(line []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log.Write(append(line, '\n'))
}

// Log is what the server has logged.
func (s *Server) Log() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

// Token is a token for a group, or for a DM if group is ""; it is made when it is first asked for.
func (s *Server) Token(tb testing.TB, group string) string {
	tb.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if token := s.made[group]; token != "" {
		return token
	}
	args := []string{"token", "create", "--tokens", s.tokens, "--name", "test-" + group, "--connection", "dm"}
	if group != "" {
		args = append(args[:len(args)-1], "group", "--group", group)
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(s.binary, args...)
	cmd.Stdout, cmd.Stderr, cmd.Env = &stdout, &stderr, os.Environ()
	if err := cmd.Run(); err != nil {
		tb.Fatalf("token create: %v\n%s", err, &stderr)
	}
	s.made[group] = strings.TrimSpace(stdout.String())
	return s.made[group]
}
