package othertools

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Whatever is in a file of another tool, reading it ends, and what it finds are memories with a text.
func FuzzReaders(f *testing.F) {
	f.Add("note.md", []byte("---\ntitle: A\ntags: [b]\n---\n# A\n\n- [fact] A boat #boats (seen)\n- knows [[Rui]]\n"))
	f.Add("memory.jsonl", []byte(`{"type":"entity","name":"Ana","entityType":"person","observations":["a boat"]}`))
	f.Add("mem0.json", []byte(`{"results":[{"id":"1","memory":"Ana has a boat","created_at":"2026-01-02T03:04:05Z"}]}`))
	f.Add("x.json", []byte("[null, 1, {}]"))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		if filepath.Base(name) != name || !filepath.IsLocal(name) {
			return
		}
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return // no name of a file
		}
		for _, tool := range slices.Sorted(maps.Keys(Readers)) {
			for _, place := range []string{path, dir} {
				found, err := Readers[tool](t.Context(), place)
				if err != nil {
					continue
				}
				for _, m := range found.Memories {
					if strings.TrimSpace(m.Content) == "" {
						t.Errorf("%s: a memory without a text: %+v", tool, m)
					}
				}
			}
		}
	})
}
