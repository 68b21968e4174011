package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/workspace"
)

// exampleFolder makes a workspace folder with two files.
func exampleFolder() string {
	dir, err := os.MkdirTemp("", "workspace")
	if err != nil {
		log.Fatal(err)
	}
	for name, text := range map[string]string{
		"SOUL.md": "You are Kit.\n", "MEMORY.md": "# Memory\n\n## People\n\n- Ana\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			log.Fatal(err)
		}
	}
	return dir
}

// A group's view has no private files: they are missing, not refused.
func ExampleWorkspace_View() {
	dir := exampleFolder()
	defer os.RemoveAll(dir) //nolint:errcheck // a scratch folder
	w, err := workspace.Open(dir)
	if err != nil {
		log.Fatal(err)
	}
	defer w.Close() //nolint:errcheck // only read
	_, err = w.View(audience.DM()).Read("MEMORY.md")
	fmt.Println("direct conversation:", err)
	var group audience.Audience
	_, err = w.View(group).Read("MEMORY.md")
	fmt.Println("group: missing:", errors.Is(err, fs.ErrNotExist))
	// Output:
	// direct conversation: <nil>
	// group: missing: true
}

// A transaction shows the present content, and replaces it whole or not at all.
func ExampleView_Begin() {
	dir := exampleFolder()
	defer os.RemoveAll(dir) //nolint:errcheck // a scratch folder
	w, err := workspace.Open(dir)
	if err != nil {
		log.Fatal(err)
	}
	defer w.Close() //nolint:errcheck // nothing is open
	add := func(ctx context.Context, item string) (err error) {
		tx, err := w.View(audience.DM()).Begin(ctx, "MEMORY.md")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, tx.Close()) }()
		for {
			staged, err := tx.Stage(append(tx.Present(), "- "+item+"\n"...))
			if err != nil {
				return err
			}
			if staged { // otherwise a person changed the file meanwhile
				return tx.Commit(ctx, workspace.Note{Subject: "MEMORY.md: " + item})
			}
		}
	}
	if err := add(context.Background(), "Luis"); err != nil {
		log.Fatal(err)
	}
	data, err := w.View(audience.DM()).Read("MEMORY.md")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(string(data))
	// Output:
	// # Memory
	//
	// ## People
	//
	// - Ana
	// - Luis
}
