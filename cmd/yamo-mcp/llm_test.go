package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// The configured language model writes what mesh reflect and mesh synthesize print, from redacted memories.
func TestConfiguredLLM(t *testing.T) {
	t.Parallel()
	var asked []string
	answer := "Sand in the filter stops the irrigation pump [1]."
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = append(asked, r.URL.Path+" "+r.Header.Get("Authorization")+" "+string(body))
		if answer == "" {
			http.Error(w, "broken", http.StatusBadRequest)
			return
		}
		message := map[string]string{"role": "assistant", "content": answer}
		_ = json.NewEncoder(w).Encode(map[string]any{"model": "small:1b", "message": message})
	}))
	defer s.Close()
	workspace := t.TempDir()
	content := "llm = 'ollama'\nllm_model = 'small'\nllm_key_env = 'TEAM_KEY'\nllm_max_tokens = 90\n" +
		"llm_url = '" + s.URL + "'\n"
	env := map[string]string{
		"YAMO_WORKSPACE": workspace, "TEAM_KEY": "secret-of-the-team", "XDG_CONFIG_HOME": t.TempDir(),
	}
	writeOperatorFile(t, env, content)
	must := func(args ...string) (stdout, stderr string) {
		t.Helper()
		stdout, stderr, err := program(t.Context(), t, env, args...)
		if err != nil {
			t.Fatalf("%q: %v\n%s", args, err, stderr)
		}
		return stdout, stderr
	}
	must("mesh", "store", "--content", "The irrigation pump stopped: sand was in its filter. Write to jon@example.org.")
	if len(asked) > 0 {
		t.Errorf("storing asked %q", asked)
	}
	stdout, _ := must("mesh", "reflect", "--topic", "irrigation pump")
	contains(t, stdout, "Method: model (small:1b)\n", "\nSand in the filter stops the irrigation pump (mem_")
	if len(asked) != 1 {
		t.Fatalf("asked %q", asked)
	}
	if !strings.HasPrefix(asked[0], "/api/chat Bearer secret-of-the-team {") {
		t.Errorf("asked %q", asked[0])
	}
	contains(t, asked[0], "sand was in its filter", `"num_predict":90`)
	lacks(t, asked[0], "jon@example.org")
	answer = "- Clean the sand out of the irrigation pump's filter [1]"
	stdout, _ = must("mesh", "synthesize", "--topic", "irrigation pump")
	contains(t, stdout, "  - Clean the sand out of the irrigation pump's filter (mem_")
	answer = ""
	must("mesh", "store", "--content", "The irrigation pump runs again.")
	stdout, stderr := must("mesh", "reflect", "--topic", "irrigation pump")
	contains(t, stdout, "Method: extract\n")
	contains(t, stderr, "[MemoryMesh] Made without a language model: a language model was asked and did not answer\n")
	lacks(t, stderr, "secret-of-the-team", "filter")
}

func TestLLMSettings(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		env   map[string]string
		flags string // without --
		fails string
	}{
		"none":               {nil, "", ""},
		"unknown":            {nil, "llm=openia", "is not one of none, openai, ollama, cohere"},
		"no provider":        {nil, "llm-url=http://localhost:1", "name the provider"},
		"no model":           {nil, "llm=ollama", "the model is required"},
		"no key":             {nil, "llm=openai llm-model=m", "OPENAI_API_KEY with the API key is not set"},
		"customary key":      {map[string]string{"OPENAI_API_KEY": "k"}, "llm=openai llm-model=m", ""},
		"the key for a name": {nil, "llm=cohere llm-model=m llm-key-env=sk-4711", "not the key"},
		"no address":         {nil, "llm=ollama llm-model=m llm-url=localhost", "begin with http://"},
		"negative":           {nil, "llm=ollama llm-model=m llm-max-tokens=-1", "must be 1 or more"},
		"a key in the clear": {
			map[string]string{"K": "k"},
			"llm=openai llm-model=m llm-url=http://models.example llm-key-env=K", "only over https://",
		},
	} {
		t.Run(name, func(t *testing.T) {
			workspace := t.TempDir()
			for _, command := range [][]string{{"serve"}, {"mesh", "stats"}} {
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
