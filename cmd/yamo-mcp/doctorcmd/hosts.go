package doctorcmd

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/hookcmd"
	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/config"
	"github.com/yamo-protocol/yamo-mcp/internal/hosts"
	"github.com/yamo-protocol/yamo-mcp/internal/session"
)

// serverName is the name that `yamo-mcp install` gives the server if it is not told another.
const serverName = "yamo"

// installed is a host that has the server, or whose file cannot be read.
type installed struct {
	host      hosts.Host
	command   []string
	workspace string // that its arguments name, "" if they name none
	err       error
}

// servers returns the hosts of this account that have the server or cannot be read.
func (d *doctor) servers() []installed {
	var list []installed
	for _, h := range hosts.All {
		command, err := h.Installed(d.place, "", serverName)
		if command != nil || err != nil {
			list = append(list, installed{h, command, argument(command, "--workspace"), err})
		}
	}
	return list
}

// argument returns what follows flag in a command line, "" if it is not there.
func argument(command []string, flag string) string {
	if i := slices.Index(command, flag); i >= 0 && i+1 < len(command) {
		return command[i+1]
	}
	for _, arg := range command {
		if value, ok := strings.CutPrefix(arg, flag+"="); ok {
			return value
		}
	}
	return ""
}

// destinations checks what the hosts are told to start.
func (d *doctor) destinations(servers []installed) {
	for _, s := range servers {
		again := fmt.Sprintf("yamo-mcp install %s --workspace %s", s.host.ID, quoted(d.Config.Workspace))
		if s.err != nil {
			d.problem("host", s.host.Name+": "+s.err.Error(), "repair the file by hand")
			continue
		}
		if _, err := exec.LookPath(s.command[0]); err != nil {
			d.problem("host", fmt.Sprintf("%s starts %s, which is not a program", s.host.Name, s.command[0]), again)
			continue
		}
		if s.workspace != "" && !exists(s.workspace) {
			d.problem("host", fmt.Sprintf("%s serves %s, which does not exist", s.host.Name, s.workspace), again)
			continue
		}
		serves := s.workspace
		if serves == "" {
			serves = "the workspace of its environment"
		}
		who := "group " + argument(s.command, "--group")
		if argument(s.command, "--connection") == "dm" && argument(s.command, "--group") == "" {
			who = "dm"
		} else if argument(s.command, "--group") == "" {
			who = "group default"
		}
		d.fine("host", "%s serves %s (%s): %s", s.host.Name, serves, who, s.host.File(d.place))
	}
	if len(servers) == 0 {
		d.note("host", "no host of this account has the server", "yamo-mcp install --auto")
	}
}

// recent is how long a failure of a hook is worth mentioning.
const recent = 24 * time.Hour

// hooks shows the last run of each event's hook of each host, and what went wrong lately.
func (d *doctor) hooks() {
	worked := map[string]time.Time{} // when the hook of an event did last
	for _, who := range d.served() {
		runs, err := hookcmd.Runs(d.Config.Workspace, who)
		if err != nil {
			d.problem("hooks", "cannot read their log: "+err.Error(), "run it as the user who owns the workspace")
			continue
		}
		last := map[string]hookcmd.Run{}
		failed := map[string]hookcmd.Run{}
		for _, run := range runs {
			key := run.Host + " " + run.Event
			last[key] = run
			if run.Error != "" && time.Since(run.Time) < recent {
				failed[key] = run
			} else {
				delete(failed, key) // it works again
				worked[run.Event] = run.Time
			}
		}
		for _, key := range slices.Sorted(maps.Keys(last)) {
			run := last[key]
			at := run.Time.Local().Format("2006-01-02 15:04")
			if run, ok := failed[key]; ok {
				d.problem("hooks", fmt.Sprintf("%s (%s) failed at %s: %s", key, who, at, run.Error),
					d.hookFix(run))
				continue
			}
			by := ""
			if run.Search != "" {
				by = ", by " + run.Search + " only"
			}
			d.fine("hooks", "%s (%s): %s, %d ms, %d characters before the model%s", key, who, at, run.Millis, run.Context, by)
		}
		if len(last) == 0 && who.IsDM() {
			d.note("hooks", "no host has run one yet",
				"start a session in a host that has hooks; yamo-mcp install claude-code, or another host, adds them")
		}
	}
	d.refusedHooks(worked)
}

// refusedHooks shows why hooks could not begin, unless one of the same event has worked since.
func (d *doctor) refusedHooks(worked map[string]time.Time) {
	runs, err := hookcmd.Failures(d.Getenv)
	if err != nil {
		d.problem("hooks", "cannot read the log of those that could not begin: "+err.Error(),
			"chmod -R u+rw "+quoted(config.StateFolder(d.Getenv)))
	}
	last := map[string]hookcmd.Run{} // by event
	for _, run := range runs {
		last[run.Event] = run
	}
	for _, event := range slices.Sorted(maps.Keys(last)) {
		if run := last[event]; time.Since(run.Time) < recent && run.Time.After(worked[event]) {
			d.problem("hooks", fmt.Sprintf("%s could not begin at %s: %s", event,
				run.Time.Local().Format("2006-01-02 15:04"), run.Error),
				"yamo-mcp install HOST --workspace "+quoted(d.Config.Workspace)+" corrects what the host runs")
		}
	}
}

// hookFix returns what solves the problem that a hook had. The log has nothing but the error's text.
func (d *doctor) hookFix(run hookcmd.Run) string {
	dir := quoted(d.Config.Workspace)
	has := func(part string) bool { return strings.Contains(run.Error, part) }
	switch {
	case has("ledger") && has("damaged"):
		return "yamo-mcp ledger verify --workspace " + dir
	case strings.HasPrefix(run.Error, hookcmd.BadInput):
		return fmt.Sprintf("yamo-mcp install %s --workspace %s; if it happens again, update the host or yamo-mcp",
			run.Host, dir)
	case has(syscall.EACCES.Error()), has(syscall.EROFS.Error()):
		return writable
	}
	return "yamo-mcp mesh health --workspace " + dir
}

// served returns the DM and the groups of the workspace.
func (d *doctor) served() []audience.Audience {
	list := []audience.Audience{audience.DM()}
	entries, err := os.ReadDir(filepath.Join(d.Config.Workspace, session.MemoryFolder, "groups"))
	if err != nil {
		return list // there are none
	}
	for _, e := range entries {
		if who, err := audience.Group(e.Name()); err == nil {
			list = append(list, who)
		}
	}
	return list
}
