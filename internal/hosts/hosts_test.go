package hosts

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

// home is a Place of its own on Linux.
func home(t *testing.T) Place {
	t.Helper()
	return Place{Home: t.TempDir(), OS: "linux", Getenv: func(string) string { return "" }}
}

func entry() Entry {
	return Entry{
		Name: "yamo", Command: `/opt/yamo "quoted"/bin/yamo-mcp`,
		Args: []string{"serve", "--workspace", "/home/ana/é & <ü>", "--connection", "dm"},
		Hook: []string{"--workspace", "/home/ana/é & <ü>", "--connection", "dm"},
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// install adds e to the host and returns what its file is then.
func install(t *testing.T, h Host, p Place, store Store, e Entry) string {
	t.Helper()
	changes, err := h.Install(p, "", e, store)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		if err := store.Apply(c); err != nil {
			t.Fatal(err)
		}
	}
	return get(t, h.File(p))
}

func uninstall(t *testing.T, h Host, p Place, store Store) {
	t.Helper()
	changes, err := h.Uninstall(p, "", "yamo", store)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		if err := store.Undo(c); err != nil {
			t.Fatal(err)
		}
	}
}

// variants are forms of a text that must not matter.
var variants = map[string]func(string) string{
	"as is":             func(s string) string { return s },
	"CRLF":              func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
	"byte order mark":   func(s string) string { return "\ufeff" + s },
	"no last line feed": func(s string) string { return strings.TrimRight(s, "\n") },
	"empty lines after": func(s string) string { return s + "\n\n" },
}

