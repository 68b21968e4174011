package llm

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/mesh"
)

// served returns a provider at a test server that handler serves.
func served(t *testing.T, provider string, handler http.HandlerFunc) *Client {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	c, err := New(Options{
		Provider: provider, Model: "m", BaseURL: s.URL + "/base/", APIKey: "k", MaxTokens: 50,
		Pause: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var prompt = mesh.Prompt{Key: "key", System: "do <this>", Text: "with that", MaxTokens: 700}

func TestProviders(t *testing.T) {
	const messages = `"messages":[{"role":"system","content":"do \u003cthis\u003e"},{"role":"user","content":"with that"}]`
	for _, test := range []struct{ provider, path, request, answer, model string }{
		{
			"openai", "/base/chat/completions",
			`{"model":"m",` + messages + `,"max_tokens":50,"temperature":0.2}`,
			`{"model":"m-2026","choices":[{"index":0,"message":{"role":"assistant","content":"So it is."}}]}`, "m-2026",
		},
		{
			"ollama", "/base/api/chat",
			`{"model":"m",` + messages + `,"stream":false,"options":{"num_predict":50,"temperature":0.2}}`,
			`{"model":"m:latest","message":{"role":"assistant","content":"So it is."},"done":true}`, "m:latest",
		},
		{
			"cohere", "/base/v2/chat",
			`{"model":"m",` + messages + `,"stream":false,"max_tokens":50,"temperature":0.2}`,
			`{"id":"x","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"So it is."}]}}`, "m",
		},
	} {
		t.Run(test.provider, func(t *testing.T) {
			c := served(t, test.provider, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				if diff := cmp.Diff(test.request, string(body)); diff != "" {
					t.Error(diff)
				}
				if r.Method != http.MethodPost || r.URL.Path != test.path || r.Header.Get("Authorization") != "Bearer k" {
					t.Errorf("%s %s %v", r.Method, r.URL.Path, r.Header)
				}
				_, _ = io.WriteString(w, test.answer)
			})
			got, err := c.Complete(t.Context(), prompt)
			if diff := cmp.Diff(mesh.Completion{Text: "So it is.", Model: test.model}, got); diff != "" || err != nil {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
}

// openai itself is asked as its newer models want it.
func TestOpenAIItself(t *testing.T) {
	got, err := json.Marshal(apis["openai"].request(question{model: "m", system: "s", text: "t", maxTokens: 9, own: true}))
	const want = `{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"t"}],"max_completion_tokens":9}`
	if string(got) != want || err != nil {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
	if c, err := New(Options{Provider: "openai", Model: "m"}); err != nil || !c.own {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestBadAnswers(t *testing.T) {
	for _, provider := range Providers {
		for _, answer := range []string{`SECRET`, `{}`, `{"choices":[],"message":null}`, `{"message":{"content":7},"choices":"SECRET"}`} {
			c := served(t, provider, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer) })
			got, err := c.Complete(t.Context(), prompt)
			if err == nil || !strings.HasPrefix(err.Error(), provider+": ") || strings.Contains(err.Error(), "SECRET") {
				t.Errorf("%s, %s: %v, %v", provider, answer, got, err)
			}
		}
		requests := 0
		c := served(t, provider, func(w http.ResponseWriter, _ *http.Request) {
			requests++
			http.Error(w, "SECRET", http.StatusServiceUnavailable)
		})
		if _, err := c.Complete(t.Context(), prompt); err == nil || strings.Contains(err.Error(), "SECRET") || requests != 3 {
			t.Errorf("%s: %v after %d requests", provider, err, requests)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for _, test := range []struct {
		o    Options
		want string
	}{
		{Options{Provider: "openia", Model: "m"}, "use openai, ollama, cohere"},
		{Options{Provider: "ollama"}, "name the model"},
		{Options{Provider: "openai", Model: "m", BaseURL: "localhost"}, "begin with http://"},
		{Options{Provider: "openai", Model: "m", BaseURL: "http://models.example", APIKey: "sk-1"}, "https:// alone"},
	} {
		if _, err := New(test.o); err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "sk-1") {
			t.Errorf("%+v: %v, want %q", test.o, err, test.want)
		}
	}
}
