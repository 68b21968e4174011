package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every command that shows what a group has completes the groups' names, also with a workspace that a flag names.
func TestCompleteGroups(t *testing.T) {
	t.Parallel()
	workspace := t.TempDir()
	for _, name := range []string{"book-club", "hiking"} {
		if err := os.MkdirAll(filepath.Join(workspace, ".yamo", "groups", name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	env := map[string]string{"HOME": t.TempDir(), "YAMO_WORKSPACE": workspace}
	elsewhere := map[string]string{"HOME": env["HOME"]}
	for _, command := range []string{
		"view", "brief", "serve", "search", "token create", "install", "ledger salvage",
	} {
		for flags, env := range map[string]map[string]string{"": env, "--workspace": elsewhere} {
			args := append([]string{"__complete"}, strings.Fields(command)...)
			if flags != "" {
				args = append(args, flags, workspace)
			}
			stdout, stderr, err := program(t.Context(), t, env, append(args, "--group", "boo")...)
			if names, _, _ := strings.Cut(stdout, ":"); err != nil || names != "book-club\n" {
				t.Errorf("%s %s: %q, %v\n%s", command, flags, stdout, err, stderr)
			}
		}
	}
}
