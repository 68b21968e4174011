package hookcmd

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/session"
	"github.com/yamo-protocol/yamo-mcp/workspace/plain"
)

// folder is what the hooks of one audience keep, below its compartment of the memory.
type folder struct{ root *os.Root }

// DirOfDM is where the hooks of direct conversations keep their log, relative to the workspace.
const DirOfDM = session.MemoryFolder + "/private/hooks"

// Dir returns where the hooks of an audience keep their log, relative to the workspace and with slashes.
func Dir(who audience.Audience) string {
	if who.IsDM() {
		return DirOfDM
	}
	return path.Join(session.MemoryFolder, "groups", who.Group(), "hooks")
}

// openFolder opens the folder of an audience, which is created if it is missing.
//
// SECURITY: no element of its path may be a link, which could lead a group's hook into what is private.
func openFolder(workspace string, who audience.Audience) (*folder, error) {
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // it was only read
	dir := ""
	for element := range strings.SplitSeq(Dir(who), "/") {
		dir = path.Join(dir, element)
		if err := root.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		if dir == session.MemoryFolder {
			// As the memory does: whichever comes first, the folder is never committed by accident.
			ifMissing := func(present []byte) (bool, error) { return present == nil, nil }
			if _, err := plain.Replace(root, path.Join(dir, ".gitignore"), []byte("*\n"), ifMissing); err != nil {
				return nil, err
			}
		}
	}
	opened, err := plain.Folder(root, Dir(who))
	if err != nil {
		return nil, err
	}
	return &folder{opened}, nil
}

// state is what the hooks know of one session of a host.
type state struct {
	Started time.Time `json:"started"`          // of the session
	Shown   []string  `json:"shown,omitempty"`  // ids that were put before the model
	Prompt  string    `json:"prompt,omitempty"` // that has no answer in the log yet
	Logged  bool      `json:"logged,omitempty"` // the log has something of this session

	Log    string   `json:"log,omitempty"`    // mark of the path of the host's log
	Read   int64    `json:"read,omitempty"`   // how far it was read, in bytes
	Rows   []string `json:"rows,omitempty"`   // marks of its rows that were read last
	Early  []string `json:"early,omitempty"`  // marks of turns that were recorded before the host's log had them
	Answer string   `json:"answer,omitempty"` // mark of the last answer
}

// keepStates is how long the state of a session that nothing ended is kept.
const keepStates = 14 * 24 * time.Hour

// stateName returns the file of a session's state. Hosts choose the IDs, so that they are not names of files.
func stateName(sessionID string) string {
	sum := sha256.Sum256([]byte(sessionID))
	return "session-" + hex.EncodeToString(sum[:12]) + ".json"
}

// load returns the state of a session. A missing or damaged one is a new one.
func (f *folder) load(sessionID string, now time.Time) state {
	var s state
	data, _, err := plain.Read(f.root, stateName(sessionID), 1<<20)
	if err != nil || json.Unmarshal(data, &s) != nil || s.Started.IsZero() {
		return state{Started: now}
	}
	return s
}

// save replaces the state of a session. Two hooks of one session at the same time are rare, and then the last one wins:
// at worst a memory is shown twice.
func (f *folder) save(sessionID string, s state) error {
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	name := stateName(sessionID)
	temporary := fmt.Sprintf(".%s-%d", name, os.Getpid())
	if err := f.root.WriteFile(temporary, data, 0o600); err != nil {
		return err
	}
	return f.root.Rename(temporary, name)
}

// locked calls do while no other hook of the audience records what was said.
func (f *folder) locked(ctx context.Context, do func() error) error {
	release, err := plain.Lock(ctx, f.root, "hooks.lock")
	if err != nil {
		return err
	}
	return errors.Join(do(), release())
}

// forget removes the state of a session.
func (f *folder) forget(sessionID string) error {
	err := f.root.Remove(stateName(sessionID))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// prune removes the states of sessions that have not been heard of for long.
func (f *folder) prune(now time.Time) {
	entries, err := fs.ReadDir(f.root.FS(), ".")
	if err != nil {
		return // the next session tries again
	}
	for _, e := range entries {
		info, err := e.Info()
		ours := strings.HasPrefix(strings.TrimPrefix(e.Name(), "."), "session-")
		if err == nil && ours && now.Sub(info.ModTime()) > keepStates {
			_ = f.root.Remove(e.Name())
		}
	}
}

// LogName is the log of an audience's hooks, in Dir.
const LogName = "hooks.ndjson"

// maxLog is the size from which the older half of the log is removed.
const maxLog = 128 << 10

// Run is a line of the log: one run of a hook. It has nothing of what was said or remembered.
type Run struct {
	Time    time.Time `json:"time"`
	Host    string    `json:"host"`
	Event   string    `json:"event"`
	Millis  int64     `json:"ms"`
	Context int       `json:"context"`          // characters that were put before the model
	Search  string    `json:"search,omitempty"` // "words" if the model was not loaded in time
	Error   string    `json:"error,omitempty"`
}

// log adds a run to the log.
func (f *folder) log(run Run) error {
	line, err := json.Marshal(run)
	if err != nil {
		return err
	}
	file, err := plain.Open(f.root, LogName, os.O_WRONLY|os.O_APPEND)
	if errors.Is(err, fs.ErrNotExist) {
		file, err = f.root.OpenFile(LogName, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	}
	if err != nil {
		return err
	}
	_, err = file.Write(append(line, '\n'))
	info, statErr := file.Stat()
	if err = errors.Join(err, statErr, file.Close()); err != nil || info.Size() < maxLog {
		return err
	}
	data, _, err := plain.Read(f.root, LogName, 2*maxLog)
	if err != nil {
		return err
	}
	data = data[len(data)/2:]
	if i := strings.IndexByte(string(data), '\n'); i >= 0 {
		data = data[i+1:]
	}
	temporary := fmt.Sprintf(".%s-%d", LogName, os.Getpid())
	return errors.Join(f.root.WriteFile(temporary, data, 0o600), f.root.Rename(temporary, LogName))
}

// Runs returns the runs in the log of an audience, oldest first; none if there is no log.
func Runs(workspace string, who audience.Audience) ([]Run, error) {
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // it was only read
	data, _, err := plain.Read(root, filepath.ToSlash(path.Join(Dir(who), LogName)), 2*maxLog)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var runs []Run
	for line := range strings.Lines(string(data)) {
		var run Run
		if json.Unmarshal([]byte(line), &run) == nil {
			runs = append(runs, run)
		}
	}
	return runs, nil
}
