package integration

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/tiktoken-go/tokenizer"
	"gotest.tools/v3/golden"
)

// modelTokens is the maximum of what the default tools cost a DM whose first boot is done.
const modelTokens = 2000

// What a model sees of each tool, its name, description and input schema, in tokens of o200k: the golden file shows
// what a change costs every conversation.
func TestModelTokens(t *testing.T) {
	t.Parallel()
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	var report strings.Builder
	for _, sets := range []string{"memory,workspace", "memory,workspace,learning"} {
		dm, group := listers(t, "--toolsets", sets)
		for _, listed := range []struct {
			who string
			lister
		}{{"DM", dm}, {"group", group}} {
			result, err := listed.ListTools(t.Context(), mcp.ListToolsRequest{})
			if err != nil {
				t.Fatal(err)
			}
			var lines []string
			total := 0
			for _, tool := range result.Tools {
				schema, err := json.Marshal(tool.InputSchema)
				if err != nil {
					t.Fatal(err)
				}
				n, err := codec.Count(tool.Name + "\n" + tool.Description + "\n" + string(schema))
				if err != nil {
					t.Fatal(err)
				}
				lines = append(lines, fmt.Sprintf("  %-18s %5d\n", tool.Name, n))
				// The tools of the first boot are there once.
				if !strings.HasPrefix(tool.Name, "bootstrap_") {
					total += n
				}
			}
			if sets == "memory,workspace" && total >= modelTokens {
				t.Errorf("the default tools cost a %s %d tokens, not less than %d", listed.who, total, modelTokens)
			}
			slices.Sort(lines)
			fmt.Fprintf(&report, "%s, %s: %d tools, %d tokens\n%s", sets, listed.who, len(result.Tools), total,
				strings.Join(lines, ""))
		}
	}
	golden.Assert(t, report.String(), "model_tokens.golden")
}
