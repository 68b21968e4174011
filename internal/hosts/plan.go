package hosts

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Install returns the changes that add e and its hooks to the host's configuration, or update what is there: keys that
// a person has added to an entry stay, and so do hooks that belong to another entry (HooksOf). file is "" for the
// host's usual one; in another, a project's, there are no hooks. Nothing is written.
func (h Host) Install(p Place, file string, e Entry, store Store) ([]Change, error) {
	if e.Logs && h.logs != nil {
		e.Args = slices.Concat(e.Args, []string{"--transcripts", h.logs(p)})
	}
	path, value := h.keys(e)
	server := h.serverStep(p, file, e.Name)
	server.change = func(text []byte) ([]byte, error) { return h.setServer(text, path, value) }
	steps := []step{server}
	if h.RunsHooks() && e.Hook != nil && file == "" {
		other, err := h.HooksOf(p, store, e.Name)
		if err != nil {
			return nil, fmt.Errorf("%w; nothing was changed", err)
		}
		if other == "" {
			hooks, err := h.hookStep(p, &e)
			if err != nil {
				return nil, err
			}
			steps = append(steps, hooks)
		}
	}
	return h.plan(steps, e.Name, store, false)
}

// Uninstall returns the changes that remove the entry called name, and the hooks if they are its own. A file becomes
// byte for byte what it was before Install, if store has it, no other entry was installed and nothing else has changed
// the file since; otherwise only what belongs to the entry is removed.
func (h Host) Uninstall(p Place, file, name string, store Store) ([]Change, error) {
	path, _ := h.keys(Entry{Name: name})
	server := h.serverStep(p, file, name)
	server.change = func(text []byte) ([]byte, error) { return h.form.remove(text, path) }
	steps := []step{server}
	if h.RunsHooks() && file == "" {
		owner, servers, err := h.hookOwner(p, store)
		if err != nil {
			return nil, fmt.Errorf("%w; nothing was changed", err)
		}
		servers = slices.DeleteFunc(servers, func(s Server) bool { return s.Name == name })
		if owner == name || owner == "" && len(servers) == 0 {
			hooks, err := h.hookStep(p, nil)
			if err != nil {
				return nil, err
			}
			steps = append(steps, hooks)
		}
	}
	return h.plan(steps, name, store, true)
}

// Note is what a person must do besides after changes, "" for nothing.
func (h Host) Note(changes []Change) string {
	changed := func(c Change) bool { return c.hooks && !c.Empty() }
	if h.hooks != nil && h.hooks.note != "" && slices.ContainsFunc(changes, changed) {
		return h.hooks.note
	}
	return h.note
}

// step is a change of one file.
type step struct {
	file   string
	form   format
	strict bool
	others func(content map[string]any) map[string]any
	change func(text []byte) ([]byte, error)
	whole  func(before []byte) ([]byte, error)   // instead of the others, for a file of its own; nil is no file
	hooks  bool                                  // it is one of hooks
	holds  func(before []byte, name string) bool // whether the file has an entry; nil for hooks: their owner's
}

// orUsual returns file, or the host's usual one for "".
func (h Host) orUsual(p Place, file string) string {
	if file == "" {
		return h.file(p)
	}
	return file
}

// serverStep returns the step of the entry called name, without its change.
func (h Host) serverStep(p Place, file, name string) step {
	path, _ := h.keys(Entry{Name: name})
	return step{
		file: h.orUsual(p, file), form: h.form, strict: h.strict,
		others: func(content map[string]any) map[string]any { return without(content, path) },
		holds: func(before []byte, name string) bool {
			text, _ := bare(before)
			content, err := h.form.decode(text)
			path, _ := h.keys(Entry{Name: name})
			_, ok := at(content, path)
			return err == nil && ok
		},
	}
}

// hookStep returns the step that sets the hooks of e, or removes the hooks if e is nil.
func (h Host) hookStep(p Place, e *Entry) (step, error) {
	if h.plugin != nil {
		var text []byte
		if e != nil {
			var err error
			if text, err = h.plugin.text(*e); err != nil {
				return step{}, err
			}
		}
		return h.plugin.step(p, text), nil
	}
	return step{
		file: h.hooks.file(p), form: jsonFormat{}, strict: h.strict, hooks: true,
		change: func(text []byte) ([]byte, error) {
			if e == nil {
				return h.hooks.remove(h.ID, text)
			}
			return h.hooks.install(h.ID, *e, text)
		},
		others: func(content map[string]any) map[string]any { return h.hooks.others(h.ID, content) },
	}, nil
}

