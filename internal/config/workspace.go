package config

import (
	"fmt"
	"os"
)

// Workspace is the setting that names the workspace folder. It has no key, because the config file is in that folder,
// and no default, because a server in a wrong folder would mix up whose memories it keeps.
const Workspace Name = "workspace"

// workspaceSetting declares the flag --workspace.
var workspaceSetting = spec[string]{
	Name: Workspace, help: "workspace folder (required; or YAMO_WORKSPACE)",
	field: func(c *Config) *string { return &c.Workspace },
}

// FolderArgument returns the workspace of a command that takes its folder as the argument DIR, else YAMO_WORKSPACE. It
// fails if that is not a folder that can be opened.
func FolderArgument(args []string, getenv func(string) string) (string, error) {
	dir := getenv(Workspace.Env())
	if len(args) > 0 {
		dir = args[0]
	}
	return dir, CheckWorkspace(dir, "DIR")
}

// CheckWorkspace fails if dir is not a folder that can be opened. place is how the command line names the folder, for
// the error. The folder may be empty: a server also starts before the first boot (RFC-0009 §6.1).
func CheckWorkspace(dir, place string) error {
	if dir == "" {
		return fmt.Errorf("no workspace: set its folder with %s or YAMO_WORKSPACE, "+
			"or create one with yamo-mcp init DIR", place)
	}
	// os.Stat would succeed for a folder that this user may not read.
	folder, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("workspace %q: %w (%s or YAMO_WORKSPACE)", dir, WithoutPath(err), place)
	}
	defer folder.Close() //nolint:errcheck // it was only read
	info, err := folder.Stat()
	if err != nil {
		return fmt.Errorf("workspace %q: %w (%s or YAMO_WORKSPACE)", dir, WithoutPath(err), place)
	}
	if !info.IsDir() {
		return fmt.Errorf("workspace %q: not a folder (%s or YAMO_WORKSPACE)", dir, place)
	}
	return nil
}
