package hookcmd

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/config"
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

	// Folder that the command line names, in the log of those that could not begin; "" if it names none.
	Workspace string `json:"workspace,omitempty"`
}

// logged is an error that the log of an audience has.
type logged struct{ error }

func (l logged) Unwrap() error { return l.error }

// LogFailure notes, in the state folder, the error of a hook that no audience's log has: the command line is wrong, or
// the workspace cannot be opened. args are those of the command. Its error is that the note could not be written.
func LogFailure(getenv func(string) string, args []string, problem error) error {
	if _, ok := errors.AsType[logged](problem); ok {
		return nil
	}
	dir := config.StateFolder(getenv)
	if dir == "" {
		return errors.New("no log: set HOME or XDG_STATE_HOME")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	event := "no event"
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		event = named(args[0])
	}
	run := Run{
		Time: time.Now().UTC().Truncate(time.Millisecond), Event: event, Error: harmless(unquoted{problem, args}),
		Host: named(cmp.Or(cli.Argument(args, "--host"), defaultHost)), Workspace: workspaceOf(getenv, args),
	}
	f := &folder{root}
	return errors.Join(f.log(run), root.Close())
}

// plainWord is what an argument that is no text looks like.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9._:@/\\-]{1,64}$`)

// omitted replaces an argument that may be text.
const omitted = "…"

// named returns a word of the command line if it is a name.
func named(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return omitted
}

// unquoted is an error without those arguments of the command line that may be text: a host may put what was said among
// them, and no audience owns the log that the error goes to.
type unquoted struct {
	error
	args []string
}

func (u unquoted) Unwrap() error { return u.error }

func (u unquoted) Error() string {
	message, hasText := u.error.Error(), false
	for _, arg := range u.args {
		_, value, ok := strings.Cut(arg, "=")
		if !ok || !strings.HasPrefix(arg, "-") {
			value = arg
		}
		if value == "" || plainWord.MatchString(value) || value == cli.Argument(u.args, "--"+config.Workspace.Flag()) {
			continue
		}
		hasText, message = true, strings.ReplaceAll(message, value, omitted)
	}
	if !hasText {
		return message
	}
	// Packages differ in how they quote.
	return quotation.ReplaceAllStringFunc(message, func(quoted string) string {
		if inner := strings.Trim(quoted, `"`); plainWord.MatchString(inner) || inner == "yamo-mcp hook" {
			return quoted
		}
		return `"` + omitted + `"`
	})
}

// quotation is a quoted part of an error.
var quotation = regexp.MustCompile(`(?s)"(?:[^"\\]|\\.)*"`)

// workspaceOf returns the folder that the arguments of a hook or its environment name, "" for none.
func workspaceOf(getenv func(string) string, args []string) string {
	dir := cmp.Or(cli.Argument(args, "--"+config.Workspace.Flag()), getenv(config.Workspace.Env()))
	if dir == "" {
		return ""
	}
	if whole, err := filepath.Abs(config.Expand(dir, getenv)); err == nil {
		return whole
	}
	return dir
}

// Failures returns what LogFailure noted, oldest first.
func Failures(getenv func(string) string) ([]Run, error) {
	runs, err := runsIn(config.StateFolder(getenv), LogName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return runs, err
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
	return runsIn(workspace, path.Join(Dir(who), LogName))
}

// runsIn returns the runs in a log below dir, none if it does not exist.
func runsIn(dir, name string) ([]Run, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // it was only read
	data, _, err := plain.Read(root, name, 2*maxLog)
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
