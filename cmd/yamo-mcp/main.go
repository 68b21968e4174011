// Command yamo-mcp gives an MCP host the memory of a YAMO workspace.
//
// The invariant: stdout carries the answer, under serve only the protocol; logs, notices and errors go to stderr, and
// so does everything that a native library prints.
package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/internal/serve/stdio"
	"github.com/yamo-protocol/yamo-mcp/native"
)

func main() {
	os.Exit(start())
}

// start runs the program and returns its exit code: 0 for success, 1 for a failure, 2 for a command line that was
// wrong, so that nothing was done. Scripts tell by the code whether repeating the command can help.
func start() int {
	// SECURITY: only the owner can read what is written; LanceDB sets no modes itself.
	syscall.Umask(0o077)
	// A host that closes its end of stderr must not end the session with the next log line.
	signal.Ignore(syscall.SIGPIPE)
	// Before anything calls the native libraries: without the instructions they need, the program would die of SIGILL.
	err := native.CheckCPU()
	if err == nil {
		err = onRealStdout()
	}
	if err == nil {
		return 0
	}
	// Errors are printed here only, once; cobra and the commands print none.
	cli.PrintError(errorLine(err))
	if _, ok := errors.AsType[*cli.UsageError](err); ok {
		return 2
	}
	return 1
}

// onRealStdout runs the program with the real stdout, which native libraries can no longer write to: file descriptor 1
// is moved, and stderr is what they have instead. One line of theirs between two messages would end a session over
// stdio.
func onRealStdout() error {
	stdout, err := stdio.KeepStdout()
	if err != nil {
		return err
	}
	// Hosts end servers with SIGTERM or by closing their input, and a terminal sends SIGINT.
	// The first signal asks the program to stop, the second kills it.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	defer stop()
	return run(ctx, arguments(os.Args), os.Getenv, os.Stdin, stdout, os.Stderr)
}
