package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/daulet/tokenizers"
	"github.com/mark3labs/mcp-go/mcp"
	"gotest.tools/v3/golden"

	"github.com/yamo-protocol/yamo-mcp/internal/assets"
	_ "github.com/yamo-protocol/yamo-mcp/native" // links libtokenizers
)

// mostTokens is what the tools that are offered unless an operator chooses otherwise may cost a DM: every host puts
// them before every conversation.
const mostTokens = 13_000

// What the tools of each toolset cost a model, in hundreds of tokens, is in a golden file, so that a change shows.
// The tokens are those of the embedding model's tokenizer over the JSON of the tools' list: more than other
// tokenizers count, each bracket and quote being one.
func TestSchemaTokens(t *testing.T) {
	t.Parallel()
	tokenizer := openTokenizer(t)
	var report strings.Builder
	fmt.Fprintf(&report, "%-20s %-8s %5s %8s\n", "toolsets", "audience", "tools", "tokens")
	for _, sets := range []string{"memory", "workspace", "learning", "memory,workspace", "memory,workspace,learning"} {
		dm, group := listers(t, "--toolsets", sets)
		for _, listed := range []struct {
			who string
			lister
		}{{"DM", dm}, {"group", group}} {
			tools, tokens := listed.tokens(tokenizer)
			name := map[string]string{"memory,workspace": "the default", "memory,workspace,learning": "all"}[sets]
			if name == "" {
				name = sets
			}
			fmt.Fprintf(&report, "%-20s %-8s %5d %8d\n", name, listed.who, tools, (tokens+50)/100*100)
			if name == "the default" && tokens > mostTokens {
				t.Errorf("the default toolsets cost a %s %d tokens, more than %d", listed.who, tokens, mostTokens)
			}
		}
	}
	golden.Assert(t, report.String(), "schema_tokens.golden")
}

// tokens counts the tools that are offered and what their list costs.
func (l lister) tokens(tokenizer *tokenizers.Tokenizer) (tools, tokens int) {
	l.t.Helper()
	result, err := l.ListTools(l.t.Context(), mcp.ListToolsRequest{})
	if err != nil {
		l.t.Fatal(err)
	}
	text, err := json.Marshal(result.Tools)
	if err != nil {
		l.t.Fatal(err)
	}
	ids, _ := tokenizer.Encode(string(text), false)
	return len(result.Tools), len(ids)
}

// openTokenizer opens the embedding model's tokenizer without the truncation that its file asks for.
func openTokenizer(t *testing.T) *tokenizers.Tokenizer {
	t.Helper()
	paths, err := assets.Locate(os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(paths.Tokenizer)
	if err != nil {
		t.Fatal(err)
	}
	var settings map[string]any
	if err := json.Unmarshal(data, &settings); err != nil {
		t.Fatal(err)
	}
	settings["truncation"], settings["padding"] = nil, nil
	if data, err = json.Marshal(settings); err != nil {
		t.Fatal(err)
	}
	tokenizer, err := tokenizers.FromBytes(data)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tokenizer.Close(); err != nil {
			t.Error(err)
		}
	})
	return tokenizer
}
