package integration

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
)

// The tests in this file check what the forge reads: server.json and the workflows. `make workflows` checks the
// workflows' syntax.

// server.json has the fields that the registry's schema of 2025-12-11 knows, within its limits.
func TestServerJSON(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "server.json"))
	if err != nil {
		t.Fatal(err)
	}
	var server struct {
		Schema      string `json:"$schema"`
		Name        string `json:"name"`
		Title       string `json:"title"`
		Description string `json:"description"`
		Version     string `json:"version"`
		Repository  struct {
			URL    string `json:"url"`
			Source string `json:"source"`
		} `json:"repository"`
	}
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&server); err != nil {
		t.Fatal(err)
	}
	if want := "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"; server.Schema != want {
		t.Errorf("$schema %q, want %q", server.Schema, want)
	}
	for field, check := range map[string]struct{ value, pattern string }{
		// The namespace of the repository's owner.
		"name":              {server.Name, `^io\.github\.yamo-protocol/[a-zA-Z0-9._-]+$`},
		"version":           {server.Version, `^\d+\.\d+\.\d+$`},
		"repository.url":    {server.Repository.URL, `^https://github\.com/yamo-protocol/yamo-mcp$`},
		"repository.source": {server.Repository.Source, `^github$`},
	} {
		if !regexp.MustCompile(check.pattern).MatchString(check.value) {
			t.Errorf("%s %q does not match %s", field, check.value, check.pattern)
		}
	}
	for field, value := range map[string]string{"title": server.Title, "description": server.Description} {
		if n := utf8.RuneCountInString(value); n < 1 || n > 100 {
			t.Errorf("%s has %d characters, want 1 to 100", field, n)
		}
	}
}

// Workflows start without permissions, and every action is pinned by the commit that its comment names the version of.
func TestWorkflowsArePinned(t *testing.T) {
	t.Parallel()
	var files []string
	for _, pattern := range []string{"workflows/*.yml", "actions/*/action.yml"} {
		found, err := filepath.Glob(filepath.Join(root, ".github", pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	pinned := regexp.MustCompile(`^(\./\S+|[a-z-]+/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$`)
	uses := 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, action := range regexp.MustCompile(`(?m)\buses: (.+)$`).FindAllStringSubmatch(string(text), -1) {
			uses++
			if !pinned.MatchString(action[1]) {
				t.Errorf("%s uses %q, which is not owner/name@COMMIT # vX.Y.Z", filepath.Base(name), action[1])
			}
		}
		if filepath.Base(filepath.Dir(name)) != "workflows" {
			continue
		}
		var workflow struct {
			Permissions map[string]string `yaml:"permissions"`
			Jobs        map[string]struct {
				Permissions map[string]string `yaml:"permissions"`
				Timeout     int               `yaml:"timeout-minutes"`
			} `yaml:"jobs"`
		}
		if err := yaml.Unmarshal(text, &workflow); err != nil {
			t.Fatal(err)
		}
		if workflow.Permissions == nil || len(workflow.Permissions) > 0 {
			t.Errorf("%s: permissions %v at the top, want {}", filepath.Base(name), workflow.Permissions)
		}
		for job, settings := range workflow.Jobs {
			if len(settings.Permissions) == 0 {
				t.Errorf("%s: job %s names no permissions", filepath.Base(name), job)
			}
			if settings.Timeout == 0 {
				t.Errorf("%s: job %s has no timeout-minutes", filepath.Base(name), job)
			}
		}
	}
	if uses < 15 {
		t.Errorf("only %d uses of actions were found", uses)
	}
}
