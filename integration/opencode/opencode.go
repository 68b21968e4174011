// Package opencode has the plugin that runs the hooks in OpenCode, which has no file of hooks to add to.
//
// Its invariant: yamo.js works as it is for a person who copies it; installing replaces only its constants.
package opencode

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
)

//go:embed yamo.js
var plugin string

// Plugin returns the plugin that starts program with flags after `hook EVENT --host opencode`, and with env in addition
// to OpenCode's own environment.
func Plugin(program string, flags []string, env map[string]string) ([]byte, error) {
	text := plugin
	for name, value := range map[string]any{"program": program, "flags": flags, "environment": env} {
		encoded, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		before, rest, ok := strings.Cut(text, "\nconst "+name+" = ")
		_, after, end := strings.Cut(rest, "\n")
		if !ok || !end {
			return nil, fmt.Errorf("the plugin has no constant %s", name)
		}
		text = before + "\nconst " + name + " = " + string(encoded) + "\n" + after
	}
	return []byte(text), nil
}

// IsPlugin reports whether the text of a file is a plugin that Plugin has made, of this or another version.
func IsPlugin(text []byte) bool {
	return strings.HasPrefix(string(text), plugin[:strings.Index(plugin, "\n")])
}
