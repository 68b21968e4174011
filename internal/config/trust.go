package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// Approval is what a workspace's own config file sets, for the operator to look at.
type Approval struct {
	Settings []string // "key = value" in the order of the keys; empty: there is nothing to approve
	Trusted  bool

	workspace string
	data      []byte
	getenv    func(string) string
}

// Inspect reads the config file of a workspace for `yamo-mcp trust`. It fails for a file that no approval would make
// valid.
func Inspect(workspace string, getenv func(string) string) (Approval, error) {
	own, data, err := readFolderFile(workspace)
	if err != nil {
		return Approval{}, err
	}
	a := Approval{workspace: workspace, data: data, getenv: getenv}
	for _, key := range slices.Sorted(maps.Keys(own)) {
		a.Settings = append(a.Settings, fmt.Sprintf("%s = %q", key, own[key].text))
	}
	if len(own) > 0 {
		a.Trusted, err = isTrusted(workspace, data, getenv)
	}
	return a, err
}

// Approve records that the operator trusts the file as it was when Inspect read it. After any change of the file, or at
// another place, the approval does not apply.
func (a Approval) Approve() error {
	path, err := approvalFile(a.workspace, a.data, a.getenv)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	// The content is for people who look into the folder; only the name counts, so that a torn write does no harm.
	return os.WriteFile(path, []byte(a.workspace+"\n"), 0o600)
}

// Revoke removes the approval of the file, if there is one.
func (a Approval) Revoke() error {
	path, err := approvalFile(a.workspace, a.data, a.getenv)
	if err != nil {
		return err
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// isTrusted reports whether the operator has approved a config file with the content data in workspace.
func isTrusted(workspace string, data []byte, getenv func(string) string) (bool, error) {
	path, err := approvalFile(workspace, data, getenv)
	if err != nil {
		return false, nil //nolint:nilerr // without a home nothing is approved
	}
	switch _, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("%s: %w", path, WithoutPath(err))
	}
	// SECURITY: an approval that another account could have made is none.
	return true, checkSoleWriter(path)
}

// approvalFile is the file that exists while the operator trusts a config file. Its name is the hash of the workspace's
// path and the content, so that an approval is one file that needs no lock and is never changed. It is not in the
// workspace, which could bring it along.
func approvalFile(workspace string, data []byte, getenv func(string) string) (string, error) {
	dir, err := userFolder(getenv)
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	fmt.Fprintf(hash, "%s\x00%s", resolved(workspace), data) // a path has no zero byte
	return filepath.Join(dir, "trusted", hex.EncodeToString(hash.Sum(nil))), nil
}
