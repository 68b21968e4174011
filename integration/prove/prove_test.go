package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Every test that docs/assurance.md names exists, so that no row proves nothing.
func TestRowsNameTests(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("../..", document))
	if err != nil {
		t.Fatal(err)
	}
	list := rows(string(text))
	if tables := strings.Count(string(text), "| `./"); len(list) != tables || len(list) < 15 {
		t.Errorf("%d rows are read of %d", len(list), tables)
	}
	for _, r := range list {
		if r.pkg == "./internal/ledger" && len(r.tests) == 0 && !slices.Contains(r.shown, "TestProcessesKilledAtAnyMoment") {
			t.Errorf("%s runs again what another row shows", r.promise)
		}
		files, err := filepath.Glob(filepath.Join("../..", r.pkg, "*_test.go"))
		if err != nil || len(files) == 0 {
			t.Errorf("%s: no tests in %s (%v)", r.promise, r.pkg, err)
		}
		code := ""
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			code += string(data)
		}
		for _, name := range r.tests {
			name, sub, _ := strings.Cut(name, "/")
			if !strings.Contains(code, "\nfunc "+name+"(") {
				t.Errorf("%s: %s has no test %s", r.promise, r.pkg, name)
			}
			if _, err := os.Stat(filepath.Join("../..", r.pkg, "testdata/script", sub+".txtar")); sub != "" && err != nil {
				t.Errorf("%s: %v", r.promise, err)
			}
		}
	}
}
