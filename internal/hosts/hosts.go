// Package hosts adds yamo-mcp to the configuration of MCP hosts, and removes it again.
//
// The invariant: the other content of a host's file keeps every byte. A file that cannot be parsed, or whose other
// content would change, is left as it is.
package hosts

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Entry is what a host is told to start.
type Entry struct {
	Name    string   // of the server in the host's configuration, 1 to 64 letters, digits, hyphens or underscores
	Command string   // the program, as an absolute path
	Args    []string // of the program
	Env     []string // its environment as "NAME=value", in addition to the host's; usually empty
	Hook    []string // the flags of its command hook, as of serve; nil installs no hooks
	Logs    bool     // the server reads the host's own session logs, if the host keeps some that it can read
}

// Place is the machine and the account whose hosts are configured.
type Place struct {
	Home   string
	Getenv func(string) string
	OS     string // as runtime.GOOS; "" is this machine's
}

// Host is an MCP host that keeps its servers in a file.
type Host struct {
	ID   string // its name on the command line, such as "claude-code"
	Name string // as its vendor writes it

	program string                                    // that is in PATH where the host is installed, "" if none
	folder  func(Place) string                        // that exists where the host has run
	file    func(Place) string                        // its configuration
	form    format                                    // of that file
	strict  bool                                      // the host reads JSON without comments only
	keys    func(Entry) (path []string, value object) // what is added
	remote  []string                                  // keys of entries for servers that are not started; not replaced
	hooks   *hookFile                                 // nil for a host without a file of hooks
	plugin  *pluginFile                               // that runs the hooks in a host without such a file
	note    string                                    // what the person must know, "" for nothing
	logs    func(Place) string                        // folder of session logs that the server can read, nil for none
}

// All are the hosts that can be configured, in the order in which they are listed.
var All = []Host{
	{
		ID: "claude-code", Name: "Claude Code", program: "claude", strict: true,
		folder: func(p Place) string { return p.claude() },
		file: func(p Place) string {
			if dir := p.Getenv("CLAUDE_CONFIG_DIR"); dir != "" {
				return filepath.Join(dir, ".claude.json")
			}
			return filepath.Join(p.Home, ".claude.json")
		},
		form: jsonFormat{}, keys: servers("mcpServers", field{"type", "stdio"}), remote: []string{"url"},
		hooks: &hookFile{
			file:   func(p Place) string { return filepath.Join(p.claude(), "settings.json") },
			events: claudeEvents, element: claudeHook,
		},
		logs: Place.claudeLogs,
	},
	{
		ID: "claude-desktop", Name: "Claude Desktop", strict: true,
		folder: func(p Place) string { return p.application("Claude") },
		file:   func(p Place) string { return filepath.Join(p.application("Claude"), "claude_desktop_config.json") },
		form:   jsonFormat{}, keys: servers("mcpServers"), remote: []string{"url"},
	},
	{
		ID: "cursor", Name: "Cursor", program: "cursor",
		folder: func(p Place) string { return filepath.Join(p.Home, ".cursor") },
		file:   func(p Place) string { return filepath.Join(p.Home, ".cursor", "mcp.json") },
		form:   jsonFormat{}, keys: servers("mcpServers"), remote: []string{"url"},
		hooks: &hookFile{
			file:   func(p Place) string { return filepath.Join(p.Home, ".cursor", "hooks.json") },
			events: cursorEvents, element: cursorHook, more: field{"version", 1},
		},
	},
	{
		ID: "vscode", Name: "VS Code", program: "code",
		folder: func(p Place) string { return filepath.Join(p.application("Code"), "User") },
		file:   func(p Place) string { return filepath.Join(p.application("Code"), "User", "mcp.json") },
		form:   jsonFormat{}, keys: servers("servers", field{"type", "stdio"}), remote: []string{"url"},
	},
	{
		ID: "codex", Name: "Codex", program: "codex",
		folder: func(p Place) string { return p.codex() },
		file:   func(p Place) string { return filepath.Join(p.codex(), "config.toml") },
		form:   tomlFormat{}, keys: servers("mcp_servers"), remote: []string{"url"},
		hooks: &hookFile{
			file:   func(p Place) string { return filepath.Join(p.codex(), "hooks.json") },
			events: codexEvents, element: codexHook,
			note: "Codex runs hooks that you have reviewed: enter /hooks in it and trust those of yamo-mcp",
		},
	},
	{
		ID: "gemini", Name: "Gemini CLI", program: "gemini",
		folder: func(p Place) string { return filepath.Join(p.gemini(), ".gemini") },
		file:   func(p Place) string { return filepath.Join(p.gemini(), ".gemini", "settings.json") },
		form:   jsonFormat{}, keys: servers("mcpServers"), remote: []string{"url", "httpUrl"},
		hooks: &hookFile{
			file:   func(p Place) string { return filepath.Join(p.gemini(), ".gemini", "settings.json") },
			events: geminiEvents, element: geminiHook,
		},
		note: "Gemini CLI starts servers in folders that you trust only",
	},
	{
		ID: "zed", Name: "Zed", program: "zed",
		folder: func(p Place) string { return p.config("zed") },
		file:   func(p Place) string { return filepath.Join(p.config("zed"), "settings.json") },
		form:   jsonFormat{}, keys: servers("context_servers"), remote: []string{"url"},
	},
	{
		ID: "goose", Name: "Goose", program: "goose",
		folder: func(p Place) string { return p.config("goose") },
		file:   func(p Place) string { return filepath.Join(p.config("goose"), "config.yaml") },
		form:   yamlFormat{}, keys: gooseExtension, remote: []string{"uri"},
	},
	{
		ID: "opencode", Name: "OpenCode", program: "opencode",
		folder: func(p Place) string { return p.config("opencode") },
		file:   func(p Place) string { return p.opencode() },
		form:   jsonFormat{}, keys: opencodeServer, remote: []string{"url"}, plugin: opencodePlugin,
	},
}

