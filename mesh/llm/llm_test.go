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

	"github.com/yamo-protocol/yamo-mcp/mesh/derive"
)

// served returns a client for a test server with the handler.
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

var prompt = derive.Prompt{Key: "key", System: "do <this>", Text: "with that", MaxTokens: 700}

func TestProviders(t *testing.T) {
	t.Parallel()
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
			`{"id":"x","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},` +
				`{"type":"text","text":"So it is."}]}}`, "m",
		},
	} {
		t.Run(test.provider, func(t *testing.T) {
			c := served(t, test.provider, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				if diff := cmp.Diff(test.request, string(body)); diff != "" {
					t.Error(diff)
				}
				want := []string{http.MethodPost, test.path, "Bearer k"}
				got := []string{r.Method, r.URL.Path, r.Header.Get("Authorization")}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("method, path, authorization (-want +got):\n%s", diff)
				}
				_, _ = io.WriteString(w, test.answer)
			})
			got, err := c.Complete(t.Context(), prompt)
			if diff := cmp.Diff(derive.Completion{Text: "So it is.", Model: test.model}, got); diff != "" || err != nil {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
}

// At its official address, OpenAI gets the parameters that its newer models require.
func TestOpenAIItself(t *testing.T) {
	t.Parallel()
	q := question{model: "m", system: "s", text: "t", maxTokens: 9, official: true}
	got, err := json.Marshal(apis["openai"].request(q))
	const want = `{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"t"}],` +
		`"max_completion_tokens":9}`
	if string(got) != want || err != nil {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
	if c, err := New(Options{Provider: "openai", Model: "m"}); err != nil || !c.official {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestBadAnswers(t *testing.T) {
	t.Parallel()
	for _, provider := range Providers {
		for _, answer := range []string{
			`SECRET`, `{}`, `{"choices":[],"message":null}`, `{"message":{"content":7},"choices":"SECRET"}`,
		} {
			c := served(t, provider, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer) })
			got, err := c.Complete(t.Context(), prompt)
			if err == nil {
				t.Errorf("%s accepted the answer %s as %v", provider, answer, got)
				continue
			}
			if want := provider + ": the answer has an unexpected format"; err.Error() != want {
				t.Errorf("%s, %s: error %q, want %q", provider, answer, err, want)
			}
		}
		requests := 0
		c := served(t, provider, func(w http.ResponseWriter, _ *http.Request) {
			requests++
			http.Error(w, "SECRET", http.StatusServiceUnavailable)
		})
		if _, err := c.Complete(t.Context(), prompt); err == nil || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: error %v, want one without the response", provider, err)
		}
		if requests != 3 {
			t.Errorf("%s: %d requests, want 3", provider, requests)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		o    Options
		want string
	}{
		{Options{Provider: "openia", Model: "m"}, "use openai, ollama, cohere"},
		{Options{Provider: "ollama"}, "the model is required"},
		{Options{Provider: "openai", Model: "m", BaseURL: "localhost"}, "begin with http://"},
		{Options{Provider: "openai", Model: "m", BaseURL: "http://models.example", APIKey: "sk-1"}, "only over https://"},
	} {
		_, err := New(test.o)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: error %v, want %q", test.o, err, test.want)
		}
		if err != nil && strings.Contains(err.Error(), "sk-1") {
			t.Errorf("%+v: the error contains the key: %v", test.o, err)
		}
	}
}
