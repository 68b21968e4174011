package screen

import (
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"

	"golang.org/x/term"
)

// Print writes the answer: through the person's pager if out is a terminal and has fewer lines.
func (s *Screen) Print() error {
	content := s.content.String()
	if pager := s.pager(); pager != "" && s.terminal != nil {
		_, height, err := term.GetSize(int(s.terminal.Fd()))
		if err == nil && height > 0 && strings.Count(content, "\n") >= height && s.page(pager, content) {
			return nil
		}
	}
	_, err := io.WriteString(s.out, content)
	return err
}

// pager returns the person's pager: $PAGER, less if that is not set, "" for none. Programs that need a terminal with
// a cursor are not started on a dumb one.
func (s *Screen) pager() string {
	if s.getenv("TERM") == "dumb" {
		return ""
	}
	pager := strings.TrimSpace(s.getenv("PAGER"))
	if pager == "cat" {
		return ""
	}
	if pager == "" {
		if path, err := exec.LookPath("less"); err == nil {
			return path
		}
	}
	return pager
}

// page shows content in a pager and returns whether that could be started. What it ends with does not matter: a person
// who leaves before the end has seen what they wanted.
func (s *Screen) page(pager, content string) bool {
	cmd := exec.Command("/bin/sh", "-c", pager) //nolint:gosec // $PAGER is a command line, and the person's own
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(content), s.terminal, s.errs
	cmd.Env = os.Environ()
	if s.getenv("LESS") == "" {
		cmd.Env = append(cmd.Env, "LESS=FRX") // keep the colours, and leave the text on the screen
	}
	// Interrupting is the pager's: less ends a search with it. Without this, the program would end first and leave the
	// pager on the terminal.
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	if err := cmd.Start(); err != nil {
		return false
	}
	const noSuchCommand, notExecutable = 127, 126 // of the shell
	_ = cmd.Wait()
	code := cmd.ProcessState.ExitCode()
	return code != noSuchCommand && code != notExecutable
}
