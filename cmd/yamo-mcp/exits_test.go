package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"
)

// exits is a script command: `exits CODE program args…` runs a program without input and checks its
// exit code. What it printed is in the files stdout.txt and stderr.txt.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE program args…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	path, err := exec.LookPath(args[1])
	ts.Check(err)
	cmd := exec.Command(path, args[2:]...)
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{
		"HOME", "PATH", "YAMO_CACHE", "YAMO_WORKSPACE", "YAMO_CONNECTION", "YAMO_GROUP", "YAMO_AGENT_ID",
		"YAMO_TRANSPORT", "YAMO_LISTEN", "YAMO_CALLS_PER_MINUTE", "YAMO_LOG_LEVEL",
	} {
		if value := ts.Getenv(name); value != "" {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	stdout, err := os.Create(ts.MkAbs("stdout.txt"))
	ts.Check(err)
	stderr, err := os.Create(ts.MkAbs("stderr.txt"))
	ts.Check(err)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	err = cmd.Run()
	ts.Check(stdout.Close())
	ts.Check(stderr.Close())
	got := 0
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		got = failed.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("%s", fmt.Sprintf("exit code %d, want %d\n%s", got, want, ts.ReadFile("stderr.txt")))
	}
}