// Find returns the host with an ID.
func Find(id string) (Host, error) {
	i := slices.IndexFunc(All, func(h Host) bool { return h.ID == id })
	if i < 0 {
		var ids []string
		for _, h := range All {
			ids = append(ids, h.ID)
		}
		return Host{}, fmt.Errorf("unknown host %q: must be one of %s", id, strings.Join(ids, ", "))
	}
	return All[i], nil
}

// File returns the path of the host's configuration file, which need not exist.
func (h Host) File(p Place) string { return h.file(p) }

// Present reports whether the host is installed: its program is in PATH, or it has left a folder.
func (h Host) Present(p Place) bool {
	if h.program != "" && p.inPath(h.program) {
		return true
	}
	info, err := os.Stat(h.folder(p))
	return err == nil && info.IsDir()
}

// inPath looks for a program as exec.LookPath does, in the PATH of the place.
func (p Place) inPath(name string) bool {
	for _, dir := range filepath.SplitList(p.Getenv("PATH")) {
		if _, err := exec.LookPath(filepath.Join(dir, name)); err == nil && filepath.IsAbs(dir) {
			return true
		}
	}
	return false
}

// application is the folder in which desktop applications keep the settings of one of them.
func (p Place) application(name string) string {
	if p.goos() == "darwin" {
		return filepath.Join(p.Home, "Library", "Application Support", name)
	}
	return p.config(name)
}

// config is a folder for settings by the rules of freedesktop.org, which the programs of a terminal use on macOS too.
func (p Place) config(name string) string {
	if dir := p.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, name)
	}
	return filepath.Join(p.Home, ".config", name)
}

// goos returns the platform whose places are used: that of this program, except in tests.
func (p Place) goos() string {
	if p.OS != "" {
		return p.OS
	}
	return runtime.GOOS
}

// orHome returns the folder that a variable names, else one in the home.
func (p Place) orHome(variable string, below ...string) string {
	if dir := p.Getenv(variable); dir != "" {
		return dir
	}
	return filepath.Join(append([]string{p.Home}, below...)...)
}

// SessionLogs returns the folder in which Claude Code keeps the sessions of this account, "" if there is none.
func (p Place) SessionLogs() string {
	if info, err := os.Stat(p.claudeLogs()); err != nil || !info.IsDir() {
		return ""
	}
	return p.claudeLogs()
}

func (p Place) claudeLogs() string { return filepath.Join(p.claude(), "projects") }

func (p Place) claude() string { return p.orHome("CLAUDE_CONFIG_DIR", ".claude") }
func (p Place) codex() string  { return p.orHome("CODEX_HOME", ".codex") }
func (p Place) gemini() string { return p.orHome("GEMINI_CLI_HOME") }

// opencode returns the file that OpenCode reads: of several, the one that exists.
func (p Place) opencode() string {
	if file := p.Getenv("OPENCODE_CONFIG"); file != "" {
		return file
	}
	for _, name := range []string{"opencode.jsonc", "opencode.json"} {
		file := filepath.Join(p.config("opencode"), name)
		if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
			return file
		}
	}
	return filepath.Join(p.config("opencode"), "opencode.json")
}

// servers returns the keys of hosts whose entries have a command and its arguments, below the key of all servers.
func servers(key string, more ...field) func(Entry) ([]string, object) {
	return func(e Entry) ([]string, object) {
		value := slices.Concat(object{}, more, object{{"command", e.Command}, {"args", e.Args}})
		if len(e.Env) > 0 {
			value = append(value, field{"env", environment(e.Env)})
		}
		return []string{key, e.Name}, value
	}
}

// opencodeServer returns the place and the entry of a server in OpenCode's configuration.
func opencodeServer(e Entry) ([]string, object) {
	value := object{{"type", "local"}, {"command", append([]string{e.Command}, e.Args...)}, {"enabled", true}}
	if len(e.Env) > 0 {
		value = append(value, field{"environment", environment(e.Env)})
	}
	return []string{"mcp", e.Name}, value
}

// gooseExtension returns the place and the entry of a server in Goose's configuration, where the timeout is in seconds.
func gooseExtension(e Entry) ([]string, object) {
	return []string{"extensions", e.Name}, object{
		{"name", e.Name},
		{"type", "stdio"},
		{"enabled", true},
		{"cmd", e.Command},
		{"args", e.Args},
		{"envs", environment(e.Env)},
		{"timeout", 300},
	}
}

// environment returns the entries "NAME=value" as an object.
func environment(entries []string) object {
	values := object{}
	for name, value := range (Entry{Env: entries}).variables() {
		values = append(values, field{name, value})
	}
	return values
}

// variables returns the names and values of the environment.
func (e Entry) variables() iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		for _, entry := range e.Env {
			if name, value, _ := strings.Cut(entry, "="); !yield(name, value) {
				return
			}
		}
	}
}
