package session

import (
	"cmp"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	godiff "github.com/google/go-cmp/cmp"
	"github.com/invopop/jsonschema"
	"github.com/mark3labs/mcp-go/mcp"

	"gotest.tools/v3/golden"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/config"
)

// toolsDocument is written by hand up to its first tool, and from there on made from the schemas that clients get.
const toolsDocument = "../../docs/tools.md"

// documented is a tool as one audience has it.
type documented struct {
	set       string
	dm, group *mcp.Tool
}

func TestToolsDocument(t *testing.T) {
	known := map[string]*documented{}
	var names []string
	for _, dir := range []string{"kate", "newborn"} {
		for _, set := range config.Toolsets {
			for _, tool := range offered(t, dir, set, audience.DM()) {
				if known[tool.Name] == nil {
					known[tool.Name] = &documented{set: set, dm: &tool}
					names = append(names, tool.Name)
				}
			}
			for _, tool := range offered(t, dir, set, groupNamed(t, "hiking")) {
				if known[tool.Name] == nil {
					t.Fatalf("a group has %s, which a DM does not", tool.Name)
				}
				known[tool.Name].group = &tool
			}
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		order := slices.Index(config.Toolsets, known[a].set) - slices.Index(config.Toolsets, known[b].set)
		return cmp.Or(order, strings.Compare(a, b))
	})
	document, err := os.ReadFile(toolsDocument)
	if err != nil {
		t.Fatal(err)
	}
	head, _, ok := strings.Cut(string(document), "\n## `")
	if !ok {
		t.Fatal("no tool in docs/tools.md")
	}
	var text strings.Builder
	text.WriteString(head)
	for _, name := range names {
		writeTool(t, &text, known[name])
	}
	if golden.FlagUpdate() {
		if err := os.WriteFile(toolsDocument, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := godiff.Diff(string(document), text.String()); diff != "" {
		t.Errorf("docs/tools.md (-) and the schemas (+) differ; run this test with -update:\n%s", diff)
	}
}

// offered are the tools of one set in a sample workspace.
func offered(t *testing.T, dir, set string, who audience.Audience) []mcp.Tool {
	t.Helper()
	deps, release, err := Open(sample(t, dir, set), who)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := release(); err != nil {
			t.Error(err)
		}
	}()
	var list []mcp.Tool
	for _, tool := range deps.Tools {
		list = append(list, tool.Contract())
	}
	return list
}

// sample are the options of a session in a copy of a sample workspace, which offers the sets of tools.
func sample(t *testing.T, dir, sets string) Options {
	t.Helper()
	workspace := filepath.Join(t.TempDir(), dir)
	if err := os.CopyFS(workspace, os.DirFS(filepath.Join("..", "..", "testdata", "workspaces", dir))); err != nil {
		t.Fatal(err)
	}
	logs, err := filepath.Abs("../../testdata/workspaces/kate-transcripts")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{
		Config: config.Default(), Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
	}
	o.Config.Workspace, o.Config.Session.AgentID = workspace, "kate"
	o.Config.Session.Transcripts, o.Config.Session.Toolsets = logs, sets
	return o
}

func groupNamed(t *testing.T, name string) audience.Audience {
	t.Helper()
	who, err := audience.Group(name)
	if err != nil {
		t.Fatal(err)
	}
	return who
}

// writeTool describes one tool.
func writeTool(t *testing.T, text *strings.Builder, d *documented) {
	t.Helper()
	tool := d.dm
	who := "DM"
	if d.group != nil {
		who = "DM and group"
	}
	var hints []string
	for _, hint := range []struct {
		set *bool
		yes string
	}{
		{tool.Annotations.ReadOnlyHint, "changes nothing"},
		{tool.Annotations.DestructiveHint, "may remove or replace"},
		{tool.Annotations.IdempotentHint, "safe to repeat"},
		{tool.Annotations.OpenWorldHint, "reaches beyond this machine"},
	} {
		if hint.set == nil {
			t.Fatalf("%s: an annotation is missing", tool.Name)
		}
		if *hint.set {
			hints = append(hints, hint.yes)
		}
	}
	if len(hints) == 0 {
		hints = []string{"adds, never replaces"}
	}
	fmt.Fprintf(text, "\n## `%s`\n\n**%s** · %s · toolset `%s` · %s\n\n%s\n",
		tool.Name, tool.Title, who, d.set, strings.Join(hints, ", "), tool.Description)
	var groupInput, groupOutput json.RawMessage
	if d.group != nil {
		groupInput, groupOutput = d.group.RawInputSchema, d.group.RawOutputSchema
		if d.group.Description != tool.Description {
			fmt.Fprintf(text, "\nIn a group: %s\n", d.group.Description)
		}
	}
	writeFields(t, text, "Argument", tool.RawInputSchema, groupInput)
	writeFields(t, text, "Result", tool.RawOutputSchema, groupOutput)
}

// writeFields is a table of a schema's fields. Those that the group's schema lacks are marked.
func writeFields(t *testing.T, text *strings.Builder, title string, dm, group json.RawMessage) {
	t.Helper()
	rows, has := fieldsOf(t, dm), map[string]bool{}
	if group != nil {
		for _, row := range fieldsOf(t, group) {
			has[row.path] = true
		}
	}
	if len(rows) == 0 {
		fmt.Fprintf(text, "\nNo %ss.\n", strings.ToLower(title))
		return
	}
	fmt.Fprintf(text, "\n| %s | Type | Meaning |\n|---|---|---|\n", title)
	for _, row := range rows {
		mark := ""
		if row.required {
			mark = "\\*"
		}
		if group != nil && !has[row.path] {
			mark += " †"
		}
		fmt.Fprintf(text, "| `%s`%s | %s | %s |\n", row.path, mark, row.kind, strings.ReplaceAll(row.meaning, "|", `\|`))
	}
}

// field is a row.
type field struct {
	path, kind, meaning string
	required            bool
}

func fieldsOf(t *testing.T, raw json.RawMessage) []field {
	t.Helper()
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	return below(&s, "")
}

// below are the fields of an object and of what is in them, as sections[].text.
func below(s *jsonschema.Schema, path string) (rows []field) {
	for s.Items != nil {
		s, path = s.Items, path+"[]"
	}
	if s.Properties == nil {
		return nil
	}
	for pair := s.Properties.Oldest(); pair != nil; pair = pair.Next() {
		f := field{
			path: strings.TrimPrefix(path+"."+pair.Key, "."), kind: kindOf(pair.Value),
			meaning: pair.Value.Description, required: slices.Contains(s.Required, pair.Key),
		}
		if pair.Value.Default != nil {
			value, err := json.Marshal(pair.Value.Default)
			if err != nil {
				panic(err)
			}
			f.kind += fmt.Sprintf(", default `%s`", value)
		}
		rows = append(rows, f)
		rows = append(rows, below(pair.Value, path+"."+pair.Key)...)
	}
	return rows
}

// kindOf is a type with its limits, in words.
func kindOf(s *jsonschema.Schema) string {
	switch {
	case len(s.Enum) > 0:
		values := make([]string, len(s.Enum))
		for i, v := range s.Enum {
			values[i] = fmt.Sprintf("`%v`", v)
		}
		return strings.Join(values, ", ")
	case s.Items != nil:
		text := "array of " + kindOf(s.Items)
		if s.MaxItems != nil {
			text += fmt.Sprintf(", at most %d", *s.MaxItems)
		}
		return text
	case s.Format != "":
		return s.Format
	case s.Minimum != "" && s.Maximum != "":
		return fmt.Sprintf("%s %s–%s", s.Type, s.Minimum, s.Maximum)
	case s.Minimum != "":
		return fmt.Sprintf("%s ≥ %s", s.Type, s.Minimum)
	case s.MaxLength != nil:
		return fmt.Sprintf("%s, at most %d characters", s.Type, *s.MaxLength)
	case s.Type == "":
		return "anything"
	}
	return s.Type
}
