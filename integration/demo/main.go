// Command demo shows what yamo-mcp does: an MCP client talks to the real program over stdio, on a copy of
// a sample workspace, and prints what it asked and what came back.
//
//	demo -server bin/yamo-mcp
//
// Its invariant: whatever it prints as true, it has checked. It ends with exit code 1 at the first claim
// that does not hold.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	server := flag.String("server", "bin/yamo-mcp", "the program to show")
	sample := flag.String("workspace", "testdata/workspaces/kate", "the workspace to show it on; it is copied")
	keep := flag.String("keep", "", "folder to leave the copy in, replaced if it exists; \"\" removes the copy")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *server, *sample, *keep)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "\ndemo:", err)
		os.Exit(1)
	}
}

// run copies the workspace, takes the walk and removes the copy, or leaves it in the folder keep.
func run(ctx context.Context, server, sample, keep string) (err error) {
	began := time.Now()
	server, err = filepath.Abs(server)
	if err != nil {
		return err
	}
	if _, err := os.Stat(server); err != nil {
		return fmt.Errorf("the program is not there (run `make` first): %w", err)
	}
	dir, err := os.MkdirTemp("", "yamo-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	workspace := filepath.Join(dir, "kate")
	if err := os.CopyFS(workspace, os.DirFS(sample)); err != nil {
		return fmt.Errorf("copy the sample workspace: %w", err)
	}
	w := &walk{ctx: ctx, server: server, workspace: workspace, out: os.Stdout}
	defer func() { err = errors.Join(err, w.close()) }()
	for _, part := range []func() error{
		w.meet, w.remember, w.recall, w.learn, w.read, w.edit, w.share, w.group, w.origin, w.dream, w.crash, w.rebuild,
	} {
		if err := part(); err != nil {
			return err
		}
	}
	if err := w.close(); err != nil {
		return err
	}
	w.title("Done")
	w.say("%d claims were checked; every one held. (%.0f s)", w.checked, time.Since(began).Seconds())
	if keep == "" {
		return nil
	}
	if err := leave(workspace, keep); err != nil {
		return fmt.Errorf("keep the workspace: %w", err)
	}
	w.say("See Kate's memory in the browser, where a proposal waits for you:")
	// On a line of its own: a command that is broken in two cannot be copied.
	fmt.Fprintf(w.out, "   %s view --workspace %s\n", server, keep)
	return nil
}

// leave copies what the walk made to keep, for a person to look at.
func leave(workspace, keep string) error {
	syscall.Umask(0o077) // as the program does: a copy of its key is for its owner
	// Only what an earlier run has left is replaced.
	if _, err := os.Stat(filepath.Join(keep, ".yamo")); err == nil {
		if err := os.RemoveAll(keep); err != nil {
			return err
		}
	}
	return os.CopyFS(keep, os.DirFS(workspace))
}
