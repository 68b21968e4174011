package hosts

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// named is an entry of another name, which serves a group.
func named(name string) Entry {
	e := entry()
	if e.Name = name; name != DefaultName {
		e.Hook = []string{"--workspace", "/home/ana/é & <ü>", "--connection", "group", "--group", name}
		e.Args = append([]string{"serve"}, e.Hook...)
	}
	return e
}

// remove uninstalls the entry called name.
func remove(t *testing.T, h Host, p Place, store Store, name string) {
	t.Helper()
	changes, err := h.Uninstall(p, "", name, store)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		if err := store.Undo(c); err != nil {
			t.Fatal(err)
		}
	}
}

// story is a host whose files are changed in turns by this program and by others, with what must be in them.
type story struct {
	h     Host
	p     Place
	store Store

	installed []string          // names of the entries
	owner     string            // of the hooks, "" for none
	before    map[string]string // the files when no entry was installed, "" for no file
	edited    bool              // by others, while an entry was installed
	log       []string          // what was done
}

// files are those that the host's configuration is in.
func (s *story) files() []string {
	list := []string{s.h.File(s.p)}
	if s.h.RunsHooks() && s.h.HookFile(s.p) != list[0] {
		list = append(list, s.h.HookFile(s.p))
	}
	return list
}

// texts returns what is in the files, "" for no file.
func (s *story) texts(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, file := range s.files() {
		data, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		texts[file] = string(data)
	}
	return texts
}

// install installs an entry; the hooks become its own if they are nobody's.
func (s *story) install(t *testing.T, name string) {
	t.Helper()
	s.log = append(s.log, "install "+name)
	if len(s.installed) == 0 {
		s.before, s.edited = s.texts(t), false
	}
	if install(t, s.h, s.p, s.store, named(name)); !slices.Contains(s.installed, name) {
		s.installed = append(s.installed, name)
	}
	if s.h.RunsHooks() && s.owner == "" {
		s.owner = name
	}
}

// uninstall removes an entry, or does nothing if it is not there.
func (s *story) uninstall(t *testing.T, name string) {
	t.Helper()
	s.log = append(s.log, "uninstall "+name)
	was := len(s.installed)
	remove(t, s.h, s.p, s.store, name)
	s.installed = slices.DeleteFunc(s.installed, func(other string) bool { return other == name })
	if s.owner == name {
		s.owner = ""
	}
	if was == 0 || len(s.installed) > 0 {
		return
	}
	if !s.edited {
		if diff := cmp.Diff(s.before, s.texts(t)); diff != "" {
			t.Fatalf("%q: the files are not what they were (-before +after):\n%s", s.log, diff)
		}
	}
	if left, err := os.ReadDir(s.store.Dir); err != nil || len(left) != 0 {
		t.Fatalf("%q: the store still has %v, %v", s.log, left, err)
	}
}

// edit adds a setting to a file, as a person would. A plugin is no file of settings.
func (s *story) edit(t *testing.T, n int) {
	t.Helper()
	file := s.files()[0]
	if s.h.hooks != nil && n%2 == 0 {
		file = s.h.HookFile(s.p)
	}
	text := s.texts(t)[file]
	s.log = append(s.log, "edit "+file)
	s.edited = true
	key := fmt.Sprintf("setting%d", n)
	switch {
	case file == s.h.File(s.p) && s.h.form == tomlFormat{}:
		text += fmt.Sprintf("\n[%s]\na = 1\n", key)
	case file == s.h.File(s.p) && s.h.form == yamlFormat{}:
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		text += key + ": 1\n"
	default:
		changed, err := (jsonFormat{}).put(orObject([]byte(text)), []string{key}, 1)
		if err != nil {
			t.Fatal(err)
		}
		text = string(changed)
	}
	put(t, file, text)
}

// others returns what is in the files besides the entries and the hooks.
func (s *story) others(t *testing.T) map[string]any {
	t.Helper()
	rest := map[string]any{}
	for file, text := range s.texts(t) {
		if s.h.plugin != nil && file == s.h.HookFile(s.p) {
			continue
		}
		bareText, _ := bare([]byte(text))
		form := s.h.form
		if file != s.h.File(s.p) {
			form = jsonFormat{}
		}
		content, err := form.decode(bareText)
		if err != nil {
			t.Fatalf("%q: %v\n%s", s.log, err, text)
		}
		for _, name := range []string{"yamo", "team"} {
			path, _ := s.h.keys(Entry{Name: name})
			content = without(content, path)
		}
		if s.h.hooks != nil && file == s.h.HookFile(s.p) {
			content = s.h.hooks.others(s.h.ID, content)
		}
		rest[file] = content
	}
	return rest
}

