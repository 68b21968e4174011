package embed

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// served returns a provider of two dimensions at a test server that handler serves.
func served(t *testing.T, provider string, handler http.HandlerFunc) *Remote {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	r, err := NewRemote(RemoteOptions{
		Provider: provider, BaseURL: s.URL + "/base/", Name: "m", Dim: 2, APIKey: "k", Batch: 2,
		Pause: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRemoteProviders(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		provider, path string
		requests       []string
		answers        []string
	}{
		{
			"openai", "/base/embeddings",
			[]string{
				`{"model":"m","input":["a","."],"encoding_format":"float"}`,
				`{"model":"m","input":["c"],"encoding_format":"float"}`,
			},
			[]string{
				`{"data":[{"index":1,"embedding":[0,2]},{"index":0,"embedding":[3,4]}]}`,
				`{"data":[{"index":0,"embedding":[-1,0]}]}`,
			},
		},
		{
			"ollama", "/base/api/embed",
			[]string{`{"model":"m","input":["a","."],"truncate":true}`, `{"model":"m","input":["c"],"truncate":true}`},
			[]string{`{"embeddings":[[3,4],[0,2]]}`, `{"embeddings":[[-1,0]]}`},
		},
		{
			"cohere", "/base/v2/embed",
			[]string{
				`{"model":"m","texts":["a","."],"input_type":"search_document","embedding_types":["float"],"truncate":"END"}`,
				`{"model":"m","texts":["c"],"input_type":"search_document","embedding_types":["float"],"truncate":"END"}`,
			},
			[]string{`{"embeddings":{"float":[[3,4],[0,2]]}}`, `{"embeddings":{"float":[[-1,0]]}}`},
		},
	} {
		t.Run(test.provider, func(t *testing.T) {
			var requests []string
			r := served(t, test.provider, func(w http.ResponseWriter, req *http.Request) {
				body, _ := io.ReadAll(req.Body)
				requests = append(requests, string(body))
				got := []string{req.Method, req.URL.Path, req.Header.Get("Authorization"), req.Header.Get("Content-Type")}
				want := []string{http.MethodPost, test.path, "Bearer k", "application/json"}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("request (-want +got):\n%s", diff)
				}
				_, _ = io.WriteString(w, test.answers[len(requests)-1])
			})
			got, err := r.Embed(t.Context(), []string{"a", "", "c"})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([][]float32{{.6, .8}, {0, 1}, {-1, 0}}, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.requests, requests); diff != "" {
				t.Error(diff)
			}
			if r.Model() != (Model{"m", 2}) {
				t.Errorf("Model = %v", r.Model())
			}
		})
	}
}

func TestRemoteRetries(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		codes    []int // of the answers, in order
		requests int
		fails    string
	}{
		{[]int{429, 503, 200}, 3, ""},
		{[]int{500, 500, 500, 200}, 3, "500"},
		{[]int{401, 200}, 1, "401"},
		{[]int{307, 200}, 1, "307"}, // a redirect is not followed
	} {
		t.Run(fmt.Sprint(test.codes), func(t *testing.T) {
			requests := 0
			r := served(t, "ollama", func(w http.ResponseWriter, req *http.Request) {
				w.Header().Set("Location", req.URL.Path)
				w.WriteHeader(test.codes[requests])
				requests++
				_, _ = io.WriteString(w, `{"embeddings":[[1,0]],"error":"bad input: SECRET TEXT"}`)
			})
			_, err := r.Embed(t.Context(), []string{"SECRET TEXT"})
			switch {
			case test.fails == "" && err != nil:
				t.Error(err)
			case test.fails == "":
			case err == nil || !strings.Contains(err.Error(), test.fails):
				t.Errorf("err = %v, want %q", err, test.fails)
			case strings.Contains(err.Error(), "SECRET"):
				t.Errorf("the error quotes the text: %v", err)
			}
			if requests != test.requests {
				t.Errorf("%d requests, want %d", requests, test.requests)
			}
		})
	}
}

func TestRemoteBadAnswers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ provider, answer, fails string }{
		"no JSON":           {"ollama", `<html>`, "not understood"},
		"too few":           {"ollama", `{"embeddings":[]}`, "0 vectors for 1"},
		"other dimension":   {"ollama", `{"embeddings":[[1,2,3]]}`, "3 dimensions"},
		"no direction":      {"cohere", `{"embeddings":{"float":[[0,0]]}}`, "length 0"},
		"an index too high": {"openai", `{"data":[{"index":1,"embedding":[1,0]}]}`, "index"},
		"an index twice":    {"openai", `{"data":[{"index":0,"embedding":[1,0]},{"index":0,"embedding":[1,0]}]}`, "index"},
		"none":              {"openai", `{"data":[]}`, "0 dimensions"},
	} {
		t.Run(name, func(t *testing.T) {
			r := served(t, test.provider, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, test.answer) })
			_, err := r.Embed(t.Context(), []string{"x"})
			if err == nil || !strings.Contains(err.Error(), test.fails) {
				t.Fatalf("err = %v, want %q", err, test.fails)
			}
			if !strings.HasPrefix(err.Error(), test.provider) {
				t.Errorf("err = %v, want it to name %s", err, test.provider)
			}
		})
	}
}

func TestRemoteCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	r := served(t, "ollama", func(w http.ResponseWriter, _ *http.Request) {
		cancel()
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	if _, err := r.Embed(ctx, []string{"x"}); err == nil || ctx.Err() == nil {
		t.Errorf("err = %v", err)
	}
}

func TestNewRemote(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		o     RemoteOptions
		want  Model
		fails string
	}{
		{"openai's default", RemoteOptions{Provider: "openai"}, Model{"text-embedding-3-small", 1536}, ""},
		{"ollama's default", RemoteOptions{Provider: "ollama"}, Model{"nomic-embed-text", 768}, ""},
		{"cohere's default", RemoteOptions{Provider: "cohere"}, Model{"embed-multilingual-v3.0", 1024}, ""},
		{"another model", RemoteOptions{Provider: "openai", Name: "x", Dim: 7}, Model{"x", 7}, ""},
		{
			"a well-known model",
			RemoteOptions{Provider: "openai", Name: "text-embedding-3-large"},
			Model{"text-embedding-3-large", 3072},
			"",
		},
		{
			"the operator knows better",
			RemoteOptions{Provider: "openai", Name: "text-embedding-3-large", Dim: 1024},
			Model{"text-embedding-3-large", 1024},
			"",
		},
		{
			"a key to this machine",
			RemoteOptions{Provider: "ollama", APIKey: "k", BaseURL: "http://127.0.0.1:1"},
			Model{"nomic-embed-text", 768},
			"",
		},
		{
			"a key in the clear",
			RemoteOptions{Provider: "openai", APIKey: "k", BaseURL: "http://models.example/v1"},
			Model{},
			"https://",
		},
		{"no dimensions", RemoteOptions{Provider: "openai", Name: "x"}, Model{}, "dimensions of model x"},
		{"unset", RemoteOptions{}, Model{}, "local, openai, ollama or cohere"},
		{"unknown", RemoteOptions{Provider: "openia"}, Model{}, `"openia"`},
		{"no URL", RemoteOptions{Provider: "ollama", BaseURL: "localhost:11434"}, Model{}, "http://"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, err := NewRemote(test.o)
			if test.fails != "" {
				if err == nil || !strings.Contains(err.Error(), test.fails) {
					t.Errorf("err = %v, want %q", err, test.fails)
				}
				return
			}
			if err != nil || r.Model() != test.want {
				t.Errorf("Model = %v, %v; want %v", r, err, test.want)
			}
		})
	}
}

// A text longer than a provider takes is cut, between two characters.
func TestRemoteCutsLongTexts(t *testing.T) {
	t.Parallel()
	var sent ollamaRequest
	r := served(t, "ollama", func(w http.ResponseWriter, q *http.Request) {
		if err := json.NewDecoder(q.Body).Decode(&sent); err != nil {
			t.Error(err)
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"embeddings": [][]float32{{1, 0}}})
	})
	if _, err := r.Embed(t.Context(), []string{"a" + strings.Repeat("é", maxText)}); err != nil {
		t.Fatal(err)
	}
	if want := "a" + strings.Repeat("é", maxText/2-1); len(sent.Input) != 1 || sent.Input[0] != want {
		t.Errorf("sent %d texts of %d bytes, want %d bytes", len(sent.Input), len(strings.Join(sent.Input, "")), len(want))
	}
}

// Building an embedder makes no request.
func TestRemoteConnectsOnFirstUseOnly(t *testing.T) {
	t.Parallel()
	requests := 0
	r := served(t, "ollama", func(w http.ResponseWriter, _ *http.Request) {
		requests++
		_ = json.NewEncoder(w).Encode(map[string]any{"embeddings": [][]float32{{1, 0}}})
	})
	if v, err := r.Embed(t.Context(), nil); len(v) != 0 || err != nil {
		t.Errorf("embedding nothing: %v, %v", v, err)
	}
	if requests != 0 {
		t.Errorf("%d requests for nothing", requests)
	}
	if _, err := r.Embed(t.Context(), []string{"x"}); err != nil || requests != 1 {
		t.Errorf("%v, %d requests", err, requests)
	}
}
