package config

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// checkSoleWriter fails if an account other than this one and root can change the file at path, or replace a folder
// above it. Links are followed first, so that the folders of the file itself are checked.
func checkSoleWriter(path string) error {
	for at := resolved(path); ; at = filepath.Dir(at) {
		info, err := os.Lstat(at)
		if err != nil {
			return fmt.Errorf("%s: %w", at, WithoutPath(err))
		}
		if reason := writableByOthers(info); reason != "" {
			return fmt.Errorf("%s: %s, so that settings in or below it cannot be relied on", at, reason)
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

// writableByOthers tells how another account could change a file or folder, "" if it cannot.
func writableByOthers(info fs.FileInfo) string {
	stat := info.Sys().(*syscall.Stat_t)
	user := uint32(os.Geteuid()) //nolint:gosec // user numbers are not negative on the systems that have Stat_t
	mode := info.Mode()
	// In a sticky folder, such as /tmp, only the owner of a file can rename or remove it.
	sticky := mode.IsDir() && mode&fs.ModeSticky != 0
	// Many systems give each user a group with the same number, whose only member the user is. Root's group has others.
	private := stat.Gid == user && user != 0
	switch {
	case stat.Uid != user && stat.Uid != 0:
		return fmt.Sprintf("another user (%d) owns it", stat.Uid)
	case mode.Perm()&0o002 != 0 && !sticky, mode.Perm()&0o020 != 0 && !sticky && !private:
		return "other users can write it (run chmod go-w on it)"
	}
	return ""
}
