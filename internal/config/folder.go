package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
)

// userFolder is the folder of this program in the user's configuration folder: in ~/Library/Application Support on
// macOS, elsewhere in $XDG_CONFIG_HOME or ~/.config. It fails if none of them is known.
func userFolder(getenv func(string) string) (string, error) {
	home := getenv("HOME")
	if runtime.GOOS == "darwin" && home != "" {
		return filepath.Join(home, "Library", "Application Support", "yamo-mcp"), nil
	}
	// The XDG specification requires relative paths in this variable to be ignored.
	if dir := getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "yamo-mcp"), nil
	}
	if home == "" {
		return "", errors.New("cannot locate your configuration folder: set HOME or XDG_CONFIG_HOME")
	}
	return filepath.Join(home, ".config", "yamo-mcp"), nil
}

// StateFolder returns the folder in which this program keeps what is about a workspace but not in it: yamo-mcp in
// $XDG_STATE_HOME or ~/.local/state, "" if neither is known.
func StateFolder(getenv func(string) string) string {
	if dir := getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "yamo-mcp")
	}
	if home := getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "state", "yamo-mcp")
	}
	return ""
}

// HeadFolder returns the folder that notes the last entries of a workspace's ledgers: in the StateFolder, named by the
// workspace's path. It is "" without a StateFolder: then nothing is noted. It is not in the workspace, so that a
// restored or shortened workspace does not bring its own along.
func HeadFolder(workspace string, getenv func(string) string) string {
	dir := StateFolder(getenv)
	if dir == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(resolved(workspace)))
	return filepath.Join(dir, "heads", hex.EncodeToString(sum[:16]))
}

// OperatorFile returns the path of the operator's config file, which need not exist. It fails if the operator's home is
// not known.
func OperatorFile(getenv func(string) string) (string, error) {
	dir, err := userFolder(getenv)
	return filepath.Join(dir, "config.toml"), err
}

// TokenFile returns the absolute path of the token file: named, or tokens.json in the folder of this program in the
// user's configuration folder. It fails if neither is known.
//
// The file is not in the workspace: one server can serve several workspaces, and what an agent can write to must not
// decide who has access.
func TokenFile(named string, getenv func(string) string) (string, error) {
	if named != "" {
		return filepath.Abs(Expand(named, getenv))
	}
	dir, err := userFolder(getenv)
	if err != nil {
		return "", fmt.Errorf("%w, or name a token file with --tokens or YAMO_TOKENS", err)
	}
	return filepath.Join(dir, "tokens.json"), nil
}
