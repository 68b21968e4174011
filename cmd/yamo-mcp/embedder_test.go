package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/config"
)

const providerDim = 64

// provider is an ollama on this machine. A text's vector is the sum of its words' own directions, where tea and
// beverage are one word; it notes what it was asked.
type provider struct {
	*httptest.Server
	mu     sync.Mutex
	asked  []string // texts
	models []string
	keys   []string
	words  []string // each has a direction of its own
}

func newProvider(t *testing.T) *provider {
	t.Helper()
	p := &provider{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		var request struct {
			Model string
			Input []string
		}
		if err := json.NewDecoder(q.Body).Decode(&request); err != nil || q.URL.Path != "/api/embed" {
			http.Error(w, "no", http.StatusBadRequest)
			return
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.asked = append(p.asked, request.Input...)
		p.models = append(p.models, request.Model)
		p.keys = append(p.keys, q.Header.Get("Authorization"))
		vectors := make([][]float32, len(request.Input))
		for i, text := range request.Input {
			vectors[i] = p.direction(text)
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"embeddings": vectors})
	}))
	t.Cleanup(p.Close)
	return p
}

// direction is called with p.mu held.
func (p *provider) direction(text string) []float32 {
	v := make([]float32, providerDim)
	v[0] = 1e-3 // a text without words has a direction too
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		if word = strings.Trim(word, ".?"); word == "beverage" {
			word = "tea"
		}
		if len(word) < 3 || word == "the" {
			continue
		}
		if !slices.Contains(p.words, word) {
			p.words = append(p.words, word)
		}
		v[(1+slices.Index(p.words, word))%providerDim]++
	}
	return v
}

func (p *provider) heard(text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.asked, func(asked string) bool { return strings.Contains(asked, text) })
}

// contains reports the strings that text lacks.
func contains(t *testing.T, text string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in:\n%s", want, text)
		}
	}
}

// lacks reports the strings that text contains.
func lacks(t *testing.T, text string, unwanted ...string) {
	t.Helper()
	for _, s := range unwanted {
		if strings.Contains(text, s) {
			t.Errorf("%q is in:\n%s", s, text)
		}
	}
}

// program runs the program with these variables and no local model.
func program(ctx context.Context, t *testing.T, env map[string]string, args ...string,
) (stdout, stderr string, err error) {
	t.Helper()
	getenv := func(name string) string {
		if name == "YAMO_CACHE" {
			return filepath.Join(t.TempDir(), "no-model")
		}
		return env[name]
	}
	var out bytes.Buffer
	var errs logged
	err = run(ctx, args, getenv, strings.NewReader(""), &out, &errs)
	return out.String(), errs.String(), err
}

