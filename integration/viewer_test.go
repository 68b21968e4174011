package integration

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// viewing is a process of `yamo-mcp view` with the client that has its pages.
type viewing struct {
	tb     testing.TB
	launch launch
	link   string
	base   string // of its pages
	client *http.Client
	cmd    *exec.Cmd
}

// view starts the pages of a workspace, without a browser. The wrapper of h, if any, starts the program.
func view(tb testing.TB, h launch, flags ...string) *viewing {
	tb.Helper()
	line := slices.Concat(h.wrapper, []string{serverBinary(tb), "view", "--no-browser", "--workspace", h.workspace}, flags)
	v := &viewing{tb: tb, launch: h, cmd: exec.Command(line[0], line[1:]...)}
	v.cmd.Env = append(h.environment(), "YAMO_TRANSCRIPTS="+h.transcripts)
	v.cmd.Stderr = os.Stderr
	stdout, err := v.cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := v.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(v.end)
	if v.link, err = bufio.NewReader(stdout).ReadString('\n'); err != nil {
		tb.Fatalf("no link: %v", err)
	}
	v.link = strings.TrimSpace(v.link)
	v.base, _, _ = strings.Cut(v.link, "/open")
	return v
}

// enter follows the link.
func (v *viewing) enter() {
	v.tb.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		v.tb.Fatal(err)
	}
	v.client = &http.Client{Jar: jar, Timeout: patience}
	if status, body := v.get(strings.TrimPrefix(v.link, v.base)); status != http.StatusOK {
		v.tb.Fatalf("the link: status %d: %s", status, body)
	}
}

// get returns a page.
func (v *viewing) get(path string) (status int, body string) {
	v.tb.Helper()
	answer, err := v.client.Get(v.base + path)
	if err != nil {
		v.tb.Fatal(err)
	}
	defer answer.Body.Close() //nolint:errcheck // it was read
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		v.tb.Fatal(err)
	}
	return answer.StatusCode, string(data)
}

// end stops the process as Ctrl-C does. A wrapper, which may ignore signals, ends with what it started.
func (v *viewing) end() {
	if v.cmd.ProcessState != nil {
		return
	}
	pid := v.cmd.Process.Pid
	if data, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid)); err == nil {
		var child int
		if n, _ := fmt.Sscan(string(data), &child); n == 1 && v.cmd.Path != serverBinary(v.tb) {
			pid = child
		}
	}
	if process, err := os.FindProcess(pid); err == nil {
		_ = process.Signal(os.Interrupt)
	}
	_ = v.cmd.Wait()
}

// asGroup requests every page of what a group sees, and what such pages might lead to, and returns the answers.
func (v *viewing) asGroup(group string, p *planted) string {
	v.tb.Helper()
	below := "/as/" + group
	paths := []string{below, below + "/memories", below + "/search", below + "/skills"}
	for _, query := range []string{"The canary of MEMORY.md is", "The canary of a memory", "canary of hiking"} {
		paths = append(paths, below+"/search?q="+url.QueryEscape(query))
	}
	for _, name := range append([]string{
		"SOUL.md", "AGENTS.md", "IDENTITY.md", ".yamo/key", "../SOUL.md",
		"memory/" + time.Now().Format(time.DateOnly) + ".md",
		"memory/" + time.Now().Format(time.DateOnly) + "-group-" + group + ".md",
		"memory/" + time.Now().Format(time.DateOnly) + "-group-" + hiking + ".md",
	}, privateNames...) {
		paths = append(paths, below+"/files/"+url.PathEscape(name))
	}
	for _, id := range p.ids {
		paths = append(paths, below+"/memory/"+url.PathEscape(id), below+"/skills/"+url.PathEscape(id))
	}
	var all strings.Builder
	for _, path := range paths {
		status, body := v.get(path)
		if status != http.StatusOK && status != http.StatusNotFound {
			v.tb.Errorf("%s: status %d: %s", path, status, body)
		}
		fmt.Fprintf(&all, "== %s %d\n%s\n", path, status, body)
	}
	return all.String()
}