// eachFile calls check with every sample file of every host in every variant.
func eachFile(t *testing.T, check func(t *testing.T, h Host, text string)) {
	for _, h := range All {
		archive, err := txtar.ParseFile(filepath.Join("testdata", h.ID+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		if len(archive.Files) == 0 {
			t.Fatalf("no sample files for %s", h.ID)
		}
		for _, file := range archive.Files {
			for name, variant := range variants {
				t.Run(h.ID+"/"+file.Name+"/"+name, func(t *testing.T) {
					t.Parallel()
					check(t, h, variant(string(file.Data)))
				})
			}
		}
	}
}

// What the file was before is a subsequence of what it is after, so that nothing of it was rewritten; the host finds
// the entry; a second installation changes nothing; and uninstalling restores every byte.
func TestInstallAndUninstall(t *testing.T) {
	t.Parallel()
	eachFile(t, func(t *testing.T, h Host, text string) {
		p, e := home(t), entry()
		store := DefaultStore(p)
		put(t, h.File(p), text)
		after := install(t, h, p, store, e)
		if rest := afterSubsequence([]byte(text), []byte(after)); rest != "" && !strings.Contains(text, "null") {
			t.Errorf("something was rewritten; from here on it differs: %q\n%s", rest, after)
		}
		command, err := h.Installed(p, "", "yamo")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(append([]string{e.Command}, e.Args...), command); diff != "" {
			t.Errorf("the host would start something else (-want +got):\n%s\n%s", diff, after)
		}
		if strings.Contains(text, "\r\n") && strings.Count(after, "\n") != strings.Count(after, "\r\n") {
			t.Errorf("line breaks are mixed:\n%q", after)
		}
		again, err := h.Install(p, "", e, store)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range again {
			if diff := c.Diff(); diff != "" {
				t.Errorf("a second installation changes the file:\n%s", diff)
			}
		}
		uninstall(t, h, p, store)
		if diff := cmp.Diff(text, get(t, h.File(p))); diff != "" {
			t.Errorf("uninstalled is not what was before (-before +after):\n%s", diff)
		}
	})
}

// afterSubsequence returns what is left of short after the last of its bytes that was found in long, in order.
func afterSubsequence(short, long []byte) string {
	for i, c := range short {
		at := bytes.IndexByte(long, c)
		if at < 0 {
			return string(short[i:])
		}
		long = long[at+1:]
	}
	return ""
}

// A file that was changed after the installation loses the entry and nothing else.
func TestUninstallFromAChangedFile(t *testing.T) {
	t.Parallel()
	eachFile(t, func(t *testing.T, h Host, text string) {
		p, e := home(t), entry()
		store := DefaultStore(p)
		put(t, h.File(p), text)
		install(t, h, p, store, e)
		other := e
		other.Name, other.Args = "zebra", []string{"--other"}
		other.Hook = nil
		changes, err := h.Install(p, "", other, store)
		if err != nil {
			t.Fatal(err)
		}
		if err := changes[0].write(); err != nil {
			t.Fatal(err)
		}
		uninstall(t, h, p, store)
		if command, err := h.Installed(p, "", "yamo"); err != nil || command != nil {
			t.Errorf("still installed: %q, %v\n%s", command, err, get(t, h.File(p)))
		}
		if command, err := h.Installed(p, "", "zebra"); err != nil || len(command) != 2 {
			t.Errorf("the other server is %q, %v\n%s", command, err, get(t, h.File(p)))
		}
		path, _ := h.keys(other)
		want, err := decoded(h, text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decoded(h, get(t, h.File(p)))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(without(want, path), without(got, path)) {
			t.Errorf("the rest has changed:\n%s", get(t, h.File(p)))
		}
		// Comments are not content, but they stay.
		for line := range strings.Lines(text) {
			if comment := strings.TrimSpace(line); strings.HasPrefix(comment, "//") || strings.HasPrefix(comment, "#") {
				if !strings.Contains(get(t, h.File(p)), comment) {
					t.Errorf("the comment %q is gone", comment)
				}
			}
		}
	})
}

func decoded(h Host, file string) (map[string]any, error) {
	text, _ := bare([]byte(file))
	return h.form.decode(text)
}

// Without a file there is one afterwards, and without the folder too; uninstalling removes both.
func TestMissingFile(t *testing.T) {
	t.Parallel()
	for _, h := range All {
		t.Run(h.ID, func(t *testing.T) {
			t.Parallel()
			p := home(t)
			store := DefaultStore(Place{Home: t.TempDir(), OS: "linux", Getenv: p.Getenv})
			install(t, h, p, store, entry())
			if command, err := h.Installed(p, "", "yamo"); err != nil || len(command) != 6 {
				t.Errorf("installed as %q, %v", command, err)
			}
			info, err := os.Stat(h.File(p))
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode().Perm() != 0o600 {
				t.Errorf("mode %v", info.Mode())
			}
			uninstall(t, h, p, store)
			left, err := os.ReadDir(p.Home)
			if err != nil {
				t.Fatal(err)
			}
			if len(left) != 0 {
				t.Errorf("%v is left", left)
			}
			for _, empty := range []string{"", "\n"} {
				put(t, h.File(p), empty)
				install(t, h, p, store, entry())
				uninstall(t, h, p, store)
				if got := get(t, h.File(p)); got != empty {
					t.Errorf("an empty file is %q afterwards, was %q", got, empty)
				}
			}
		})
	}
}

// Dotfiles are often links into a repository. The link stays, its target changes, with its mode; a hard link too.
func TestLinks(t *testing.T) {
	t.Parallel()
	for _, h := range All {
		t.Run(h.ID, func(t *testing.T) {
			t.Parallel()
			p := home(t)
			store := DefaultStore(p)
			target := filepath.Join(t.TempDir(), "dotfiles", "config")
			put(t, target, "")
			if err := os.Chmod(target, 0o640); err != nil {
				t.Fatal(err)
			}
			second := target + "-hard"
			if err := os.Link(target, second); err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Dir(h.File(p)), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(target, h.File(p)); err != nil {
				t.Fatal(err)
			}
			after := install(t, h, p, store, entry())
			if link, err := os.Readlink(h.File(p)); err != nil || link != target {
				t.Errorf("the link is %q, %v", link, err)
			}
			if info, err := os.Stat(target); err != nil || info.Mode().Perm() != 0o640 {
				t.Errorf("the target's mode is %v, %v", info.Mode(), err)
			}
			if got := get(t, second); got != after {
				t.Errorf("the second name has %q", got)
			}
			if err := os.Remove(target); err != nil {
				t.Fatal(err)
			}
			if _, err := h.Install(p, "", entry(), store); err == nil || !strings.Contains(err.Error(), "symbolic link") {
				t.Errorf("a link to nothing: %v", err)
			}
		})
	}
}

// What cannot be understood is refused with the reason, and nothing is written.
func TestRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ host, text, want string }{
		"broken JSON":             {"cursor", `{"mcpServers": {`, "not valid JSON"},
		"comments in strict JSON": {"claude-desktop", "{\n// mine\n}", "not valid JSON, which Claude Desktop requires"},
		"an array":                {"cursor", `[]`, "must be a JSON object"},
		"two JSON values":         {"vscode", `{} {}`, "not valid JSON"},
		"servers is an array":     {"cursor", `{"mcpServers": []}`, "mcpServers: not an object"},
		"servers twice":           {"cursor", `{"mcpServers": {"a": {}}, "mcpServers": {}}`, `"mcpServers" occurs twice`},
		"a remote server":         {"gemini", `{"mcpServers": {"yamo": {"httpUrl": "https://x"}}}`, "choose another name"},
		"broken TOML":             {"codex", "model = \n[a", "not valid TOML: line 1"},
		"servers is a string":     {"codex", `mcp_servers = "none"`, "mcp_servers: not an object"},
		"entry without header":    {"codex", "[mcp_servers]\nyamo = {command = \"x\"}", "not as a table with the header"},
		"servers is a list":       {"codex", "[[mcp_servers]]\na = 1", "mcp_servers: not an object"},
		"broken YAML":             {"goose", "extensions: [", "not valid YAML"},
		"tabs in YAML":            {"goose", "extensions:\n\ta: 1\n", "not valid YAML"},
		"two documents":           {"goose", "a: 1\n---\nb: 1\n", "several YAML documents"},
		"extensions is a scalar":  {"goose", "extensions: none\n", "extensions: not an object"},
		"a binary file":           {"zed", "\x00\x01\x02", "not valid JSON"},
		"UTF-16":                  {"opencode", "\xff\xfe{\x00}\x00", "not valid JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, err := Find(test.host)
			if err != nil {
				t.Fatal(err)
			}
			p := home(t)
			put(t, h.File(p), test.text)
			_, err = h.Install(p, "", entry(), DefaultStore(p))
			if err == nil {
				t.Fatal("accepted")
			}
			for _, want := range []string{test.want, h.File(p), "nothing was changed"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v lacks %q", err, want)
				}
			}
			if got := get(t, h.File(p)); got != test.text {
				t.Errorf("the file is now %q", got)
			}
		})
	}
}

