package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"unsafe"

	"github.com/yamo-protocol/yamo-mcp/workspace/audience"
)

// watch reports which of the files of w were opened or read since the last call. Folders are watched as
// well: a listing is an IN_ACCESS of the folder.
func watch(t *testing.T, w *Workspace, names []string) (touched func() []string) {
	t.Helper()
	fd, err := syscall.InotifyInit1(syscall.IN_NONBLOCK | syscall.IN_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Close(fd); err != nil {
			t.Error(err)
		}
	})
	watched := map[int32]string{}
	for _, name := range names {
		path, mask := filepath.Join(w.dir, name), uint32(syscall.IN_OPEN|syscall.IN_ACCESS)
		if info, err := os.Stat(path); err != nil {
			t.Fatal(err)
		} else if info.IsDir() {
			mask = syscall.IN_ACCESS // opening a folder to go through it is not listing it
		}
		id, err := syscall.InotifyAddWatch(fd, path, mask)
		if err != nil {
			t.Fatal(err)
		}
		watched[int32(id)] = name
	}
	return func() []string {
		var names []string
		buffer := make([]byte, 64<<10)
		for {
			n, err := syscall.Read(fd, buffer)
			if errors.Is(err, syscall.EAGAIN) {
				slices.Sort(names)
				return slices.Compact(names)
			}
			if err != nil {
				t.Fatal(err)
			}
			for at := 0; at < n; {
				event := (*syscall.InotifyEvent)(unsafe.Pointer(&buffer[at]))
				if event.Len == 0 { // an event of the watched file itself, not of one in a watched folder
					names = append(names, watched[event.Wd])
				}
				at += syscall.SizeofInotifyEvent + int(event.Len)
			}
		}
	}
}

// A group's session opens no private file and lists no folder, whatever it asks for.
func TestGroupOpensNothingPrivate(t *testing.T) {
	files := map[string]string{}
	var private []string
	for name, readers := range everything {
		files[name] = "x"
		if readers == "d" || readers == "db" || readers == "" {
			private = append(private, name)
		}
	}
	w := folderOf(t, files)
	touched := watch(t, w, append(private, ".", "memory", "notes"))
	use := func(v *View) {
		for name := range everything {
			_, _ = v.Read(name)
			_, _ = v.Stat(name)
		}
		v.Files()
		v.State()
		v.Refusal()
		v.Days()
		_, _ = v.Startup()
		_, _ = v.Identity()
		_, _ = v.SoulExcerpt()
		_, _ = v.Knowledge("")
	}
	use(w.View(group(t, "a")))
	if names := touched(); len(names) != 0 {
		t.Errorf("a group's session touched %q", names)
	}
	use(w.View(audience.DM()))
	if names := touched(); !slices.Contains(names, "MEMORY.md") || !slices.Contains(names, "memory") {
		t.Errorf("the watch does not work: a DM touched only %q", names)
	}
}
