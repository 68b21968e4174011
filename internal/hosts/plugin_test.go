package hosts

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// OpenCode's plugin starts the program with the flags of the installation, follows another installation, and is gone
// after uninstalling, even if it is of another version or was changed.
func TestOpenCodePlugin(t *testing.T) {
	t.Parallel()
	h, err := Find("opencode")
	if err != nil {
		t.Fatal(err)
	}
	p, e := home(t), entry()
	store, file := DefaultStore(p), h.plugin.file(p)
	e.Hook = append(e.Hook, "--group", `it's "us"`)
	e.Env = []string{"YAMO_CACHE=/a b"}
	install(t, h, p, store, e)
	text := get(t, file)
	for _, want := range []string{
		`const program = "/opt/yamo \"quoted\"/bin/yamo-mcp"`, `"--connection","dm","--group","it's \"us\""]`,
		`const environment = {"YAMO_CACHE":"/a b"}`, `"experimental.session.compacting"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the plugin lacks %s:\n%s", want, text)
		}
	}
	e.Command = "/opt/another/yamo-mcp"
	install(t, h, p, store, e)
	if got := get(t, file); !strings.Contains(got, e.Command) {
		t.Errorf("another installation is not followed:\n%s", got)
	}
	put(t, file, get(t, file)+"// changed\n")
	uninstall(t, h, p, store)
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("the plugin is still there: %v", err)
	}
	e.Hook = nil
	install(t, h, p, store, e)
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("--no-hooks has installed the plugin: %v", err)
	}
}

// A file of the same name that is not ours is neither replaced nor removed.
func TestOpenCodePluginOfAnother(t *testing.T) {
	t.Parallel()
	h, err := Find("opencode")
	if err != nil {
		t.Fatal(err)
	}
	p, e := home(t), entry()
	store := DefaultStore(p)
	const other = "export const Yamo = async () => ({})\n"
	put(t, h.plugin.file(p), other)
	if _, err := h.Install(p, "", e, store); err == nil || !strings.Contains(err.Error(), "--no-hooks") {
		t.Errorf("installing says %v", err)
	}
	uninstall(t, h, p, store)
	if diff := cmp.Diff(other, get(t, h.plugin.file(p))); diff != "" {
		t.Error(diff)
	}
}
