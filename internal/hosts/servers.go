package hosts

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// DefaultName is the name of an entry that was given no other.
const DefaultName = "yamo"

// isProgram reports whether a word of a command is this program, whose file may have its version in the name.
func isProgram(word string) bool { return strings.HasPrefix(filepath.Base(word), "yamo-mcp") }

// Server is an entry with which a host starts this program.
type Server struct {
	Name    string
	Command []string // with its arguments
}

// flags returns those of the entry that its hooks have as well.
func (s Server) flags() []string {
	i := slices.Index(s.Command, "serve")
	if i < 0 {
		return nil
	}
	flags := s.Command[i+1:]
	if i := slices.Index(flags, "--transcripts"); i >= 0 && i+1 < len(flags) {
		flags = slices.Delete(slices.Clone(flags), i, i+2)
	}
	return flags
}

// Servers returns the entries with which the host starts this program: the one with the default name, and those of
// other names whose command says so. The one with the default name comes first, the others in alphabetical order.
func (h Host) Servers(p Place, file string) ([]Server, error) {
	content, err := h.content(p, file)
	if err != nil {
		return nil, err
	}
	path, _ := h.keys(Entry{Name: DefaultName})
	value, _ := at(content, path[:len(path)-1])
	entries, _ := value.(map[string]any)
	var servers []Server
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		s := Server{name, commandOf(entries[name])}
		switch {
		case len(s.Command) == 0:
		case name == DefaultName:
			servers = slices.Insert(servers, 0, s)
		case slices.Contains(s.Command, "serve") &&
			(slices.ContainsFunc(s.Command, isProgram) || isOurs(strings.Join(s.Command, " "))):
			servers = append(servers, s)
		}
	}
	return servers, nil
}

// Installed returns the command with which the host starts the server called name, nil if it has none.
func (h Host) Installed(p Place, file, name string) ([]string, error) {
	content, err := h.content(p, file)
	if err != nil {
		return nil, err
	}
	path, _ := h.keys(Entry{Name: name})
	present, _ := at(content, path)
	return commandOf(present), nil
}

// content returns what is in the host's configuration, nothing without a file. The error names the file.
func (h Host) content(p Place, file string) (map[string]any, error) {
	c, err := open(h.orUsual(p, file))
	if err != nil {
		return nil, err
	}
	text, _ := bare(c.before)
	err = h.checkStrict(text, h.strict)
	var content map[string]any
	if err == nil {
		content, err = h.form.decode(text)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Path, err)
	}
	return content, nil
}

// commandOf returns the command of a host's entry with its arguments, nil if it has none.
func commandOf(entry any) []string {
	fields, _ := entry.(map[string]any)
	var command []string
	for _, key := range []string{"command", "cmd", "args"} {
		switch value := fields[key].(type) {
		case string:
			command = append(command, value)
		case []any:
			for _, item := range value {
				command = append(command, fmt.Sprint(item))
			}
		}
	}
	return command
}

// RunsHooks reports whether Install adds hooks to the host.
func (h Host) RunsHooks() bool { return h.hooks != nil || h.plugin != nil }

// HookFile returns the file in which the host's hooks are, for a host that runs hooks.
func (h Host) HookFile(p Place) string {
	if h.plugin != nil {
		return h.plugin.file(p)
	}
	return h.hooks.file(p)
}

// Hooks returns what the host runs at its events: command lines, or the text of the plugin that has them. It is empty
// if it runs nothing of this program.
func (h Host) Hooks(p Place) ([]string, error) {
	c, err := open(h.HookFile(p))
	if err != nil {
		return nil, err
	}
	if h.plugin != nil {
		if c.before != nil && h.plugin.ours(c.before) {
			return []string{string(c.before)}, nil
		}
		return nil, nil
	}
	text, _ := bare(c.before)
	content, err := (jsonFormat{}).decode(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Path, err)
	}
	return h.hooks.lines(h.ID, content), nil
}

// HooksOf returns the name of the entry to which the host's hooks belong, "" if the entry called name may have them:
// there are none, or they are its own. A host runs its hooks once for all of its servers.
func (h Host) HooksOf(p Place, store Store, name string) (string, error) {
	if !h.RunsHooks() {
		return "", nil
	}
	hooks, err := h.Hooks(p)
	if err != nil || len(hooks) == 0 {
		return "", err
	}
	owner, servers, err := h.hookOwner(p, store)
	if err != nil || owner == name {
		return "", err
	}
	is := func(name string) func(Server) bool { return func(s Server) bool { return s.Name == name } }
	switch {
	case owner != "" && slices.ContainsFunc(servers, is(owner)):
		return owner, nil
	case owner == "" && len(servers) > 0 && !slices.ContainsFunc(servers, is(name)):
		return servers[0].Name, nil
	}
	return "", nil // nobody is left to whom they belong
}

// hookOwner returns the name of the entry to which the host's hooks belong: the one that they were installed with, or
// else, if that is not recorded, one that serves the same. It is "" if that is not known. servers are all entries.
func (h Host) hookOwner(p Place, store Store) (owner string, servers []Server, err error) {
	if servers, err = h.Servers(p, ""); err != nil {
		return "", nil, err
	}
	c, err := open(h.HookFile(p))
	if err != nil {
		return "", nil, err
	}
	if last, ok := store.last(c); ok && last.Hooks != "" {
		return last.Hooks, servers, nil
	}
	hooks, err := h.Hooks(p)
	if err != nil || len(hooks) == 0 {
		return "", servers, err
	}
	for _, s := range servers {
		wanted := string(encode(s.flags())) // as the plugin has them
		if h.plugin == nil {
			wanted = " --host " + h.ID + " "
			for _, word := range s.flags() {
				wanted += Quoted(word) + " "
			}
			wanted += "||"
		}
		if strings.Contains(hooks[0], wanted) {
			return s.Name, servers, nil
		}
	}
	return "", servers, nil
}
