// Command mutants weakens one enforcement point after another and runs the tests that must notice: a mutant that no
// test kills is an enforcement point that could be lost unnoticed.
//
// A mutant is a replacement of one piece of code, given to the go command as -overlay, so that no file of the
// repository is changed. The program runs in the repository's root, prints a line for each mutant, and fails if one
// survives.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
)

// mutant is one weakened enforcement point.
type mutant struct {
	file     string // relative to the repository
	old, new string // old occurs once
	tests    string // the package whose tests must fail
	run      string // pattern of these tests, "" for all
	guards   string // what it protects
}

// apply returns the text of the file with the replacement.
func (m mutant) apply(root string) (string, error) {
	data, err := os.ReadFile(filepath.Join(root, m.file))
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(data), m.old); n != 1 {
		return "", fmt.Errorf("%s has %d places of %q, want 1: adapt the list to the code", m.file, n, m.old)
	}
	return strings.Replace(string(data), m.old, m.new, 1), nil
}

// errSurvived means that the tests pass with the mutant.
var errSurvived = errors.New("survived")

// kill returns nil if the tests fail with the mutant, errSurvived if they pass. A mutant that does not compile is an
// error, because it shows nothing.
func (m mutant) kill(ctx context.Context, root string) error {
	text, err := m.apply(root)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	changed, overlay := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json")
	replace := map[string]map[string]string{"Replace": {filepath.Join(root, m.file): changed}}
	data, err := json.Marshal(replace)
	if err != nil {
		return err
	}
	if err := errors.Join(os.WriteFile(changed, []byte(text), 0o600), os.WriteFile(overlay, data, 0o600)); err != nil {
		return err
	}
	// In the environment, for the builds of tests that run the program.
	env := append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -overlay="+overlay)
	build := exec.CommandContext(ctx, "go", "test", "-run", "^$", m.tests)
	build.Dir, build.Env = root, env
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("it does not compile: %w\n%s", err, out)
	}
	test := exec.CommandContext(ctx, "go", "test", "-count=1", "-failfast", "-run", m.run, m.tests)
	test.Dir, test.Env = root, env
	out, err := test.CombinedOutput()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil:
		return errSurvived
	case !strings.Contains(string(out), "--- FAIL"):
		return fmt.Errorf("the tests did not run: %w\n%s", err, out)
	}
	return nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	root, err := os.Getwd()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	killed, failed := 0, false
	for _, m := range mutants {
		if len(os.Args) > 1 && !strings.Contains(m.file, os.Args[1]) {
			continue
		}
		start := time.Now()
		err := m.kill(ctx, root)
		verdict := "killed"
		if err != nil {
			verdict, failed = strings.ToUpper(err.Error()), true
		} else {
			killed++
		}
		fmt.Printf("%-9s %5.1fs  %s: %s\n", verdict, time.Since(start).Seconds(), m.file, m.guards)
	}
	fmt.Printf("%d of %d mutants are killed\n", killed, len(mutants))
	if failed {
		os.Exit(1)
	}
}
