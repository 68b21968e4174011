package doctorcmd

import (
	"cmp"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/hookcmd"
	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/config"
	"github.com/yamo-protocol/yamo-mcp/internal/hosts"
	"github.com/yamo-protocol/yamo-mcp/internal/session"
	"github.com/yamo-protocol/yamo-mcp/mesh"
)

// installed is a server of a host, or a host whose file cannot be read.
type installed struct {
	host      hosts.Host
	name      string
	command   []string
	workspace string // that its arguments name, "" if they name none
	err       error
}

// servers returns the servers that the hosts of this account have, and the hosts that cannot be read.
func (d *doctor) servers() []installed {
	var list []installed
	for _, h := range hosts.All {
		servers, err := h.Servers(d.place, "")
		if err != nil {
			list = append(list, installed{host: h, err: err})
		}
		for _, s := range servers {
			list = append(list, installed{h, s.Name, s.Command, cli.Argument(s.Command, "--workspace"), nil})
		}
	}
	return list
}

// group returns the group that the server is for, "" for a DM.
func (s installed) group() string {
	group := cli.Argument(s.command, "--group")
	if group == "" && cli.Argument(s.command, "--connection") != "dm" {
		group = audience.Audience{}.Group()
	}
	return group
}

// again returns the command that installs the server once more, for a workspace.
func (s installed) again(workspace string) string {
	command := fmt.Sprintf("yamo-mcp install %s --workspace %s", s.host.ID, quoted(workspace))
	if s.name != hosts.DefaultName {
		command += " --name " + s.name
	}
	if group := cli.Argument(s.command, "--group"); group != "" {
		command += " --group " + quoted(group)
	}
	return command
}

// destinations checks what the hosts are told to start.
func (d *doctor) destinations(servers []installed) {
	for _, s := range servers {
		who := s.host.Name
		if s.name != hosts.DefaultName && s.err == nil {
			who += " (" + s.name + ")"
		}
		dir := d.Config.Workspace
		if dir == "" || !exists(dir) {
			dir = s.workspace
		}
		if s.err != nil {
			d.problem("host", who+": "+s.err.Error(), "repair the file by hand")
			continue
		}
		if _, err := exec.LookPath(s.command[0]); err != nil {
			d.problem("host", fmt.Sprintf("%s starts %s, which is not a program", who, s.command[0]), s.again(dir))
			continue
		}
		if s.workspace != "" && !exists(s.workspace) {
			d.problem("host", fmt.Sprintf("%s serves %s, which does not exist", who, s.workspace), s.again(dir))
			continue
		}
		serves := s.workspace
		if serves == "" {
			serves = "the workspace of its environment"
		}
		to := "dm"
		if group := s.group(); group != "" {
			to = "group " + group
		}
		d.fine("host", "%s serves %s (%s): %s", who, serves, to, s.host.File(d.place))
	}
	if len(servers) == 0 {
		d.note("host", "no host of this account has the server", "yamo-mcp install --auto")
	}
	d.missingHooks(servers)
}

// missingHooks notes hosts that have the server and could run hooks, but have none. The person may have wanted that.
func (d *doctor) missingHooks(servers []installed) {
	for i, s := range servers {
		first := i == 0 || servers[i-1].host.ID != s.host.ID
		if s.err != nil || !first || !s.host.RunsHooks() {
			continue
		}
		hooks, err := s.host.Hooks(d.place)
		if err != nil {
			d.problem("hooks", s.host.Name+": "+err.Error(), "repair the file by hand")
		} else if len(hooks) == 0 {
			d.note("hooks", fmt.Sprintf("%s has none in %s: it remembers only what the agent stores", s.host.Name,
				s.host.HookFile(d.place)), s.again(cmp.Or(s.workspace, d.Config.Workspace))+", unless you want none")
		}
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

// refusedHooks notes why hooks of this workspace, or of none, could not begin, unless one of the same event has worked
// since. What was wrong may be right by now, so that it is no problem of its own: hosts that serve nothing are one.
func (d *doctor) refusedHooks(worked map[string]time.Time) {
	runs, err := hookcmd.Failures(d.Getenv)
	if err != nil {
		d.problem("hooks", "cannot read the log of those that could not begin: "+err.Error(),
			"chmod -R u+rw "+quoted(config.StateFolder(d.Getenv)))
	}
	here, err := filepath.Abs(d.Config.Workspace)
	if err != nil {
		here = d.Config.Workspace
	}
	last := map[string]hookcmd.Run{} // by host and event
	for _, run := range runs {
		if run.Workspace == "" || run.Workspace == here {
			last[run.Host+" "+run.Event] = run
		}
	}
	for _, key := range slices.Sorted(maps.Keys(last)) {
		run := last[key]
		if time.Since(run.Time) >= recent || !run.Time.After(worked[run.Event]) {
			continue
		}
		fix := "yamo-mcp install shows the hosts"
		if h, err := hosts.Find(run.Host); err == nil {
			fix = fmt.Sprintf("yamo-mcp install %s --workspace %s corrects what the host runs; nothing, if you have "+
				"done it since", h.ID, quoted(d.Config.Workspace))
		}
		d.note("hooks", fmt.Sprintf("%s could not begin at %s: %s", key, run.Time.Local().Format("2006-01-02 15:04"),
			run.Error), fix)
	}
}

// hookFix returns what solves the problem that a hook had. The log has nothing but the error's text.
func (d *doctor) hookFix(run hookcmd.Run) string {
	dir := quoted(d.Config.Workspace)
	has := func(part string) bool { return strings.Contains(run.Error, part) }
	switch {
	case has("ledger") && has("damaged"):
		return salvage(dir)
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
	// The memory is checked elsewhere: an error is reported there.
	groups, _ := mesh.Groups(filepath.Join(d.Config.Workspace, session.MemoryFolder))
	return append([]audience.Audience{audience.DM()}, groups...)
}
