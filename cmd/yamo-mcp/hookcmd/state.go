package hookcmd

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
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
	for name := range strings.SplitSeq(Dir(who), "/") {
		dir = path.Join(dir, name)
		if err := root.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		// Before anything is made below it.
		element, err := plain.Folder(root, dir)
		if err != nil {
			return nil, err
		}
		if err := element.Close(); err != nil {
			return nil, err
		}
		if dir == session.MemoryFolder {
			// As the memory does: whichever comes first, the folder is never committed by accident.
			ifMissing := func(present []byte) (bool, error) { return present == nil, nil }
			_, err := plain.Replace(root, path.Join(dir, ".gitignore"), []byte("*\n"), ifMissing)
			if _, refused := errors.AsType[*plain.RefusedError](err); err != nil && !refused {
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

// state is what is known of the record of one session of a host: what of it is in the daily log. Only hooks that hold
// the lock write it.
type state struct {
	Started time.Time `json:"started"`          // of the session
	Ended   time.Time `json:"ended,omitzero"`   // zero while the host has not ended it
	Host    string    `json:"host,omitempty"`   // as settings name it
	About   string    `json:"about,omitempty"`  // name of the folder that the session is about
	Logged  bool      `json:"logged,omitempty"` // the log has something of this session

	Path     string   `json:"path,omitempty"`     // of the host's log, "" if it keeps none that may be read
	Log      string   `json:"log,omitempty"`      // mark of the path of the log that Read is about
	Read     int64    `json:"read,omitempty"`     // how far it was read, in bytes
	Unheard  int64    `json:"unheard,omitempty"`  // bytes of it, at its beginning, that no hook has read
	Rows     []string `json:"rows,omitempty"`     // marks of its rows that were read last
	Early    []string `json:"early,omitempty"`    // marks of turns that were recorded before the host's log had them
	Tail     []string `json:"tail,omitempty"`     // marks of turns that were recorded from it since the last answer
	Answer   string   `json:"answer,omitempty"`   // mark of the last answer
	Answered int      `json:"answered,omitempty"` // number of the last prompt that was recorded, see asked
	Offered  int      `json:"offered,omitempty"`  // number of the last prompt whose statements were offered

	Pending *entry `json:"pending,omitempty"` // an addition to the daily log of which it is not known whether it is there
}

// entry is an addition to the daily log.
type entry struct {
	Time        time.Time // when it is written
	Said        time.Time // when the last of it was said, zero if that is not known
	Title, Body string
}

// asked is what the hooks of one session know that put something before the model. They do not wait for those that
// record: a host may run Stop beside the next prompt.
type asked struct {
	Shown    []string `json:"shown,omitempty"`     // ids that were put before the model
	Prompt   string   `json:"prompt,omitempty"`    // the last one
	PromptID string   `json:"prompt_id,omitempty"` // the host's name for it, "" if it has none
	Number   int      `json:"number,omitempty"`    // how many prompts there were

	Stated []statement `json:"stated,omitempty"` // in the last prompts
}

// unanswered returns the last prompt if it is not in the daily log, else "".
func (a asked) unanswered(s *state) string {
	if a.Number == s.Answered {
		return ""
	}
	return a.Prompt
}

const (
	// keepStates is how long the state of a session that nothing ended is kept: Claude Code keeps its logs as long.
	keepStates = 30 * 24 * time.Hour
	// keepEnded is how long that of an ended one is: a Stop that the host did not wait for may come after its end.
	keepEnded = 10 * time.Minute
)

// stateName returns the file of a session's state. Hosts choose the IDs, so that they are not names of files.
func stateName(sessionID string) string {
	sum := sha256.Sum256([]byte(sessionID))
	return statePrefix + hex.EncodeToString(sum[:12]) + ".json"
}

// askedName returns the file of what a session was shown.
func askedName(sessionID string) string {
	return strings.TrimSuffix(stateName(sessionID), ".json") + askedSuffix
}

const (
	statePrefix = "session-"
	askedSuffix = ".asked.json"
)

// load returns the state in a file. ok is false if it is missing or damaged.
func (f *folder) load(name string) (s state, ok bool) {
	data, _, err := plain.Read(f.root, name, maxState)
	return s, err == nil && json.Unmarshal(data, &s) == nil && !s.Started.IsZero()
}

// maxState is the maximum size of a state, in bytes.
const maxState = 1 << 20

// loadAsked returns what a session was shown; nothing if that is missing or damaged.
func (f *folder) loadAsked(sessionID string) (a asked) {
	data, _, err := plain.Read(f.root, askedName(sessionID), maxState)
	if err != nil || json.Unmarshal(data, &a) != nil {
		return asked{}
	}
	return a
}

// saveAsked replaces what a session was shown. Two of its hooks at the same time are rare, and then the last one wins:
// at worst a memory is shown twice.
func (f *folder) saveAsked(sessionID string, a asked) error {
	return f.replace(askedName(sessionID), a)
}

// replace writes value to a file of state, all of it or nothing.
func (f *folder) replace(name string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
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

// forgetAsked removes what a session was shown.
func (f *folder) forgetAsked(sessionID string) error {
	err := f.root.Remove(askedName(sessionID))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// states returns the names of the states' files, those of the sessions that were active last first, and removes what
// has not been used for long.
func (f *folder) states(now time.Time) []string {
	entries, err := fs.ReadDir(f.root.FS(), ".")
	if err != nil {
		return nil // the next session tries again
	}
	type file struct {
		name string
		at   time.Time
	}
	var files []file
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !strings.HasPrefix(strings.TrimPrefix(e.Name(), "."), statePrefix) {
			continue
		}
		if now.Sub(info.ModTime()) > keepStates {
			_ = f.root.Remove(e.Name())
			continue
		}
		if strings.HasPrefix(e.Name(), statePrefix) && !strings.HasSuffix(e.Name(), askedSuffix) {
			files = append(files, file{e.Name(), info.ModTime()})
		}
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Or(b.at.Compare(a.at), cmp.Compare(a.name, b.name)) })
	names := make([]string, len(files))
	for i, file := range files {
		names[i] = file.name
	}
	return names
}
