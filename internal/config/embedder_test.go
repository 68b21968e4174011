package config

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/assets"
)

// A model that setup installed is used by its name. The usual one takes its place here, in its layout.
func TestModelByName(t *testing.T) {
	t.Parallel()
	paths, err := assets.Locate(os.Getenv)
	if err != nil {
		t.Fatalf("%v\nthe tests need the real model: run make setup", err)
	}
	folder, err := assets.Pinned().Folder(assets.Pinned().FolderNames()[0])
	if err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir()
	dir := filepath.Join(cache, "models", folder.Name)
	if err := errors.Join(os.Symlink(paths.Runtime, filepath.Join(cache, filepath.Base(paths.Runtime))),
		os.Symlink(paths.Model, filepath.Join(cache, filepath.Base(paths.Model))),
		os.Symlink(paths.Tokenizer, filepath.Join(cache, filepath.Base(paths.Tokenizer))),
		os.MkdirAll(dir, 0o700),
		os.Symlink(paths.Model, filepath.Join(dir, "model.onnx")),
		os.Symlink(paths.Tokenizer, filepath.Join(dir, "tokenizer.json"))); err != nil {
		t.Fatal(err)
	}
	for name, text := range folder.Config {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	getenv := func(name string) string { return map[string]string{"YAMO_CACHE": cache}[name] }
	e, closeIt, err := Embedder{Provider: Local, Model: folder.Name}.Open(getenv, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	vectors, err := e.Embed(t.Context(), []string{"the ladder"})
	if err := errors.Join(err, closeIt()); err != nil {
		t.Fatal(err)
	}
	if m := e.Model(); !strings.HasPrefix(m.Name, folder.Name+"#") || len(vectors[0]) != m.Dim {
		t.Errorf("%+v has vectors of %d dimensions", m, len(vectors[0]))
	}
}