// writeOperatorFile writes the config file of the operator with these variables.
func writeOperatorFile(t *testing.T, env map[string]string, content string) {
	t.Helper()
	path, err := config.OperatorFile(func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestRemoteEmbedder(t *testing.T) {
	t.Parallel()
	p, workspace := newProvider(t), t.TempDir()
	env := map[string]string{
		"YAMO_WORKSPACE": workspace, "TEAM_KEY": "secret-of-the-team", "XDG_CONFIG_HOME": t.TempDir(),
	}
	must := func(args ...string) string {
		t.Helper()
		stdout, stderr, err := program(t.Context(), t, env, args...)
		if err != nil {
			t.Fatalf("%q: %v\n%s", args, err, stderr)
		}
		return stdout
	}
	fails := func(want string, args ...string) {
		t.Helper()
		if stdout, _, err := program(t.Context(), t, env, args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q\n%s", args, err, want, stdout)
		}
	}
	content := "embedder = 'ollama'\nembedding_model = 'small'\nembedding_dimensions = 64\n" +
		"embedding_key_env = 'TEAM_KEY'\nembedding_url = '" +
		"http://127.0.0.1:1, " + p.URL + "'\n" // no server is at the first address
	writeOperatorFile(t, env, content)
	must("mesh", "store", "--content", "The tea is in the blue cupboard. Write to jon@example.org.")
	must("mesh", "store", "--content", "The ladder is in the shed.")
	stdout, stderr, err := program(t.Context(), t, env, "mesh", "search", "beverage", "--limit", "1")
	if err != nil || !strings.Contains(stdout, "blue cupboard") {
		t.Errorf("by meaning: %v\n%s%s", err, stdout, stderr)
	}
	contains(t, stderr, "a fallback was used")
	lacks(t, stderr, "keywords only", "blue cupboard")
	if p.heard("jon@example.org") || !p.heard("blue cupboard") {
		t.Error("the provider gets texts as they are kept, redacted")
	}
	if diff := cmp.Diff([]string{"small", "Bearer secret-of-the-team"}, []string{p.models[0], p.keys[0]}); diff != "" {
		t.Errorf("model and key (-want +got):\n%s", diff)
	}
	// After the search, because a DM does not wait for the vectors of a group's memories.
	must("mesh", "store", "--content", "The team drinks coffee.", "--group", "team")
	must("index", "rebuild")
	if stdout := must("index", "verify"); !strings.HasPrefix(stdout, "private: consistent, 2 memories, ") {
		t.Errorf("verify: %s", stdout)
	}
	if !p.heard("drinks coffee") {
		t.Error("a group's memory was not embedded")
	}

	// Another model's vectors are never mixed in: they are made again by the next search, or store.
	env["YAMO_EMBEDDING_MODEL"] = "large"
	fails("index rebuild", "index", "verify")
	if stdout := must("mesh", "search", "cupboard", "--limit", "1"); !strings.Contains(stdout, "blue cupboard") {
		t.Errorf("by words, or with new vectors: %s", stdout)
	}
	must("mesh", "store", "--content", "The kettle is on the stove.")
	must("index", "rebuild")
	if stdout := must("mesh", "search", "beverage", "--limit", "1"); !strings.Contains(stdout, "blue cupboard") {
		t.Errorf("after the rebuild: %s", stdout)
	}

	// Without the provider words decide, and the answer says so.
	p.Close()
	stdout, stderr, err = program(t.Context(), t, env, "mesh", "search", "ladder")
	if err != nil {
		t.Errorf("without the provider: %v", err)
	}
	contains(t, stdout, "shed")
	contains(t, stderr, "the embedding provider failed")
}

func TestEmbedderSettings(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		env   map[string]string
		flags string // without --
		fails string
	}{
		"unknown":            {nil, "embedder=openia", "is not one of local, openai, ollama, cohere"},
		"local with a model": {nil, "embedding-model=x", "the absolute path of a folder"},
		"not installed": {
			nil, "embedding-model=paraphrase-multilingual-MiniLM-L12-v2",
			"run `yamo-mcp setup --model paraphrase-multilingual-MiniLM-L12-v2`",
		},
		"no dimensions":       {nil, "embedder=ollama embedding-model=x", "the number of dimensions of model x"},
		"no key":              {nil, "embedder=openai", "OPENAI_API_KEY with the API key is not set"},
		"customary key":       {map[string]string{"CO_API_KEY": "k"}, "embedder=cohere", ""},
		"named key not set":   {nil, "embedder=openai embedding-key-env=K", "variable K with"},
		"the key for a name":  {nil, "embedder=openai embedding-key-env=sk-proj-4711", "not the key"},
		"no address":          {nil, "embedder=ollama embedding-url=localhost:11434", "http://"},
		"an address too many": {nil, "embedder=ollama embedding-url=http://localhost:1,x", "http://"},
		"another address": {
			map[string]string{"OPENAI_API_KEY": "k"}, "embedder=openai embedding-url=http://models.example/v1", "",
		},
		"a key in the clear": {
			map[string]string{"K": "k"},
			"embedder=openai embedding-url=http://models.example/v1 embedding-key-env=K", "https://",
		},
	} {
		t.Run(name, func(t *testing.T) {
			workspace := t.TempDir()
			commands := [][]string{{"serve"}, {"mesh", "stats"}}
			if test.fails != "" { // else it would ask the provider
				commands = append(commands, []string{"index", "rebuild"})
			}
			for _, command := range commands {
				_, _, err := program(t.Context(), t, test.env, flagged(command, workspace, test.flags)...)
				switch {
				case test.fails == "" && err != nil:
					t.Errorf("%q: %v", command, err)
				case test.fails != "" && (err == nil || !strings.Contains(err.Error(), test.fails)):
					t.Errorf("%q: %v, want %q", command, err, test.fails)
				case err != nil && strings.Contains(err.Error(), "4711"):
					t.Errorf("the key is repeated: %v", err)
				}
			}
		})
	}
}

// flagged returns a command line: command on a workspace, with flags that are separated by spaces.
func flagged(command []string, workspace, flags string) []string {
	line := append(slices.Clone(command), "--workspace", workspace)
	for flag := range strings.FieldsSeq(flags) {
		line = append(line, "--"+flag)
	}
	return line
}
