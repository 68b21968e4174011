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
// a person has added to an entry stay. file is "" for the host's usual one; in another, a project's, there are no
// hooks. Nothing is written.
func (h Host) Install(p Place, file string, e Entry) ([]Change, error) {
	if e.Logs && h.logs != nil {
		e.Args = slices.Concat(e.Args, []string{"--transcripts", h.logs(p)})
	}
	server := step{file: h.orUsual(p, file), form: h.form, strict: h.strict}
	path, value := h.keys(e)
	server.others = func(content map[string]any) map[string]any { return without(content, path) }
	server.change = func(text []byte) ([]byte, error) { return h.setServer(text, path, value) }
	steps := []step{server}
	if h.hooks != nil && e.Hook != nil && file == "" {
		steps = append(steps, h.hookStep(p, func(text []byte) ([]byte, error) { return h.hooks.install(h.ID, e, text) }))
	}
	if h.plugin != nil && e.Hook != nil && file == "" {
		text, err := h.plugin.text(e)
		if err != nil {
			return nil, err
		}
		steps = append(steps, h.plugin.step(p, text))
	}
	return h.plan(steps, nil)
}

// Uninstall returns the changes that remove the entry called name, and the hooks. A file becomes byte for byte what it
// was before Install, if store has it and nothing else has changed the file since; otherwise only what is this
// program's is removed.
func (h Host) Uninstall(p Place, file, name string, store Store) ([]Change, error) {
	path, _ := h.keys(Entry{Name: name})
	steps := []step{{
		file: h.orUsual(p, file), form: h.form, strict: h.strict,
		others: func(content map[string]any) map[string]any { return without(content, path) },
		change: func(text []byte) ([]byte, error) { return h.form.remove(text, path) },
	}}
	if h.hooks != nil && file == "" {
		steps = append(steps, h.hookStep(p, func(text []byte) ([]byte, error) { return h.hooks.remove(h.ID, text) }))
	}
	if h.plugin != nil && file == "" {
		steps = append(steps, h.plugin.step(p, nil))
	}
	return h.plan(steps, &store)
}

// Note is what a person must do besides, "" for nothing.
func (h Host) Note() string {
	if h.hooks == nil {
		return ""
	}
	return h.hooks.note
}

// step is a change of one file.
type step struct {
	file   string
	form   format
	strict bool
	others func(content map[string]any) map[string]any
	change func(text []byte) ([]byte, error)
	whole  func(before []byte) ([]byte, error) // instead of the others, for a file of its own; nil is no file
}

// orUsual returns file, or the host's usual one for "".
func (h Host) orUsual(p Place, file string) string {
	if file == "" {
		return h.file(p)
	}
	return file
}

// hookStep returns the step that changes the host's file of hooks.
func (h Host) hookStep(p Place, change func([]byte) ([]byte, error)) step {
	return step{
		file: h.hooks.file(p), form: jsonFormat{}, strict: h.strict, change: change,
		others: func(content map[string]any) map[string]any { return h.hooks.others(h.ID, content) },
	}
}

// plan computes the changes of steps, those of one file as one change. store is nil to install.
func (h Host) plan(steps []step, store *Store) ([]Change, error) {
	var changes []Change
	for _, s := range steps {
		c, err := open(s.file)
		if err != nil {
			return nil, err
		}
		c.after = c.before
		last := len(changes) - 1
		if last >= 0 && changes[last].target == c.target {
			c = changes[last]
			changes = changes[:last]
		}
		restored := false
		if store != nil {
			if before, ok := store.undone(c); ok {
				c.after, restored = before, true
			}
		}
		if !restored && s.whole != nil {
			if c.after, err = s.whole(c.before); err != nil {
				return nil, fmt.Errorf("%s: %w; nothing was changed", s.file, err)
			}
		} else if !restored && (store == nil || c.before != nil) {
			if err = h.checkStrict(c.after, s.strict); err == nil {
				c.after, err = edit(s.form, c.after, s.others, s.change)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w; nothing was changed", s.file, err)
			}
		}
		changes = append(changes, c)
	}
	return changes, nil
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
		if below, ok := f.value.(object); ok && len(below) == 0 {
			continue
		}
		// As JSON, since the formats decode numbers to different types.
		var found, wanted any
		encoded, err := json.Marshal(entry[f.key])
		if err != nil {
			return err
		}
		if err := errors.Join(json.Unmarshal(encoded, &found), json.Unmarshal(encode(f.value), &wanted)); err != nil {
			return err
		}
		if !reflect.DeepEqual(found, wanted) {
			return fmt.Errorf("cannot set %s.%s in this file; add the entry by hand", strings.Join(path, "."), f.key)
		}
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

// Installed returns the command with which the host starts the server called name, nil if it has none.
func (h Host) Installed(p Place, file, name string) ([]string, error) {
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
	path, _ := h.keys(Entry{Name: name})
	present, _ := at(content, path)
	entry, _ := present.(map[string]any)
	var command []string
	for _, key := range []string{"command", "cmd", "args"} {
		switch value := entry[key].(type) {
		case string:
			command = append(command, value)
		case []any:
			for _, item := range value {
				command = append(command, fmt.Sprint(item))
			}
		}
	}
	return command, nil
}
