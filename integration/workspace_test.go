package integration

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/programtest"
)

// Results of the tools, as far as the tests look at them.
type (
	stored struct {
		ID         string
		CreatedAt  time.Time `json:"created_at"`
		Visibility string
		Redactions []struct {
			Kind  string
			Count int
		}
	}
	found struct {
		ID         string
		Score      float64
		Content    string
		Type       string
		Tags       []string
		SessionID  string `json:"session_id"`
		Visibility string
	}
	answer struct {
		Results  []found
		Semantic string
		Lessons  []struct {
			PreventativeRule string  `json:"preventative_rule"`
			RuleConfidence   float64 `json:"rule_confidence"`
		}
		Hint string
	}
	lesson struct {
		LessonID string `json:"lesson_id"`
		MemoryID string `json:"memory_id"`
		Created  bool
	}
)

// sample copies the sample workspace.
func sample(tb testing.TB) string {
	tb.Helper()
	dir := filepath.Join(tb.TempDir(), "kate")
	if err := os.CopyFS(dir, os.DirFS("../testdata/workspaces/kate")); err != nil {
		tb.Fatal(err)
	}
	return dir
}

// write makes a file and the folders above it.
func write(tb testing.TB, path, content string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		tb.Fatal(err)
	}
}

func remove(tb testing.TB, path string) {
	tb.Helper()
	if err := os.RemoveAll(path); err != nil {
		tb.Fatal(err)
	}
}

// copyFolder copies a folder with the times of its files.
func copyFolder(tb testing.TB, from, to string) {
	tb.Helper()
	err := programtest.WithoutForks(func() error { return os.CopyFS(to, os.DirFS(from)) })
	if err != nil {
		tb.Fatal(err)
	}
	err = filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		name := filepath.Join(to, strings.TrimPrefix(path, from))
		if err := os.Chmod(name, info.Mode().Perm()); err != nil {
			return err
		}
		return os.Chtimes(name, info.ModTime(), info.ModTime())
	})
	if err != nil {
		tb.Fatal(err)
	}
}

// filesBelow is the names and contents of everything in the folders, one after the other.
func filesBelow(tb testing.TB, folders ...string) string {
	tb.Helper()
	var all strings.Builder
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			all.WriteString(strings.TrimPrefix(path, folder) + "\n")
			if !entry.Type().IsRegular() {
				return nil
			}
			data, err := os.ReadFile(path)
			all.Write(data)
			return err
		})
		if err != nil && !os.IsNotExist(err) {
			tb.Fatal(err)
		}
	}
	return all.String()
}

// store stores a memory with the given content.
func (s *session) store(content string, more map[string]any) stored {
	s.tb.Helper()
	args := map[string]any{"content": content}
	maps.Copy(args, more)
	return call[stored](s, "memory_store", args)
}

// search asks until every memory has its vector.
func (s *session) search(query string, more map[string]any) answer {
	s.tb.Helper()
	args := map[string]any{"query": query}
	maps.Copy(args, more)
	deadline := time.Now().Add(patience)
	for {
		got := call[answer](s, "memory_search", args)
		if !strings.HasPrefix(got.Semantic, "pending:") {
			return got
		}
		if time.Now().After(deadline) {
			s.tb.Fatalf("after %v the search still answers %s", patience, got.Semantic)
		}
	}
}

// settle waits until another process finds everything by meaning that s has stored, so that what s finds
// next depends on nothing but what is there. It asks for lessons, which leaves no trace in the ledger
// however often it has to ask. A session without a model has nothing to wait for.
func (s *session) settle() {
	s.tb.Helper()
	other := s.beside()
	other.settled()
	other.end()
}

// beside is a session of the same audience in a process of its own, so that what it asks is not in the first one's.
func (s *session) beside() *session {
	s.tb.Helper()
	other := s.launch
	other.wrapper, other.over = nil, ""
	return connect(s.tb, other)
}

// settled waits until everything that is stored has its vector.
func (s *session) settled() {
	s.tb.Helper()
	for deadline := time.Now().Add(patience); ; {
		got := call[struct{ Semantic string }](s, "lessons", map[string]any{"query": "canary"})
		if !strings.HasPrefix(got.Semantic, "pending:") {
			return
		}
		if time.Now().After(deadline) {
			s.tb.Fatalf("after %v lessons are still %s", patience, got.Semantic)
		}
	}
}