// An entry that is there gets the new command; what a person has added to it stays.
func TestUpdate(t *testing.T) {
	t.Parallel()
	for host, keep := range map[string]struct{ text, kept string }{
		"claude-code": {`{"mcpServers": {"yamo": {"command": "old", "env": {"A": "1"}, "timeout": 5}}}`, `"timeout": 5`},
		"zed": {
			"{\n  \"context_servers\": {\n    \"yamo\": {\n      // mine\n      \"command\": \"old\",\n      \"enabled\": " +
				"false,\n    },\n  },\n}",
			"// mine\n",
		},
		"codex": {
			"[mcp_servers.yamo]\ncommand = \"old\" # mine\nstartup_timeout_sec = 9\n\n[mcp_servers.yamo.env]\nA = \"1\"\n",
			"\nstartup_timeout_sec = 9\n",
		},
		"goose": {"extensions:\n  yamo:\n    cmd: old\n    bundled: false\n  z:\n    type: builtin\n", "bundled: false"},
	} {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			h, err := Find(host)
			if err != nil {
				t.Fatal(err)
			}
			p, e := home(t), entry()
			put(t, h.File(p), keep.text)
			after := install(t, h, p, DefaultStore(p), e)
			if !strings.Contains(after, keep.kept) {
				t.Errorf("%q is gone:\n%s", keep.kept, after)
			}
			command, err := h.Installed(p, "", "yamo")
			if err != nil || len(command) != 6 {
				t.Fatalf("installed as %q, %v, want 6 words\n%s", command, err, after)
			}
			if command[0] != e.Command {
				t.Errorf("installed as %q, want %s", command, e.Command)
			}
		})
	}
}

