package mesh

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// readMark reads how far yamo_blocks of the private compartment is.
func readMark(t testing.TB, v *View) map[string]int {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(v.Dir, "private", "blocks.json"))
	if err != nil {
		t.Fatal(err)
	}
	var content map[string]any
	if err := json.Unmarshal(raw, &content); err != nil {
		t.Fatal(err)
	}
	mark := map[string]int{} // its numbers
	for key, value := range content {
		if n, ok := value.(float64); ok {
			mark[key] = int(n)
		}
	}
	return mark
}

func writeMark(v *View, mark map[string]int) error {
	raw, err := json.Marshal(mark)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(v.Dir, "private", "blocks.json"), raw, 0o600)
}
