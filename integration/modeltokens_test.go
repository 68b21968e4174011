package integration

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
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

// resultTokens is the maximum of what ten memories of a sentence each cost as the text of a search.
const resultTokens = 350

// What a host that shows the text of a search, and one that shows the structure, put before a model.
func TestResultTokens(t *testing.T) {
	t.Parallel()
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	workspace := filepath.Join(t.TempDir(), "agent")
	init := exec.Command(serverBinary(t), "init", workspace, "--yes", "--name", "Kit", "--user", "Marta",
		"--timezone", "Europe/Lisbon")
	if output, err := init.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	s := connect(t, launch{workspace: workspace})
	for _, fact := range []string{
		"The greenhouse heater trips above 14 amps.", "Marta waters the greenhouse on Sundays.",
		"The greenhouse door sticks when it rains.", "Tomato seedlings go into the greenhouse in April.",
		"The greenhouse was built in 2019 by Rui.", "Spare panes for the greenhouse are in the barn.",
		"The greenhouse hose needs a new washer.", "The greenhouse thermostat is set to 18 degrees.",
		"No copper spray in the greenhouse near harvest.", "The greenhouse lease ends in October 2028.",
	} {
		s.store(fact, nil)
	}
	var result toolResult
	s.request("tools/call", map[string]any{
		"name": "memory_search", "arguments": map[string]any{"query": "greenhouse", "limit": 10},
	}).decode(t, &result)
	found := decodeResult[struct {
		Results []struct{ ID, Content string }
	}](t, "memory_search", result)
	if len(found.Results) != 10 {
		t.Fatalf("%d results", len(found.Results))
	}
	for _, r := range found.Results {
		if !strings.Contains(result.text(), r.ID) || !strings.Contains(result.text(), r.Content) {
			t.Errorf("the text lacks %s %q", r.ID, r.Content)
		}
	}
	text, err := codec.Count(result.text())
	if err != nil {
		t.Fatal(err)
	}
	structure, err := codec.Count(string(result.StructuredContent))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("ten memories: %d tokens as text, %d as structure", text, structure)
	if text >= resultTokens {
		t.Errorf("ten memories cost %d tokens as text, not less than %d:\n%s", text, resultTokens, result.text())
	}
	if text*2 > structure {
		t.Errorf("the text costs %d tokens, the structure %d: more than half", text, structure)
	}
}
