package hosts

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Install returns the change that adds e to the host's configuration in file, or updates the entry that is there: keys
// that a person has added to it stay. file is "" for the host's usual one. Nothing is written.
func (h Host) Install(p Place, file string, e Entry) (Change, error) {
	return h.plan(p, file, func(c Change) ([]byte, error) {
		path, value := h.keys(e)
		return edit(h.form, c.before, path, func(text []byte) ([]byte, error) {
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
		})
	})
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

// Uninstall returns the change that removes the entry called name. The file becomes byte for byte what it was before
// Install, if store has it and nothing else has changed the file since; otherwise only the entry is removed.
func (h Host) Uninstall(p Place, file, name string, store Store) (Change, error) {
	return h.plan(p, file, func(c Change) ([]byte, error) {
		if before, ok := store.undone(c); ok {
			return before, nil
		}
		if c.before == nil {
			return nil, nil
		}
		path, _ := h.keys(Entry{Name: name})
		return edit(h.form, c.before, path, func(text []byte) ([]byte, error) {
			return h.form.remove(text, path)
		})
	})
}

// plan opens a file of the host and computes what becomes of it.
func (h Host) plan(p Place, file string, compute func(Change) ([]byte, error)) (Change, error) {
	if file == "" {
		file = h.file(p)
	}
	c, err := open(file)
	if err != nil {
		return c, err
	}
	if err := h.checkStrict(c.before); err != nil {
		return c, fmt.Errorf("%s: %w; nothing was changed", file, err)
	}
	if c.after, err = compute(c); err != nil {
		return c, fmt.Errorf("%s: %w; nothing was changed", file, err)
	}
	return c, nil
}

// checkStrict refuses comments in the file of a host that would not read it.
func (h Host) checkStrict(file []byte) error {
	text, _ := bare(file)
	if !h.strict || len(strings.TrimSpace(string(text))) == 0 {
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
	var command []string
	_, err := h.plan(p, file, func(c Change) ([]byte, error) {
		text, _ := bare(c.before)
		content, err := h.form.decode(text)
		if err != nil {
			return nil, err
		}
		path, _ := h.keys(Entry{Name: name})
		present, _ := at(content, path)
		entry, _ := present.(map[string]any)
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
		return nil, nil
	})
	return slices.Clip(command), err
}
