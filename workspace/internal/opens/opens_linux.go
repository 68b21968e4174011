// Package opens reports to tests which files were opened or read, through inotify(7): the proof that a group's session
// does not touch private files.
package opens

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"unsafe"
)

// Watch watches the files and folders names below dir until the test ends. The function that it returns reports the
// names that were touched since its last call, sorted: a file if it was opened or read, a folder if it was listed.
func Watch(t *testing.T, dir string, names []string) (touched func() []string) {
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
		path, mask := filepath.Join(dir, name), uint32(syscall.IN_OPEN|syscall.IN_ACCESS)
		if info, err := os.Stat(path); err != nil {
			t.Fatal(err)
		} else if info.IsDir() {
			mask = syscall.IN_ACCESS // opening a folder to go through it is not listing it
		}
		id, err := syscall.InotifyAddWatch(fd, path, mask)
		if err != nil {
			t.Fatal(err)
		}
		watched[int32(id)] = name //nolint:gosec // the kernel's own 32-bit number
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
				event := (*syscall.InotifyEvent)(unsafe.Pointer(&buffer[at])) //nolint:gosec // inotify(7) gives the layout
				// an event of the watched file itself, not of one in a watched folder
				if event.Len == 0 {
					names = append(names, watched[event.Wd])
				}
				at += syscall.SizeofInotifyEvent + int(event.Len)
			}
		}
	}
}
