// Package web starts the built program as a server that clients reach over HTTP, for tests.
//
// Its invariant: a server that was started is asked to stop when the test ends, has to do so well, and leaves nothing.
package web

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience is how long a server may take to start or to stop.
const patience = time.Minute

// Server is a running server. Its tokens are its own.
type Server struct {
	URL string // where clients find it, without a path

	tb     testing.TB
	pid    int
	binary string
	env    []string
	stop   func() error
	made   int // tokens

	mu  sync.Mutex
	log bytes.Buffer
}

var address = regexp.MustCompile(`"address":"([^"]+)"`)

// Start starts binary with flags of serve. It listens on a port of its choice on the loopback interface, unless they
// say otherwise. env is its environment, nil this process's.
func Start(tb testing.TB, binary string, env []string, flags ...string) *Server {
	tb.Helper()
	if env == nil {
		env = os.Environ()
	}
	s := &Server{tb: tb, binary: binary, env: append(env, "YAMO_TOKENS="+filepath.Join(tb.TempDir(), "tokens.json"))}
	args := append(
		[]string{"serve", "--transport", "http", "--listen", "127.0.0.1:0", "--calls-per-minute", "1000000"},
		flags...)
	cmd := exec.Command(binary, args...)
	cmd.Env, cmd.Stderr = s.env, logger{s}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	s.pid = cmd.Process.Pid
	ended := make(chan struct{})
	var end error
	go func() {
		defer close(ended)
		end = cmd.Wait()
	}()
	s.stop = sync.OnceValue(func() error {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		select {
		case <-ended:
			return end
		case <-time.After(patience):
			_ = cmd.Process.Kill()
			<-ended
			return fmt.Errorf("it did not stop within %v", patience)
		}
	})
	tb.Cleanup(func() {
		if log := s.Stop(); strings.Contains(log, "panic") {
			tb.Errorf("the server panicked:\n%s", log)
		}
	})
	for deadline := time.Now().Add(patience); s.URL == ""; {
		select {
		case <-ended:
			tb.Fatalf("the server does not run: %v\n%s", end, s.Log())
		case <-time.After(10 * time.Millisecond):
		}
		if found := address.FindStringSubmatch(s.Log()); found != nil {
			s.URL = "http://" + found[1]
		} else if time.Now().After(deadline) {
			tb.Fatalf("the server does not say where it listens:\n%s", s.Log())
		}
	}
	return s
}

// logger takes what a server writes to stderr.
type logger struct{ *Server }

func (l logger) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.log.Write(p)
}

// PID is the process of the server.
func (s *Server) PID() int { return s.pid }

// Log is what the server has logged so far.
func (s *Server) Log() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

// Stop ends the server as its operator would and returns what it has logged. Further calls change nothing.
func (s *Server) Stop() string {
	s.tb.Helper()
	if err := s.stop(); err != nil {
		s.tb.Errorf("the server ended with %v\n%s", err, s.Log())
	}
	return s.Log()
}

// NewToken makes a token with flags of `token create`, which is called t1, t2, …
func (s *Server) NewToken(flags ...string) string {
	s.tb.Helper()
	s.made++
	return strings.TrimSpace(s.Run(append([]string{"token", "create", "--name", fmt.Sprint("t", s.made)}, flags...)...))
}

// Env returns the environment of the server, for programs that run next to it.
func (s *Server) Env() []string { return slices.Clone(s.env) }

// Run runs the program next to the server and returns its stdout.
func (s *Server) Run(args ...string) string {
	s.tb.Helper()
	var stderr bytes.Buffer
	cmd := exec.Command(s.binary, args...)
	cmd.Env, cmd.Stderr = s.env, &stderr
	output, err := cmd.Output()
	if err != nil {
		s.tb.Fatalf("%q: %v\n%s", args, err, &stderr)
	}
	return string(output)
}
