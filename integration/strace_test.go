package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The process of a group makes no system call with the name of a private file, whatever it is asked.
func TestGroupProcessTouchesNoPrivateFile(t *testing.T) {
	t.Parallel()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not there: it is Linux's, and CI has it")
	}
	p := plant(t)
	if err := os.CopyFS(p.workspace, os.DirFS("../testdata/workspaces/newborn")); err != nil && !os.IsExist(err) {
		t.Fatal(err)
	}
	touched := func(group string, act func(*session)) []string {
		trace := filepath.Join(t.TempDir(), "trace")
		s := connect(t, launch{
			workspace: p.workspace, group: group, transcripts: p.transcripts, apps: true,
			wrapper: []string{strace, "-f", "--seccomp-bpf", "-y", "-s", "4096", "-e", "trace=%file", "-o", trace},
		})
		act(s)
		s.end()
		data, err := os.ReadFile(trace)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(data), "SOUL.md") {
			t.Error("the trace does not show the reading of SOUL.md")
		}
		return privatePaths(string(data), p, group)
	}

	// What follows proves nothing unless a DM is caught.
	dm := strings.Join(touched("", func(s *session) {
		readEverything(s)
		s.search("canary", nil)
	}), "\n")
	for _, name := range []string{
		"MEMORY.md", "USER.md", "TOOLS.md", "HEARTBEAT.md", "DREAMS.md", "notes",
		".yamo/private/ledger.ndjson", ".yamo/private/start.image", ".yamo/private/turns",
		".yamo/private/imported", ".yamo/groups/" + hiking, "transcripts/", "/private.json",
	} {
		if !strings.Contains(dm, name) {
			t.Errorf("a DM that reads everything is not seen to touch %s", name)
		}
	}
	for _, path := range touched(club, func(s *session) {
		attack(s, p, 8)
		// What replaced something is marked in a DM from its record of edits.
		old := s.store("A memory is replaced: the boat lies in Faro.", map[string]any{"source": "user"})
		s.store("A memory is replaced: the boat lies in Porto.", map[string]any{
			"source": "https://example.org/boats", "supersedes": []string{old.ID},
		})
	}) {
		t.Errorf("the process of %s touched %s", club, path)
	}
	h := launch{workspace: p.workspace, transcripts: p.transcripts}
	for _, args := range append(looks(), []string{"search", "the canary of a memory is"}) {
		trace := filepath.Join(t.TempDir(), "trace")
		h.wrapper = []string{strace, "-f", "--seccomp-bpf", "-y", "-s", "4096", "-e", "trace=%file", "-o", trace}
		h.look(t, club, args...)
		data, err := os.ReadFile(trace)
		if err != nil {
			t.Fatal(err)
		}
		if args[0] != "sessions" && !strings.Contains(string(data), "groups/"+club+"/ledger.ndjson") {
			t.Errorf("the trace of %q does not show the reading of the group's memory", args)
		}
		for _, path := range privatePaths(string(data), p, club) {
			t.Errorf("%q for %s touched %s", args, club, path)
		}
	}
}

// looks are commands with which a person looks at the memory, and that take a group.
func looks() [][]string {
	return [][]string{
		{"list", "--limit", "50"},
		{"timeline", "--limit", "1000"},
		{"stats"},
		{"sessions"},
		{"__complete", "show", ""},
	}
}

// look runs a command as a session of a group does, which the environment names, and returns what it prints.
func (h launch) look(t *testing.T, group string, args ...string) string {
	t.Helper()
	line := append(append([]string{}, h.wrapper...), append([]string{serverBinary(t)}, args...)...)
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Env = append(h.environment(), "YAMO_WORKSPACE="+h.workspace, "YAMO_TRANSCRIPTS="+h.transcripts,
		"YAMO_GROUP="+group)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("%q: %v: %s", args, err, stderr.String())
	}
	return string(out)
}

var (
	fileCall   = regexp.MustCompile(`^\d+ +(\w+)\((.*)`)
	tracedPath = regexp.MustCompile(`(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"((?:[^"\\]|\\.)*)"`)
	noted      = regexp.MustCompile(`/yamo-mcp/heads/[0-9a-f]+/\.?([^/]*)\.json(-[0-9]+)?$`)
	dailyLog   = regexp.MustCompile(`/memory/(archive/)?[^/]*$`)
)

// privatePaths are the paths in a trace that a group has no business with.
func privatePaths(trace string, p *planted, group string) (private []string) {
	seen := map[string]bool{}
	for line := range strings.Lines(trace) {
		call := fileCall.FindStringSubmatch(line)
		if call == nil || call[1] == "execve" { // its strings are the command line
			continue
		}
		for _, match := range tracedPath.FindAllStringSubmatch(call[2], -1) {
			path := match[2]
			if !filepath.IsAbs(path) {
				path = filepath.Join(match[1], path)
			}
			path = filepath.Clean(path)
			if !seen[path] && isPrivate(path, p, group) {
				seen[path] = true
				private = append(private, fmt.Sprintf("%s (%s)", path, strings.TrimSpace(brief(line))))
			}
		}
	}
	return private
}

// isPrivate reports whether a path is none of those that a group may touch: by what is allowed for the files
// of the workspace, so that a private file of tomorrow is one too.
func isPrivate(path string, p *planted, group string) bool {
	if log, ok := strings.CutPrefix(path, p.transcripts+"/"); ok {
		return log != "groups" && log != "groups/"+group && !strings.HasPrefix(log, "groups/"+group+"/")
	}
	// What notes the ledgers' ends: a file for each, in a folder for the workspace, written by way of another name.
	if head := noted.FindStringSubmatch(path); head != nil {
		return head[1] != "shared" && head[1] != "group-"+group
	}
	name, ok := strings.CutPrefix(path, p.workspace+"/")
	if !ok {
		return false
	}
	switch name {
	case "SOUL.md", "IDENTITY.md", "AGENTS.md", "memory", "memory/archive", ".yamo":
		return false
	}
	if dailyLog.MatchString("/" + name) {
		return !strings.Contains(name, "-group-"+group+".md")
	}
	memory, ok := strings.CutPrefix(name, ".yamo/")
	if !ok {
		return true
	}
	for _, mine := range []string{
		"shared", "groups/" + group, "locks/keyed", "locks/shared", "locks/group-" + group + ".",
		"key", "config.toml", ".gitignore",
	} {
		if memory == mine || strings.HasPrefix(memory, mine+"/") ||
			strings.HasPrefix(memory, mine) && strings.HasSuffix(mine, ".") ||
			strings.HasPrefix(memory, mine+".") {
			return false
		}
	}
	return memory != "groups" && memory != "locks"
}