// check fails if the host would start something else than what is installed, or run the hooks of another entry.
func (s *story) check(t *testing.T) {
	t.Helper()
	servers, err := s.h.Servers(s.p, "")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, server := range servers {
		names = append(names, server.Name)
		e := named(server.Name)
		if diff := cmp.Diff(append([]string{e.Command}, e.Args...), server.Command); diff != "" {
			t.Fatalf("%q: the server %s is another one (-want +got):\n%s", s.log, server.Name, diff)
		}
	}
	want := slices.Clone(s.installed)
	slices.Sort(want)
	slices.Sort(names)
	if !slices.Equal(want, names) {
		t.Fatalf("%q: the host has the servers %q, want %q\n%s", s.log, names, want, s.texts(t))
	}
	if !s.h.RunsHooks() {
		return
	}
	hooks, err := s.h.Hooks(s.p)
	if err != nil {
		t.Fatal(err)
	}
	if (len(hooks) == 0) != (s.owner == "") {
		t.Fatalf("%q: the hooks are %q, want those of %q", s.log, hooks, s.owner)
	}
	for _, line := range hooks {
		if strings.Contains(line, "team") != (s.owner == "team") {
			t.Fatalf("%q: the hook is not that of %q: %s", s.log, s.owner, line)
		}
	}
}

// Whatever the order in which two entries are installed and removed, with edits of others in between: each has its own
// command, the hooks stay with the entry that came first, everything else stays, and without such edits the files
// become byte for byte what they were.
func TestTwoEntriesInAnyOrder(t *testing.T) {
	t.Parallel()
	samples := map[string][]string{
		"cursor": {"", "{}", "// mine\n{\n\t\"a\": 1, // one\n}\n"}, "claude-code": {"", `{"numStartups":1}`},
		"gemini": {"", settings["gemini"]}, "codex": {"", "model = \"o3\"", "[mcp_servers.other]\ncommand = \"x\"\n\n"},
		"goose": {"", "extensions:\n  z:\n    type: builtin\n"}, "opencode": {"", "{\"mcp\": {}}\n"},
		"zed": {"{\n}\n"},
	}
	for id, texts := range samples {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			h, err := Find(id)
			if err != nil {
				t.Fatal(err)
			}
			for seed := range uint64(60) {
				random := rand.New(rand.NewPCG(seed, 15))
				p := home(t)
				s := &story{h: h, p: p, store: DefaultStore(Place{Home: t.TempDir(), OS: "linux", Getenv: p.Getenv})}
				if text := texts[seed%uint64(len(texts))]; text != "" {
					put(t, h.File(p), text)
				}
				edits := seed%3 != 0
				for n := range 10 {
					before := s.others(t)
					name := []string{"yamo", "team"}[random.IntN(2)]
					switch k := random.IntN(8); {
					case k < 3:
						s.install(t, name)
					case k < 6:
						s.uninstall(t, name)
					case k == 6:
						s.uninstall(t, "typo")
					case edits:
						s.edit(t, n)
						before = s.others(t)
					}
					s.check(t)
					if after := s.others(t); !reflect.DeepEqual(before, after) {
						t.Fatalf("%q: the rest has changed:\n%s", s.log, cmp.Diff(before, after))
					}
				}
				s.uninstall(t, "yamo")
				s.uninstall(t, "team")
				s.check(t)
			}
		})
	}
}

// An entry that a person wrote by hand is not taken away with another one, and is theirs again after its own.
func TestEntryByHand(t *testing.T) {
	t.Parallel()
	h, err := Find("cursor")
	if err != nil {
		t.Fatal(err)
	}
	p := home(t)
	store := DefaultStore(p)
	const byHand = `{"mcpServers": {"yamo": {"command": "mine", "env": {"A": "1"}}}}`
	put(t, h.File(p), byHand)
	install(t, h, p, store, named("team"))
	remove(t, h, p, store, "team")
	if diff := cmp.Diff(byHand, get(t, h.File(p))); diff != "" {
		t.Error(diff)
	}
	e := named(DefaultName)
	e.Env = []string{"YAMO_CACHE=/cache"}
	if after := install(t, h, p, store, e); !strings.Contains(after, `"A": "1"`) || !strings.Contains(after, "/cache") {
		t.Errorf("a variable of the person is gone:\n%s", after)
	}
	remove(t, h, p, store, DefaultName)
	if diff := cmp.Diff(byHand, get(t, h.File(p))); diff != "" {
		t.Error(diff)
	}
}

// Without a record, the hooks belong to the entry that serves the same.
func TestHooksWithoutARecord(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"cursor", "claude-code", "gemini", "opencode"} {
		h, err := Find(id)
		if err != nil {
			t.Fatal(err)
		}
		p := home(t)
		store := DefaultStore(p)
		install(t, h, p, store, named("team"))
		if err := os.RemoveAll(store.Dir); err != nil {
			t.Fatal(err)
		}
		if owner, err := h.HooksOf(p, store, DefaultName); err != nil || owner != "team" {
			t.Errorf("%s: the hooks belong to %q, %v", id, owner, err)
		}
		remove(t, h, p, store, DefaultName)
		if hooks, err := h.Hooks(p); err != nil || len(hooks) == 0 {
			t.Errorf("%s: the hooks are %q, %v", id, hooks, err)
		}
		remove(t, h, p, store, "team")
		if hooks, err := h.Hooks(p); err != nil || len(hooks) != 0 {
			t.Errorf("%s: the hooks are still %q, %v", id, hooks, err)
		}
	}
}