// Variables that a person has added to the entry stay when the installation sets one of its own, however the file has
// them.
func TestUpdateOfTheEnvironment(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ host, text, key string }{
		"object":       {"cursor", `{"mcpServers": {"yamo": {"env": {"X": "1", "YAMO_CACHE": "/old"}}}}`, "env"},
		"own table":    {"codex", "[mcp_servers.yamo]\ncommand=\"/old\"\n\n[mcp_servers.yamo.env]\nX=\"1\"", "env"},
		"dotted keys":  {"codex", "[mcp_servers.yamo]\ncommand=\"/old\"\nenv.X=\"1\"\n", "env"},
		"inline table": {"codex", "[mcp_servers.yamo]\nenv = { X = \"1\" }\n", "env"},
		"header above": {"codex", "[mcp_servers.yamo.env]\nX=\"1\"\n[mcp_servers.yamo]\ncommand=\"/old\"\n", "env"},
		"YAML":         {"goose", "extensions:\n  yamo:\n    cmd: old\n    envs:\n      X: \"1\"\n", "envs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, err := Find(test.host)
			if err != nil {
				t.Fatal(err)
			}
			p, e := home(t), entry()
			store := DefaultStore(p)
			e.Env = []string{"YAMO_CACHE=/a b"}
			put(t, h.File(p), test.text)
			content, err := decoded(h, install(t, h, p, store, e))
			if err != nil {
				t.Fatal(err)
			}
			path, _ := h.keys(e)
			got, _ := at(content, append(path, test.key))
			want := any(map[string]any{"X": "1", "YAMO_CACHE": "/a b"})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the environment (-want +got):\n%s", diff)
			}
			again, err := h.Install(p, "", e, store)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range again {
				if diff := c.Diff(); diff != "" {
					t.Errorf("a second installation changes the file:\n%s", diff)
				}
			}
			uninstall(t, h, p, store)
			if diff := cmp.Diff(test.text, get(t, h.File(p))); diff != "" {
				t.Errorf("uninstalled is not what was before (-before +after):\n%s", diff)
			}
		})
	}
}

// A program that writes the file between the plan and its execution does not lose what it wrote.
func TestChangedInTheMeantime(t *testing.T) {
	t.Parallel()
	h, err := Find("claude-code")
	if err != nil {
		t.Fatal(err)
	}
	p := home(t)
	put(t, h.File(p), `{"numStartups": 1}`)
	changes, err := h.Install(p, "", entry(), DefaultStore(p))
	if err != nil {
		t.Fatal(err)
	}
	put(t, h.File(p), `{"numStartups": 2}`)
	if err := DefaultStore(p).Apply(changes[0]); err == nil || !strings.Contains(err.Error(), "changed in the meantime") {
		t.Errorf("written over: %v", err)
	}
	if got := get(t, h.File(p)); got != `{"numStartups": 2}` {
		t.Errorf("the file is now %s", got)
	}
}

// A second installation, of another workspace, does not change what uninstalling restores.
func TestUninstallAfterTwoInstallations(t *testing.T) {
	t.Parallel()
	h, err := Find("codex")
	if err != nil {
		t.Fatal(err)
	}
	p, e := home(t), entry()
	store := DefaultStore(p)
	put(t, h.File(p), "model = \"o3\"")
	install(t, h, p, store, e)
	e.Args[2] = "/elsewhere"
	install(t, h, p, store, e)
	uninstall(t, h, p, store)
	if got := get(t, h.File(p)); got != "model = \"o3\"" {
		t.Errorf("the file is now %q", got)
	}
	left, err := os.ReadDir(store.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 0 {
		t.Errorf("the store still has %v", left)
	}
}
