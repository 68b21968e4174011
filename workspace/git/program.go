package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The oldest git that is used. Every supported platform has a newer one.
const oldestMajor, oldestMinor = 2, 30

// Errors of the program.
var (
	ErrMissing = fmt.Errorf("the program git is not installed, or not on the PATH that this program was started with: "+
		"install git %d.%d or newer", oldestMajor, oldestMinor)
	ErrOld = fmt.Errorf("the program git is too old: install git %d.%d or newer", oldestMajor, oldestMinor)

	// errBusy means that another program holds a lock or moved the branch, so that trying again may help.
	errBusy = errors.New("another program uses the git repository at the moment")
)

// exitError is the failure of a git command.
type exitError struct {
	command string
	code    int
	said    string // its first line on stderr
}

func (e *exitError) Error() string {
	return fmt.Sprintf("git %s: exit code %d: %s", e.command, e.code, e.said)
}

// inherited lists the variables of this process that git gets. It gets no others: GIT_DIR and the like would name the
// repository that this program was started in, and the keys of model providers are none of its business.
var inherited = []string{
	"PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR", "USER", "LOGNAME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM",
	"GIT_CONFIG_NOSYSTEM",
}

// environment returns git's environment.
func (r *Repository) environment() []string {
	env := []string{
		"LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat", "GIT_NO_REPLACE_OBJECTS=1",
		// SECURITY: no transport is allowed, and objects that a partial clone lacks are not fetched.
		"GIT_ALLOW_PROTOCOL=", "GIT_NO_LAZY_FETCH=1",
	}
	for _, name := range inherited {
		if value := r.opt.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// settings override those of the repository and of the user.
//
// SECURITY: the workspace's repository may name programs in its configuration, and would have them run.
var settings = []string{
	"--no-pager", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "protocol.allow=never",
}

// run runs git in the workspace folder, where it finds the repository of that folder and never one above it.
func (r *Repository) run(ctx context.Context, input []byte, args ...string) ([]byte, error) {
	return r.runIn(ctx, r.dir, []string{"GIT_CEILING_DIRECTORIES=" + filepath.Dir(r.dir)}, input, args...)
}

// runIn runs git in dir and returns its output. Nothing of it reaches this program's own stdout, which is the
// protocol's.
func (r *Repository) runIn(
	ctx context.Context, dir string, env []string, input []byte, args ...string,
) ([]byte, error) {
	program, err := r.program()
	if err != nil {
		return nil, err
	}
	//nolint:gosec // names of files are given on stdin, never as arguments
	cmd := exec.CommandContext(ctx, program, append(slices.Clip(settings), args...)...)
	cmd.Dir, cmd.Env = dir, append(r.environment(), env...)
	cmd.Stdin = bytes.NewReader(input)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	// A process group of its own: an interrupt at the terminal does not stop a commit halfway, and a timeout also kills
	// git's children.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM); !errors.Is(err, syscall.ESRCH) {
			return err
		}
		return os.ErrProcessDone
	}
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	switch exit, failed := errors.AsType[*exec.ExitError](err); {
	case err == nil:
		return out.Bytes(), nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("git %s: it took too long: %w", args[0], ctx.Err())
	case !failed:
		return nil, fmt.Errorf("git %s: %w", args[0], err)
	default:
		return out.Bytes(), r.explain(args[0], exit.ExitCode(), said.String())
	}
}

// program returns the path of git.
func (r *Repository) program() (string, error) {
	for _, dir := range filepath.SplitList(r.opt.Getenv("PATH")) {
		path := filepath.Join(dir, "git")
		// SECURITY: a relative entry of PATH would find a program in the folder that this one was started in.
		if !filepath.IsAbs(path) {
			continue
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", ErrMissing
}

var busy = regexp.MustCompile(`(?i)index\.lock|\.lock': File exists|cannot lock ref|not updating|unable to lock`)

// explain returns the error for git's exit code and its message on stderr.
func (r *Repository) explain(command string, code int, said string) error {
	switch {
	case strings.Contains(said, "dubious ownership"):
		return errors.New("git does not trust the workspace's repository, because the folder belongs to another account; " +
			"if you do, run git config --global --add safe.directory with the workspace folder")
	case busy.MatchString(said):
		return fmt.Errorf("%w (git %s); if none does, a git that was killed left a lock: remove .git/index.lock", errBusy,
			command)
	}
	line := ""
	for l := range strings.Lines(said) {
		if line == "" || strings.HasPrefix(l, "fatal: ") {
			line = strings.TrimSpace(l)
		}
	}
	return &exitError{command, code, strings.ReplaceAll(line, r.dir, ".")}
}

var versionText = regexp.MustCompile(`^git version (\d+)\.(\d+)`)

// version returns ErrMissing or ErrOld unless git is installed and new enough.
func (r *Repository) version(ctx context.Context) error {
	if _, err := r.program(); err != nil || r.supported.Load() {
		return err
	}
	out, err := r.run(ctx, nil, "version")
	if err != nil {
		return err
	}
	m := versionText.FindSubmatch(out)
	if m == nil {
		return ErrOld
	}
	major, majorErr := strconv.Atoi(string(m[1]))
	minor, minorErr := strconv.Atoi(string(m[2]))
	if majorErr != nil || minorErr != nil || major < oldestMajor || major == oldestMajor && minor < oldestMinor {
		return ErrOld
	}
	r.supported.Store(true)
	return nil
}
