package hosts

import (
	"errors"
	"maps"
	"path/filepath"

	"github.com/yamo-protocol/yamo-mcp/integration/opencode"
)

// pluginFile is a file of its own with the hooks of a host that loads programs.
type pluginFile struct {
	file func(Place) string
	text func(Entry) ([]byte, error)
	ours func(text []byte) bool // of this or another version
}

// opencodePlugin is loaded by OpenCode from its folder of plugins.
var opencodePlugin = &pluginFile{
	file: func(p Place) string { return filepath.Join(p.config("opencode"), "plugins", "yamo.js") },
	text: func(e Entry) ([]byte, error) {
		return opencode.Plugin(e.Command, e.Hook, maps.Collect(e.variables()))
	},
	ours: opencode.IsPlugin,
}

// step returns the step that makes text the content of the file, or removes the file if text is nil.
func (f *pluginFile) step(p Place, text []byte) step {
	return step{file: f.file(p), hooks: true, whole: func(before []byte) ([]byte, error) {
		switch {
		case before == nil || f.ours(before):
			return text, nil
		case text == nil:
			return before, nil // of another program
		default:
			return nil, errors.New("another program's; move it, or install with --no-hooks")
		}
	}}
}
