package history

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Whatever is in a file of another program, reading it ends: with sessions, with what was not known counted, or with an
// error.
func FuzzReaders(f *testing.F) {
	samples, err := filepath.Glob("testdata/*.json*")
	if err != nil || len(samples) == 0 {
		f.Fatalf("no samples: %v", err)
	}
	for _, sample := range samples {
		data, err := os.ReadFile(sample)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(filepath.Base(sample), data)
	}
	f.Add("x.jsonl", []byte(`{"type":"user","message":{"role":"user","content":[null,1,{"type":"text"}]}}`+"\n\x00\n"))
	f.Add("session-1.json", []byte(`{"sessionId":"1","messages":[{"type":"user","content":[{"text":"a"}]},3]}`))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		if filepath.Base(name) != name || !filepath.IsLocal(name) {
			return
		}
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return // no name of a file
		}
		for _, program := range slices.Sorted(maps.Keys(Readers)) {
			for _, place := range []string{path, dir} {
				_ = Readers[program].Read(t.Context(), place, func(s Session) error {
					if s.Unknown < 0 {
						t.Errorf("%s: %d entries are not known", program, s.Unknown)
					}
					return nil
				})
			}
		}
	})
}
