package integration

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// listedTool is what a model is told of a tool.
type listedTool struct {
	Name, Description string
	InputSchema       struct {
		Properties map[string]struct {
			Type, Description string
			Enum              []string
		}
		Required []string
	}
}

// A model that has nothing but the descriptions of the tools makes a part profile, a relationship and a first fact with
// evidence in a new workspace, and no call fails: the paths, headings and operations are those that the descriptions
// show, with names in the place of ID.
func TestProfilesFromTheDescriptions(t *testing.T) {
	t.Parallel()
	workspace := filepath.Join(t.TempDir(), "agent")
	init := exec.Command(serverBinary(t), "init", workspace, "--yes", "--name", "Ida", "--user", "Mira",
		"--timezone", "UTC")
	if output, err := init.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	s := connect(t, launch{workspace: workspace})
	var list struct{ Tools []listedTool }
	s.request("tools/list", nil).decode(t, &list)
	at := slices.IndexFunc(list.Tools, func(tool listedTool) bool { return tool.Name == "workspace_edit" })
	if at < 0 {
		t.Fatal("there is no workspace_edit")
	}
	tool := list.Tools[at].InputSchema
	path := func(kind, id string) string {
		t.Helper()
		for _, pattern := range patternsIn(tool.Properties["file"].Description) {
			if strings.Contains(pattern, "/"+kind+"/") {
				return strings.Replace(strings.Replace(pattern, "ID", "mira", 1), "ID", id, 1)
			}
		}
		t.Fatalf("the schema shows no path of %s: %s", kind, tool.Properties["file"].Description)
		return ""
	}
	heading := func(i int) string {
		t.Helper()
		m := regexp.MustCompile(`profiles: (\w+), (\w+), (\w+)`).FindStringSubmatch(tool.Properties["section"].Description)
		if m == nil {
			t.Fatalf("the schema shows no headings of profiles: %s", tool.Properties["section"].Description)
		}
		return m[i]
	}
	operation := func(name string) string {
		t.Helper()
		if !slices.Contains(tool.Properties["op"].Enum, name) {
			t.Fatalf("the schema has no operation %s", name)
		}
		return name
	}
	const said = "I check the door twice before I sleep"
	fact := s.store("Mira: \""+said+".\"", nil)
	for _, args := range []map[string]any{
		{
			"file": path("parts", "guard"), "section": heading(1), "op": operation("append_section"),
			"content": "Keeps watch over the house at night.", "rationale": "Mira told about it", "create": true,
		},
		{
			"file": path("relationships", "guard-child"), "section": heading(2), "op": operation("append_section"),
			"content": "The guard protects the child.", "rationale": "Mira told about it", "create": true,
		},
		{
			"file": path("parts", "guard"), "section": heading(3), "op": operation("append_item"),
			"items": []string{`"` + said + `"`}, "evidence_refs": []string{fact.ID}, "rationale": "Mira said so",
		},
	} {
		for name := range args {
			if _, ok := tool.Properties[name]; !ok {
				t.Errorf("the schema has no %s", name)
			}
		}
		for _, name := range tool.Required {
			if args[name] == nil {
				t.Errorf("%s is required", name)
			}
		}
		var result toolResult
		s.request("tools/call", map[string]any{"name": "workspace_edit", "arguments": args}).decode(t, &result)
		if result.IsError {
			sent, _ := json.Marshal(args) // strings, a list and a bool
			t.Errorf("%s: %s", sent, result.text())
		}
	}
	s.end()
	month := &month{t: t, launch: launch{workspace: workspace}, clock: otherDay{t, serverBinary(t)}}
	if text := month.read("users/mira/parts/guard/profile.md"); !strings.Contains(text, `"`+said+`" (ev:`) ||
		!strings.Contains(text, "Keeps watch") {
		t.Errorf("the part is\n%s", text)
	}
	text := month.read("users/mira/relationships/guard-child/profile.md")
	if !strings.Contains(text, "protects the child") {
		t.Errorf("the relationship is\n%s", text)
	}
	if out := month.run("lint", workspace); !strings.Contains(out, "errors: 0, warnings: 0") {
		t.Errorf("lint: %s", out)
	}
}

// patternsIn returns the paths that a description shows, one for each of the words in braces.
func patternsIn(description string) (list []string) {
	braces := regexp.MustCompile(`\{(\w+),(\w+)\}`)
	for path := range strings.FieldsSeq(description) {
		path = strings.TrimRight(path, ",.")
		m := braces.FindStringSubmatchIndex(path)
		if m == nil {
			list = append(list, path)
			continue
		}
		for word := range strings.SplitSeq(path[m[2]:m[5]], ",") {
			list = append(list, path[:m[0]]+word+path[m[1]:])
		}
	}
	return list
}
