package main

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/index"
)

// kept is an embedder that keeps vectors in a file between runs. It has no vectors of tokens.
type kept struct {
	next index.Embedder
	path string

	mu      sync.Mutex
	vectors map[string][]float32 // by text
	added   bool
}

func openKept(next index.Embedder, path string) (*kept, error) {
	k := &kept{next: next, path: path, vectors: map[string][]float32{}}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return k, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open the vectors: %w", err)
	}
	defer func() { _ = file.Close() }()
	if err := gob.NewDecoder(file).Decode(&k.vectors); err != nil {
		return nil, fmt.Errorf("read the vectors: %w", err)
	}
	return k, nil
}

func (k *kept) Model() embed.Model { return k.next.Model() }

func (k *kept) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	var missing []string
	for _, text := range texts {
		if k.vectors[text] == nil {
			missing = append(missing, text)
		}
	}
	if len(missing) > 0 {
		made, err := k.next.Embed(ctx, missing)
		if err != nil {
			return nil, err
		}
		for i, text := range missing {
			k.vectors[text], k.added = made[i], true
		}
	}
	list := make([][]float32, len(texts))
	for i, text := range texts {
		list[i] = k.vectors[text]
	}
	return list, nil
}

// save writes the file, if vectors were added.
func (k *kept) save() error {
	if !k.added {
		return nil
	}
	file, err := os.Create(k.path)
	if err != nil {
		return fmt.Errorf("save the vectors: %w", err)
	}
	if err := gob.NewEncoder(file).Encode(k.vectors); err != nil {
		return fmt.Errorf("save the vectors: %w", err)
	}
	return file.Close()
}
