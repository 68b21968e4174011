package crash

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A file is written next to another one, synced and renamed; then a second one is written and nothing is synced.
const recorded = `7  openat(AT_FDCWD</elsewhere>, "/disk/a", O_RDONLY) = 3</disk/a>
7  mkdirat(AT_FDCWD</elsewhere>, "/disk/new", 0700) = 0
7  openat(AT_FDCWD</elsewhere>, "/disk/.a-1", O_RDWR|O_CREAT|O_EXCL, 0600) = 4</disk/.a-1>
7  write(4</disk/.a-1>, "\1\"2, (\0013\n", 9) = 9
8  write(9</other/file>, "x", 1) = 1
7  fsync(4</disk/.a-1> <unfinished ...>
8  write(5<pipe:[12]>, "early", 5 <unfinished ...>
7  <... fsync resumed>)              = 0
8  <... write resumed>)              = 5
7  renameat(AT_FDCWD</elsewhere>, "/disk/.a-1", AT_FDCWD</elsewhere>, "/disk/a") = 0
7  unlinkat(AT_FDCWD</elsewhere>, "/disk/none", 0) = -1 ENOENT (No such file or directory)
7  openat(6</disk/new>, "b", O_WRONLY|O_CREAT|O_APPEND, 0600) = 7</disk/new/b>
7  write(7</disk/new/b>, "one", 3)     = 3
7  write(7</disk/new/b>, "two2", 4)    = 4
7  symlinkat("new", AT_FDCWD</elsewhere>, "/disk/.l") = 0
7  renameat(AT_FDCWD</elsewhere>, "/disk/.l", AT_FDCWD</elsewhere>, "/disk/l") = 0
7  write(1<pipe:[12]>, "done", 4)      = 4
8  mmap(NULL, 8392704, PROT_NONE, MAP_PRIVATE|MAP_ANONYMOUS|MAP_STACK, -1, 0 <unfinished ...>
9  fsync(7</disk/new/b> <unfinished ...>
8  <... mmap resumed>)                = ? <unavailable>
9  <... fsync resumed>)               = ?
10  write(9</other/file>, "x", 1)     = ?
10  openat(6</disk/new>, "b", O_RDONLY) = ?
7  +++ exited with 0 +++
`

func TestStates(t *testing.T) {
	t.Parallel()
	ops, err := Read(strings.NewReader(recorded), "/disk")
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "a"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := Load(root)
	if err != nil {
		t.Fatal(err)
	}
	d.root = "/disk"
	var outputs []string
	for _, op := range ops {
		if op.Call == "output" {
			outputs = append(outputs, string(op.Data))
		}
		if err := d.Apply(op); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"early", "done"}, outputs); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
	const whole = "\x01\"2, (\x013\n"
	for kind, want := range map[Kind]map[string]string{
		Kept:   {"a": whole, "l": "new", "new/": "", "new/b": "onetwo2"},
		Torn:   {"a": whole, "l": "new", "new/": "", "new/b": "onetw\x00\x00"},
		Hollow: {"a": whole, "l": "new", "new/": "", "new/b": ""},
		Lost:   {"a": "old"},
	} {
		if diff := cmp.Diff(want, d.State(kind)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", kind, diff)
		}
	}
	// Syncing the folder makes its names durable, and nothing in the folders below it.
	if err := d.Apply(Op{Call: "fsync", Path: "/disk"}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"a": whole, "l": "new", "new/": ""}, d.State(Lost)); diff != "" {
		t.Errorf("after fsync (-want +got):\n%s", diff)
	}
	if err := Restore(root, d.State(Kept)); err != nil {
		t.Fatal(err)
	}
	again, err := Load(root)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(d.State(Kept), again.State(Lost)); diff != "" {
		t.Errorf("restored (-want +got):\n%s", diff)
	}
}

// What cannot be followed is an error, not a state that is wrong.
func TestUnknownCallsFail(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		`7  copy_file_range(3</disk/a>, NULL, 4</disk/b>, NULL, 10, 0) = 10`,
		`7  mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_SHARED, 3</disk/a>, 0) = 0x7f0000000000`,
		`7  writev(3</disk/a>, [{iov_base="x", iov_len=1}], 1) = 1`,
		`7  write(3</disk/a>, "x", 1) = ?`,
		`7  renameat(AT_FDCWD</elsewhere>, "/there", AT_FDCWD</elsewhere>, "/disk/a") = ? <unavailable>`,
		`7  openat(4</disk/new>, "b", O_WRONLY|O_CREAT, 0600) = ?`,
		`7  mkdir("/disk/d", 0700) = ? <unavailable>`,
	} {
		if ops, err := Read(strings.NewReader(line+"\n"), "/disk"); err == nil {
			t.Errorf("%s is read as %+v", line, ops)
		}
		if ops, err := Read(strings.NewReader(line+"\n"), "/other"); err != nil || ops != nil {
			t.Errorf("elsewhere, %s is read as %+v, %v", line, ops, err)
		}
	}
}
