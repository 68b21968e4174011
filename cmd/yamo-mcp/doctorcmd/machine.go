package doctorcmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/yamo-protocol/yamo-mcp/internal/assets"
	"github.com/yamo-protocol/yamo-mcp/internal/config"
	"github.com/yamo-protocol/yamo-mcp/internal/lockfile"
	"github.com/yamo-protocol/yamo-mcp/internal/session"
	"github.com/yamo-protocol/yamo-mcp/native"
)

// program checks which program this is.
func (d *doctor) program() {
	path, err := os.Executable()
	if err != nil {
		d.problem("program", "its own path is unknown: "+err.Error(), "start it by its full path")
		return
	}
	d.fine("program", "%s, version %s", path, d.Version)
	found, err := exec.LookPath("yamo-mcp")
	if err != nil {
		return // hosts have the full path
	}
	a, errA := os.Stat(found)
	b, errB := os.Stat(path)
	if errA == nil && errB == nil && !os.SameFile(a, b) {
		d.note("program", "PATH has another one first: "+found, "remove one of them, or run the one you mean by its path")
	}
}

// native checks the libraries that are linked in.
func (d *doctor) native() {
	v := native.Linked()
	// Before anything of them is called; the program would not have started otherwise.
	d.fine("native", "LanceDB %s, tokenizers %s; the processor has what they need", v.LanceDB, v.Tokenizers)
}

// assets checks the files of semantic search.
func (d *doctor) assets() {
	status, err := assets.Check(d.Getenv)
	if err != nil {
		d.problem("assets", err.Error(), "set HOME or YAMO_CACHE, then yamo-mcp setup")
		return
	}
	if missing := status.Missing(); len(missing) > 0 {
		d.problem("assets", "searches match words only; missing in "+status.Dir+": "+strings.Join(missing, ", "),
			"yamo-mcp setup")
		return
	}
	d.fine("assets", "the model for semantic search is in %s", status.Dir)
}

// locks checks that the workspace's file system has locks, and which are held.
func (d *doctor) locks() {
	dir := filepath.Join(d.Config.Workspace, session.MemoryFolder, "locks")
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		d.problem("locks", "cannot read "+dir+": "+err.Error(), "run it as the user who owns the workspace")
		return
	}
	var held []string
	for _, e := range entries {
		release, free, err := lockfile.TryExclusive(filepath.Join(dir, e.Name()))
		if err != nil {
			d.problem("locks", "cannot lock "+e.Name()+": "+err.Error(),
				fixOf(err, "move the workspace to a file system with locks (flock), not a network share"))
			return
		}
		if !free {
			held = append(held, strings.TrimSuffix(e.Name(), ".lock"))
			continue
		}
		if err := release(); err != nil {
			d.problem("locks", "cannot unlock "+e.Name()+": "+err.Error(), "restart the hosts")
			return
		}
	}
	if len(held) > 0 {
		d.note("locks", "in use by another process at this moment: "+strings.Join(held, ", "),
			"nothing, unless it stays so for minutes; then restart the hosts")
		return
	}
	d.fine("locks", "free: %d", len(entries))
}

// The disk must have room for LanceDB's copies while it compacts; the ledger itself needs little.
const leastFree = 512 << 20

// access reports files of the memory to which other accounts had access. The other checks open them, which takes the
// access away.
func (d *doctor) access() {
	for _, pattern := range []string{"key", "*/*.ndjson", "groups/*/*.ndjson"} {
		files, err := filepath.Glob(filepath.Join(d.Config.Workspace, session.MemoryFolder, pattern))
		if err != nil {
			continue // the folder's name is a pattern
		}
		for _, file := range files {
			if info, err := os.Lstat(file); err == nil && info.Mode().Perm()&0o077 != 0 {
				d.problem("access", fmt.Sprintf("other accounts had access to %s (mode %o); what they could write is checked "+
					"by its MACs, unless they have read the key", file, info.Mode().Perm()),
					"chmod 600 "+quoted(file)+", then yamo-mcp ledger verify --workspace "+quoted(d.Config.Workspace))
			}
		}
	}
}

// writable is what solves a denied access.
const writable = "chown or chmod it, or mount it writable"

// fixOf returns what solves a denied access, and otherwise fix.
func fixOf(err error, fix string) string {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return writable
	}
	return fix
}

// network names the addresses to which a session of the workspace sends texts, by the environment and the config files.
func (d *doctor) network() {
	settings, err := config.Read(d.Config.Workspace, d.Getenv, config.All()...)
	if err != nil {
		d.problem("network", err.Error(), "correct the setting that it names (docs/settings.md)")
		return
	}
	settings.Embedder = d.Config.Embedder // this command has flags for it
	all := settings.Destinations(d.Getenv)
	for _, destination := range all {
		d.note("network", "texts leave this machine: "+destination, "nothing, if you want that")
	}
	if len(all) == 0 {
		d.fine("network", "no text leaves this machine")
	}
}

// disk checks that the workspace can be written and has room.
func (d *doctor) disk() {
	dir := d.Config.Workspace
	if below := filepath.Join(dir, session.MemoryFolder); exists(below) {
		dir = below
	}
	if err := syscall.Access(dir, 2|1); err != nil {
		d.problem("disk", "cannot write to "+dir+": "+err.Error(), writable)
		return
	}
	var space syscall.Statfs_t
	if err := syscall.Statfs(dir, &space); err != nil {
		d.problem("disk", "cannot ask for its free space: "+err.Error(), "check the file system")
		return
	}
	free := uint64(space.Bavail) * uint64(space.Bsize) //nolint:gosec,unconvert // the types differ between platforms
	if free < leastFree {
		d.problem("disk", bytesText(free)+" free", "make room: memories are not stored when the disk is full")
		return
	}
	if info, err := os.Stat(dir); err == nil && info.Mode().Perm()&0o077 != 0 && dir != d.Config.Workspace {
		d.problem("disk", "other accounts can open "+dir, "chmod 700 "+quoted(dir))
		return
	}
	d.fine("disk", "%s free", bytesText(free))
}

// bytesText is a number of bytes for people.
func bytesText(n uint64) string {
	if n >= 10<<30 {
		return fmt.Sprintf("%d GiB", n>>30)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}