// plan computes the changes of steps for the entry called name, those of one file as one change.
func (h Host) plan(steps []step, name string, store Store, removing bool) ([]Change, error) {
	var changes []Change
	for _, s := range steps {
		c, err := open(s.file)
		if err != nil {
			return nil, err
		}
		c.after, c.entry = c.before, name
		last := len(changes) - 1
		if last >= 0 && changes[last].target == c.target {
			c = changes[last]
			changes = changes[:last]
		}
		if c.hooks = c.hooks || s.hooks; s.holds != nil {
			c.holds = append(c.holds, func(name string) bool { return s.holds(c.before, name) })
		} else if before, ok := store.last(c); ok {
			c.holds = append(c.holds, func(name string) bool {
				return before.Hooks == name && isOurs(string(c.before))
			})
		}
		if c.after, err = h.result(s, c, store, removing); err != nil {
			return nil, fmt.Errorf("%s: %w; nothing was changed", s.file, err)
		}
		changes = append(changes, c)
	}
	return changes, nil
}

// result returns what step s makes of a file, from what the steps before it have made of it.
func (h Host) result(s step, c Change, store Store, removing bool) ([]byte, error) {
	if removing {
		if before, ok := store.undone(c); ok {
			return before, nil
		}
	}
	if s.whole != nil {
		return s.whole(c.before)
	}
	if removing && c.before == nil {
		return nil, nil
	}
	if err := h.checkStrict(c.after, s.strict); err != nil {
		return nil, err
	}
	return edit(s.form, c.after, s.others, s.change)
}

// setServer sets the entry of the server.
func (h Host) setServer(text []byte, path []string, value object) ([]byte, error) {
	content, err := h.form.decode(text)
	if err != nil {
		return nil, err
	}
	present, _ := at(content, path)
	entry, _ := present.(map[string]any)
	for _, key := range h.remote {
		if _, ok := entry[key]; ok {
			return nil, fmt.Errorf("%s is a server at an address (%q); remove it, or choose another name with --name",
				strings.Join(path, "."), key)
		}
	}
	if h.check(text, path, value) == nil {
		return text, nil
	}
	changed, err := h.form.set(text, path, value)
	if err != nil {
		return nil, err
	}
	return changed, h.check(changed, path, value)
}

// check fails if the host would not find value at path.
func (h Host) check(text []byte, path []string, value object) error {
	content, err := h.form.decode(text)
	if err != nil {
		return err
	}
	present, _ := at(content, path)
	entry, _ := present.(map[string]any)
	for _, f := range value {
		if err := found(entry[f.key], f.value); err != nil {
			return fmt.Errorf("cannot set %s.%s in this file; add the entry by hand", strings.Join(path, "."), f.key)
		}
	}
	return nil
}

// found fails if a decoded value is not the wanted one. An object may have more fields.
func found(present, wanted any) error {
	if fields, ok := wanted.(object); ok {
		below, _ := present.(map[string]any)
		for _, f := range fields {
			if err := found(below[f.key], f.value); err != nil {
				return err
			}
		}
		return nil
	}
	// As JSON, since the formats decode numbers to different types.
	var a, b any
	encoded, err := json.Marshal(present)
	if err != nil {
		return err
	}
	if err := errors.Join(json.Unmarshal(encoded, &a), json.Unmarshal(encode(wanted), &b)); err != nil {
		return err
	}
	if !reflect.DeepEqual(a, b) {
		return errors.New("another value")
	}
	return nil
}

// checkStrict refuses comments in the file of a host that would not read it.
func (h Host) checkStrict(file []byte, strict bool) error {
	text, _ := bare(file)
	if !strict || len(strings.TrimSpace(string(text))) == 0 {
		return nil
	}
	var content any
	if err := json.Unmarshal(text, &content); err != nil {
		return fmt.Errorf("not valid JSON, which %s requires without comments: %w", h.Name, err)
	}
	return nil
}
