package redacttest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// Field is a text with secrets between the marks « and », or a benign one.
type Field struct{ Text, Benign string }

// ReadFields reads the texts of a file with one in JSON a line.
func ReadFields(t testing.TB, file string) (list []Field) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(bytes.NewReader(data)); d.More(); {
		var f Field
		if err := d.Decode(&f); err != nil {
			t.Fatal(err)
		}
		list = append(list, f)
	}
	return list
}

// ToldText is a text with the secrets that it tells.
type ToldText struct {
	Author, Kind, Text string
	Secrets            []string
}

// ReadTold reads the texts of a gzip file with one in JSON a line.
func ReadTold(t testing.TB, name string) (list []ToldText) {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(z); d.More(); {
		var c ToldText
		if err := d.Decode(&c); err != nil {
			t.Fatal(err)
		}
		list = append(list, c)
	}
	return list
}

// EachParagraph calls do with each paragraph, once, of the .md, .txt and .rst files in a folder.
func EachParagraph(t testing.TB, folder string, do func(text string)) {
	t.Helper()
	const most, shortest, longest = 1 << 20, 20, 4000 // bytes
	seen := map[string]bool{}
	files := os.DirFS(folder)
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || !slices.Contains([]string{".md", ".txt", ".rst"}, path.Ext(name)) {
			return err
		}
		text, err := fs.ReadFile(files, name)
		if err != nil || len(text) > most {
			return err
		}
		for part := range strings.SplitSeq(string(text), "\n\n") {
			if len(part) >= shortest && len(part) <= longest && !seen[part] {
				seen[part] = true
				do(part)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
