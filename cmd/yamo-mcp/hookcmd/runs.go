package hookcmd

import (
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
	"github.com/yamo-protocol/yamo-mcp/workspace/plain"
)

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
