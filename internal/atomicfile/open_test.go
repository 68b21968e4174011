package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestOpenRefusesLinks(t *testing.T) {
	t.Parallel()
	for name, plant := range map[string]func(target, path string) error{
		"symbolic": os.Symlink,
		"hard":     os.Link,
		"a folder": func(_, path string) error { return os.Mkdir(path, 0o700) },
	} {
		dir := t.TempDir()
		target, path := filepath.Join(dir, "target"), filepath.Join(dir, "path")
		if err := os.WriteFile(target, []byte("private"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := plant(target, path); err != nil {
			t.Fatal(err)
		}
		if data, err := Read(path); !errors.Is(err, ErrLinked) || data != nil {
			t.Errorf("%s: read %q, %v; want ErrLinked", name, data, err)
		}
		if _, err := Open(path, os.O_RDWR|os.O_CREATE); err == nil {
			t.Errorf("%s: opened for writing", name)
		}
	}
	path := filepath.Join(t.TempDir(), "plain")
	if err := Write(path, []byte("own")); err != nil {
		t.Fatal(err)
	}
	if data, err := Read(path); err != nil || string(data) != "own" {
		t.Errorf("a plain file: %q, %v", data, err)
	}
}
