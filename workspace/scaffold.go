package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/workspace/plain"
)

// Profile contains what Init needs to create a workspace without a first boot. Each field is one line of 1 to 100
// printable characters.
type Profile struct {
	Name     string // of the agent
	Role     string // of the agent, such as "a personal assistant"
	User     string // what to call the workspace owner
	Timezone string // the owner's, an IANA name
}

// maxProfile is the maximum length of a field of a Profile, in characters.
const maxProfile = 100

// check returns an error that names the first invalid field.
func (p Profile) check() error {
	for _, field := range []struct{ name, value string }{
		{"name", p.Name}, {"role", p.Role}, {"user", p.User}, {"timezone", p.Timezone},
	} {
		switch {
		case strings.TrimSpace(field.value) == "":
			return fmt.Errorf("%s: must not be empty", field.name)
		case utf8.RuneCountInString(field.value) > maxProfile ||
			strings.ContainsFunc(field.value, func(r rune) bool { return !unicode.IsPrint(r) }) ||
			strings.Contains(field.value, "_("):
			return fmt.Errorf("%s: must be one line of at most %d printable characters, without _(", field.name, maxProfile)
		}
	}
	if _, err := time.LoadLocation(p.Timezone); err != nil || p.Timezone == "Local" {
		return fmt.Errorf("timezone: %q is not known; use a name such as Europe/Lisbon or UTC", p.Timezone)
	}
	return nil
}

// Errors of Init.
var (
	ErrInitialized = errors.New("already a workspace (it has a SOUL.md); nothing was written")
	ErrFirstBoot   = errors.New("it has a BOOTSTRAP.md of its own; nothing was written: begin a session to follow it, " +
		"or delete it")
)

// Init creates a workspace in dir, and dir itself with mode 0700 if it is missing. Only the operator may call it.
//
// Without a profile the state is Bootstrap: a BOOTSTRAP.md, AGENTS.md, and templates with placeholders. With a profile
// it is Ready: SOUL.md and the others filled in, and a first daily entry. Existing files are kept, except that a
// profile replaces untouched templates. made and kept are the names of the files, relative to dir and sorted; they are
// valid even with an error. The error is ErrInitialized or ErrFirstBoot for a folder that is a workspace already.
func Init(ctx context.Context, dir string, profile *Profile, options ...Option) (made, kept []string, err error) {
	if profile != nil {
		if err := profile.check(); err != nil {
			return nil, nil, err
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, fmt.Errorf("make workspace: %w", err)
	}
	w, err := Open(dir, options...)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	v := w.View(audience.DM())
	if v.exists(SoulFile) {
		return nil, nil, ErrInitialized
	}
	if data, err := v.Read(BootstrapFile); err == nil && profile != nil && !untouched(BootstrapFile, data) {
		return nil, nil, ErrFirstBoot
	}
	names := []string{AgentsFile, BootstrapFile, HeartbeatFile, IdentityFile, ToolsFile, UserFile}
	if profile != nil {
		names = []string{AgentsFile, HeartbeatFile, IdentityFile, SoulFile, ToolsFile, UserFile}
	}
	for _, name := range names {
		data := template(name)
		if profile != nil {
			data = []byte(profile.fill(name))
		}
		wrote, err := w.make(ctx, name, data, profile != nil)
		if err != nil {
			return made, kept, err
		}
		if wrote {
			made = append(made, name)
		} else {
			kept = append(kept, name)
		}
	}
	if profile == nil {
		return made, kept, nil
	}
	if err := v.deleteBootstrap(); err != nil {
		return made, kept, err
	}
	entry := "Workspace created for " + profile.User + "; the agent's name is " + profile.Name + "."
	done, err := v.Journal().Append(ctx, "", entry)
	if err != nil {
		return made, kept, err
	}
	made = append(made, done.Name)
	slices.Sort(made)
	return made, kept, nil
}

// make writes the file called name and reports true, unless it exists. With replace, an untouched template is replaced.
func (w *Workspace) make(ctx context.Context, name string, data []byte, replace bool) (made bool, err error) {
	err = w.locked(ctx, func() error {
		made, err = plain.Replace(w.root, name, data, func(present []byte) (bool, error) {
			return present == nil || replace && untouched(name, present) && string(present) != string(data), nil
		})
		return err
	})
	if err != nil {
		return false, fmt.Errorf("write %s: %w", name, err)
	}
	return made, nil
}

var (
	// placeholder is a template's gap, seed 002's `_(pick something)_`.
	placeholder = regexp.MustCompile(`_\([^)\n]*\)_`)
	field       = regexp.MustCompile(`^(?:- )?\*\*([A-Za-z ]+):\*\* `)
)

// fill returns the template of the file called name with p's values. Lines with a placeholder that p has no value for
// are left out.
func (p Profile) fill(name string) string {
	values := map[string]map[string]string{
		IdentityFile: {"Name": p.Name},
		UserFile:     {"Name": p.User, "Timezone": p.Timezone},
	}[name]
	var lines []string
	for line := range strings.Lines(string(template(name))) {
		if gap := placeholder.FindStringIndex(line); gap != nil {
			m := field.FindStringSubmatch(line)
			if m == nil || values[m[1]] == "" {
				continue
			}
			line = line[:gap[0]] + values[m[1]] + line[gap[1]:]
		}
		if line == "\n" && len(lines) > 0 && lines[len(lines)-1] == "\n" {
			continue
		}
		lines = append(lines, line)
	}
	text := strings.TrimRight(strings.Join(lines, ""), "\n") + "\n"
	return strings.NewReplacer("{{name}}", p.Name, "{{role}}", p.Role, "{{user}}", p.User).Replace(text)
}
