package hosts

import (
	"maps"
	"slices"
	"testing"
)

// Whatever is in a host's file: it is refused, or a server is added and removed again, and the rest of the content is
// what it was.
func FuzzFormats(f *testing.F) {
	for _, seed := range []string{
		"", "{}", `{"mcpServers":{"other":{"command":"x"}},"a":[1,2]}`, "// note\n{\n\t\"mcpServers\": {}, // more\n}\n",
		"[mcp_servers.other]\ncommand = \"x\"\n", "a = 1\n[[list]]\nb = '''\n[mcp_servers]'''\n", "mcp_servers = {}\n",
		"extensions:\n  other:\n    cmd: x\n", "# note\na: &b 1\nc: *b\n", "extensions: {}\r\n", "\xef\xbb\xbf{}\r\n",
		"{}\n// after", "[mcpServers.yamo]\n[mcpServers.yamo.env]\nX = \"1\"",
	} {
		f.Add(seed)
	}
	formats := map[string]format{"json": jsonFormat{}, "toml": tomlFormat{}, "yaml": yamlFormat{}}
	path := []string{"mcpServers", "yamo"}
	value := object{{"command", "yamo-mcp"}, {"args", []string{"serve", "--workspace", "/home/ana/my agent"}}}
	rest := func(content map[string]any) map[string]any { return without(content, path) }
	f.Fuzz(func(t *testing.T, file string) {
		for _, name := range slices.Sorted(maps.Keys(formats)) {
			form := formats[name]
			added, err := edit(form, []byte(file), rest, func(text []byte) ([]byte, error) {
				return form.set(text, path, value)
			})
			if err != nil {
				continue // a person edits such a file by hand
			}
			text, _ := bare(added)
			content, err := form.decode(text)
			if err != nil {
				t.Fatalf("%s: after adding a server: %v\n%s", name, err, added)
			}
			if _, ok := at(content, path); !ok {
				t.Fatalf("%s: the server is not there:\n%s", name, added)
			}
			removed, err := edit(form, added, rest, func(text []byte) ([]byte, error) { return form.remove(text, path) })
			if err != nil {
				t.Fatalf("%s: a server that was added cannot be removed: %v\n%s", name, err, added)
			}
			text, _ = bare(removed)
			if content, err = form.decode(text); err != nil {
				t.Fatalf("%s: after removing the server: %v\n%s", name, err, removed)
			}
			if _, ok := at(content, path); ok {
				t.Fatalf("%s: the server is still there:\n%s", name, removed)
			}
		}
	})
}
