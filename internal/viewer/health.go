package viewer

import (
	"io/fs"
	"net/http"
	"os"
	"path/filepath"

	"github.com/yamo-protocol/yamo-mcp/internal/viewer/page"
	"github.com/yamo-protocol/yamo-mcp/mesh"
)

// healthPage is the content of the page of health and storage.
type healthPage struct {
	Health   mesh.Health
	Findings []Finding
	Unknown  bool // the installation could not be checked
	Stores   []storeRow
	Total    int64 // bytes of the whole .yamo folder
}

// storeRow is a compartment with its size.
type storeRow struct {
	mesh.Holding
	Zone  page.Zone
	Path  string
	Bytes int64
}

// health shows what works, and how much is kept.
func (s *Site) health(r *http.Request) (answer, error) {
	person, err := s.person()
	if err != nil {
		return answer{}, err
	}
	var content healthPage
	if content.Health, err = person.Memory.Maintenance().Health(r.Context()); err != nil {
		return answer{}, err
	}
	holdings, err := person.Memory.Holdings(r.Context())
	if err != nil {
		return answer{}, err
	}
	root := filepath.Join(person.Workspace.Dir(), ".yamo")
	for _, h := range holdings {
		dir := filepath.Join(root, string(h.Visibility))
		if group := h.Visibility.Group(); group != "" {
			dir = filepath.Join(root, "groups", group)
		}
		content.Stores = append(content.Stores, storeRow{h, zoneOf(h.Visibility), pathOf(h.Visibility), sizeOf(dir)})
	}
	content.Total = sizeOf(root)
	if content.Findings, err = s.Doctor(r.Context()); err != nil {
		if r.Context().Err() != nil {
			return answer{}, err
		}
		s.Logger.WarnContext(r.Context(), "check the installation", "error", err)
		content.Unknown = true
	}
	return answer{template: "health", page: page.Page{
		Title: "Health and storage", Zone: private, Here: "/health", Content: content,
	}}, nil
}

// sizeOf returns the bytes of the files below dir; what disappears meanwhile counts as nothing.
func sizeOf(dir string) (total int64) {
	_ = fs.WalkDir(os.DirFS(dir), ".", func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // a folder that cannot be read has no size to show
		}
		if info, err := d.Info(); err == nil {
			total += info.Size()
		}
		return nil
	})
	return total
}
