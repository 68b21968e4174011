package doctorcmd

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/hosts"
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
