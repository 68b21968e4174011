package assets

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func env(pairs ...string) func(string) string {
	return func(key string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == key {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestPinnedManifest(t *testing.T) {
	t.Parallel()
	m := Pinned()
	for _, platform := range []string{"linux/amd64", "linux/arm64", "darwin/arm64"} {
		files, err := m.Platform(platform)
		if err != nil {
			t.Fatal(err)
		}
		var roles []string
		for _, f := range files {
			roles = append(roles, f.Role)
			if f.Sources[0].Kind != KindURL {
				t.Errorf("%s: its official source is not the first one", f.Name)
			}
			for _, s := range f.Sources {
				if s.Kind == KindURL && !strings.HasPrefix(s.URL, "https://") {
					t.Errorf("%s: %s is not https", f.Name, s.URL)
				}
			}
		}
		if diff := cmp.Diff([]string{RoleRuntime, RoleModel, RoleTokenizer}, roles); diff != "" {
			t.Errorf("%s: %s", platform, diff)
		}
		if !strings.Contains(files[0].Name, m.ONNXRuntime) {
			t.Errorf("%s is not version %s", files[0].Name, m.ONNXRuntime)
		}
	}
	names := map[string]bool{}
	for _, f := range m.Files {
		if names[f.Name] {
			t.Errorf("%s is in the manifest twice", f.Name)
		}
		names[f.Name] = true
	}
	if _, err := m.Platform("plan9/mips"); err == nil || !strings.Contains(err.Error(), "plan9/mips") {
		t.Errorf("unknown platform: %v", err)
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	digest := strings.Repeat("ab", 32)
	good := "[[file]]\nrole='model'\nname='m'\nsha256='" + digest + "'\nsize=3\n[[file.source]]\nkind='url'\nurl='https" +
		"://h/m'\n"
	if _, err := Parse([]byte(good)); err != nil {
		t.Fatal(err)
	}
	inFolder := strings.NewReplacer("[[file", "[[folder.file", "'m'", "'n'").Replace(good)
	good += "[[folder]]\nname='f'\nconfig={'c'='{}'}\n" + inFolder
	if m, err := Parse([]byte(good)); err != nil || len(m.Folders) != 1 || len(m.Folders[0].Files) != 1 {
		t.Fatalf("%+v, %v", m, err)
	}
	for name, change := range map[string][2]string{
		"a path for a name":   {"name='m'", "name='../m'"},
		"a path for a folder": {"name='f'", "name='../f'"},
		"a path in a folder":  {"name='n'", "name='../n'"},
		"a path for a text":   {"'c'=", "'../c'="},
		"no name":             {"name='m'", "name=''"},
		"short digest":        {digest, digest[:10]},
		"no size":             {"size=3", "size=0"},
		"unknown kind":        {"kind='url'", "kind='ftp'"},
		"no address":          {"url='https://h/m'", "url=''"},
		"no source":           {"[[file.source]]\nkind='url'\nurl='https://h/m'\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Parse([]byte(strings.Replace(good, change[0], change[1], 1))); err == nil {
				t.Error("accepted")
			}
		})
	}
}

func TestFolder(t *testing.T) {
	t.Parallel()
	for _, name := range Pinned().FolderNames() {
		f, err := Pinned().Folder(name)
		if err != nil || f.Name != name || len(f.Files) == 0 {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
		if _, ok := f.Config["config.json"]; !ok {
			t.Errorf("%s has no config.json", name)
		}
	}
	_, err := Pinned().Folder("none")
	if err == nil || !strings.Contains(err.Error(), Pinned().FolderNames()[0]) {
		t.Errorf("the error names no model: %v", err)
	}
}

func TestAcceptedDigests(t *testing.T) {
	t.Parallel()
	f := File{SHA256: "a", Size: 1, Sources: []Source{{Kind: KindURL}, {SHA256: "b", Size: 2}, {SHA256: "b", Size: 2}}}
	if diff := cmp.Diff([]Digest{{"a", 1}, {"b", 2}}, f.Accepted()); diff != "" {
		t.Error(diff)
	}
}

func TestDir(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		env  []string
		want string
	}{
		{"YAMO_CACHE wins", []string{"YAMO_CACHE", "/c", "HOME", "/h"}, "/c"},
		{"home", []string{"HOME", "/h"}, "/h/"},
		{"nothing", nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Dir(env(test.env...))
			if test.want == "" {
				if err == nil || !strings.Contains(err.Error(), "YAMO_CACHE") {
					t.Errorf("err = %v", err)
				}
				return
			}
			if err != nil || !strings.HasPrefix(got, test.want) {
				t.Errorf("Dir = %q, %v", got, err)
			}
			if test.env[0] == "HOME" && filepath.Base(got) != "yamo-mcp" {
				t.Errorf("Dir = %q", got)
			}
		})
	}
}

// fill makes sparse files of the given sizes' worth, so that a presence check by size can be tested.
func fill(t *testing.T, dir string, files []File) {
	t.Helper()
	for _, f := range files {
		path := filepath.Join(dir, f.Name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, f.Size); err != nil {
			t.Fatal(err)
		}
	}
}

// It shares the folder beside the test's program with TestLocateBundle, so neither runs in parallel.
func TestLocate(t *testing.T) {
	files, err := Pinned().Platform(Platform())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	getenv := env("YAMO_CACHE", dir)
	_, err = Locate(getenv)
	if !errors.Is(err, ErrMissing) {
		t.Fatalf("empty folder: %v", err)
	}
	for _, want := range []string{"yamo-mcp setup", files[1].Name} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("empty folder: %v, want %q in it", err, want)
		}
	}
	fill(t, dir, files)
	got, err := Locate(getenv)
	if err != nil {
		t.Fatal(err)
	}
	want := Paths{
		Runtime:   filepath.Join(dir, files[0].Name),
		Model:     filepath.Join(dir, files[1].Name),
		Tokenizer: filepath.Join(dir, files[2].Name),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// Another accepted size is as good, a truncated file is not there.
	if err := os.Truncate(want.Model, files[1].Sources[1].Size); err != nil {
		t.Fatal(err)
	}
	if _, err := Locate(getenv); err != nil {
		t.Error(err)
	}
	if err := os.Truncate(want.Model, files[1].Size-1); err != nil {
		t.Fatal(err)
	}
	s, err := Check(getenv)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{files[1].Name}, s.Missing()); diff != "" {
		t.Error(diff)
	}
	if s.Dir != dir {
		t.Errorf("Dir = %q", s.Dir)
	}
}

// An unpacked release has its files in assets/ beside bin/.
func TestLocateBundle(t *testing.T) {
	files, err := Pinned().Platform(Platform())
	if err != nil {
		t.Fatal(err)
	}
	bundle := bundleDir()
	if bundle == "" || filepath.Base(bundle) != "assets" {
		t.Fatalf("bundleDir = %q", bundle)
	}
	if err := os.Mkdir(bundle, 0o700); err != nil { // beside the folder of this test's own executable
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(bundle); err != nil {
			t.Error(err)
		}
	})
	getenv := env("YAMO_CACHE", t.TempDir())
	fill(t, bundle, files[:2])
	if _, err := Locate(getenv); !errors.Is(err, ErrMissing) {
		t.Errorf("an incomplete bundle was used: %v", err)
	}
	fill(t, bundle, files)
	got, err := Locate(getenv)
	if err != nil || filepath.Dir(got.Model) != bundle {
		t.Errorf("Locate = %v, %v", got, err)
	}
}