// The pages of what a group sees have no secret of others, do not depend on what is private, and open no file that a
// session of the group would not open.
func TestViewerAsGroup(t *testing.T) {
	t.Parallel()
	p := plant(t)
	// With every set of tools, so that the pages of skills call theirs.
	h := launch{
		workspace: p.workspace, transcripts: p.transcripts, env: []string{"YAMO_TOOLSETS=memory,workspace,learning"},
	}
	own := view(t, h)
	own.enter()
	var private strings.Builder
	for _, path := range []string{
		"/", "/groups/" + hiking, "/files/MEMORY.md", "/search?q=canary", "/lessons",
		"/sessions",
	} {
		_, body := own.get(path)
		private.WriteString(body)
	}
	// What follows proves nothing unless the person is seen to get everything.
	for _, c := range append(p.private[:0:0], newCanary("MEMORY.md"), newCanary("a memory"), newCanary("a rule"),
		newCanary("a memory of "+hiking)) {
		if !strings.Contains(private.String(), c.secret) {
			t.Errorf("the person's pages do not show the canary of %s", c.place)
		}
	}
	own.end()

	trace := filepath.Join(t.TempDir(), "trace")
	if strace, err := exec.LookPath("strace"); err == nil { // Linux's, and CI has it
		h.wrapper = []string{strace, "-f", "--seccomp-bpf", "-y", "-s", "4096", "-e", "trace=%file", "-o", trace}
	}
	guest := view(t, h, "--group", club)
	guest.enter()
	before := guest.asGroup(club, p)
	for _, leak := range leaks(before, p.hidden(club)) {
		t.Errorf("a page of the group shows %s", leak)
	}
	if len(leaks(before, p.of[club])) == 0 {
		t.Error("the pages do not show what the group itself has")
	}
	if strings.Contains(before, p.workspace) {
		t.Error("the pages show where the workspace is")
	}
	guest.end()
	if h.wrapper != nil {
		data, err := os.ReadFile(trace)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(data), "SOUL.md") {
			t.Error("the trace does not show the reading of SOUL.md")
		}
		for _, path := range privatePaths(string(data), p, club) {
			t.Errorf("the pages of %s touched %s", club, path)
		}
	}

	for _, name := range []string{
		"MEMORY.md", "USER.md", "TOOLS.md", "HEARTBEAT.md", "DREAMS.md", "notes", "memory/heartbeat-state.json",
		"memory/2026-02-05-irrigation-pump.md", "memory/2025-12-01.md",
		"memory/" + time.Now().Format(time.DateOnly) + ".md",
		"memory/" + time.Now().Format(time.DateOnly) + "-group-" + hiking + ".md",
		".yamo/private", ".yamo/groups/" + hiking, ".yamo/locks/private.lock", ".yamo/locks/private.index.lock",
	} {
		remove(t, filepath.Join(p.workspace, name))
	}
	h.wrapper = nil
	again := view(t, h, "--group", club)
	again.enter()
	compareLines(t, "the pages", untimed(before), untimed(again.asGroup(club, p)))
}

// Without a folder that is set, the person's pages show the sessions that Claude Code keeps, and a group's show none.
func TestViewerShowsClaudeCodesSessions(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	write(t, filepath.Join(home, ".claude", "projects", "-home-ana-garden", "5d0c.jsonl"),
		`{"type":"user","sessionId":"5d0c","timestamp":"2026-11-20T10:00:00Z",`+
			`"message":{"role":"user","content":"Where is the irrigation plan?"}}`+"\n")
	v := view(t, launch{workspace: sample(t), env: []string{"HOME=" + home}})
	v.enter()
	if _, body := v.get("/sessions"); !strings.Contains(body, "/sessions/5d0c") {
		t.Errorf("the session is not listed:\n%s", body)
	}
	if _, body := v.get("/sessions/5d0c"); !strings.Contains(body, "Where is the irrigation plan?") {
		t.Errorf("the session's turn is not shown:\n%s", body)
	}
	_, before := v.get("/as/" + club)
	v.end()
	remove(t, filepath.Join(home, ".claude"))
	v = view(t, v.launch)
	v.enter()
	if _, body := v.get("/sessions"); !strings.Contains(body, "No folder of session logs is set") {
		t.Errorf("the page does not say how to get sessions:\n%s", body)
	}
	_, after := v.get("/as/" + club)
	compareLines(t, "the group's page", untimed(before), untimed(after))
}

// timeOfDay is the present time in what a session starts with.
var timeOfDay = regexp.MustCompile(`\d\d:\d\d \([^)]+\)`)

// untimed replaces the time at which pages were made, which differs if a minute passes between them.
func untimed(pages string) string { return timeOfDay.ReplaceAllString(pages, "TIME") }
