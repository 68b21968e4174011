package integration

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/pelletier/go-toml/v2"
)

// The tests in this file keep the documents true: they compare what README.md, ARCHITECTURE.md and the
// others say with the built program and the repository.

const root = ".."

// recipe is how a document tells a host to start the server.
type recipe struct {
	name    string
	Type    string            `json:"type" toml:"type"`
	Command string            `json:"command" toml:"command"`
	Args    []string          `json:"args" toml:"args"`
	Env     map[string]string `json:"env" toml:"env"`
}

// Every configuration that the documents give to hosts starts the server, for the audience it names.
func TestRecipesStart(t *testing.T) {
	t.Parallel()
	recipes := recipesIn(t)
	if len(recipes) < 8 {
		t.Fatalf("only %d recipes were found: %v", len(recipes), recipes)
	}
	for _, r := range recipes {
		t.Run(r.name, func(t *testing.T) {
			workspace := sample(t)
			fill := strings.NewReplacer("/path/to/yamo-mcp", serverBinary(t), "/path/to/workspace", workspace)
			var args, env []string
			for _, arg := range r.Args {
				args = append(args, fill.Replace(arg))
			}
			for name, value := range r.Env {
				env = append(env, name+"="+fill.Replace(value))
			}
			server := startListed(t, fill.Replace(r.Command), env, args...)
			if len(server.tools()) == 0 {
				t.Error("no tools")
			}
			want := "dm"
			if slices.Contains(r.Args, "group") {
				want = "group"
			}
			if got := server.connection(); got != want {
				t.Errorf("connection %q, want %q", got, want)
			}
		})
	}
}

func recipesIn(t *testing.T) []recipe {
	t.Helper()
	var found []recipe
	add := func(where string, servers map[string]recipe) {
		for name, r := range servers {
			r.name = where + " " + name
			found = append(found, r)
		}
	}
	addJSON := func(where string, text []byte) {
		var config struct {
			MCPServers map[string]recipe `json:"mcpServers"`
			Servers    map[string]recipe `json:"servers"` // VS Code
			OpenCode   map[string]struct {
				Type    string   `json:"type"`
				Command []string `json:"command"`
				Enabled bool     `json:"enabled"`
			} `json:"mcp"`
		}
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&config); err != nil {
			t.Fatalf("%s: %v\n%s", where, err, text)
		}
		add(where, config.MCPServers)
		add(where, config.Servers)
		for name, r := range config.OpenCode {
			add(where, map[string]recipe{name: {Command: r.Command[0], Args: r.Command[1:]}})
		}
	}
	example, err := os.ReadFile(filepath.Join(root, "mcp.json.example"))
	if err != nil {
		t.Fatal(err)
	}
	addJSON("mcp.json.example", example)
	for _, d := range []document{openDocument(t, "README.md"), openDocument(t, "docs/hosts.md")} {
		for _, text := range d.fenced("json") {
			addJSON(d.name+" json", []byte(text))
		}
		for _, text := range d.fenced("toml") {
			var config struct {
				Servers map[string]recipe `toml:"mcp_servers"`
			}
			if err := toml.NewDecoder(strings.NewReader(text)).DisallowUnknownFields().Decode(&config); err != nil {
				t.Fatalf("%s: %v\n%s", d.name, err, text)
			}
			add(d.name+" toml", config.Servers)
		}
		for _, line := range d.commandLines() {
			if command, server, ok := strings.Cut(line, " -- "); ok {
				words := strings.Fields(server)
				add(d.name, map[string]recipe{command: {Command: words[0], Args: words[1:]}})
			}
		}
	}
	return found
}

func TestToolTable(t *testing.T) {
	t.Parallel()
	// A tool has a row for each of its toolsets: a group may have it in another one.
	type row struct{ Tool, Toolset string }
	got, want := map[row]string{}, map[row]string{}
	toolsets := map[string]bool{}
	for _, cells := range openDocument(t, "docs/tools.md").table("Tool") {
		got[row{cells[0], cells[2]}] = cells[1]
		toolsets[cells[2]] = true
	}
	listed := 0
	for toolset := range toolsets {
		dm, group := listers(t, "--toolsets", toolset)
		audiences := map[string]string{}
		note(audiences, "DM", dm.tools())
		note(audiences, "group", group.tools())
		for name, who := range audiences {
			want[row{name, toolset}] = who
		}
		listed += len(dm.tools())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the server's tools (-) and those of docs/tools.md (+) differ:\n%s", diff)
	}
	all, _ := listers(t, "--toolsets", strings.Join(slices.Collect(maps.Keys(toolsets)), ","))
	if n := len(all.tools()); n != listed {
		t.Errorf("a DM has %d tools in all toolsets, the table %d", n, listed)
	}
	named := map[row]bool{}
	for _, cells := range openDocument(t, "README.md").table("Toolset") {
		for name := range strings.SplitSeq(cells[1], ", ") {
			named[row{name, cells[0]}] = true
		}
	}
	for tool := range want {
		if want[tool] != "group" && !named[tool] {
			t.Errorf("README does not have %s in the toolset %s", tool.Tool, tool.Toolset)
		}
		delete(named, tool)
	}
	for tool := range named {
		t.Errorf("README has %s in the toolset %s", tool.Tool, tool.Toolset)
	}
}

func TestPromptTable(t *testing.T) {
	t.Parallel()
	dm, group := listers(t)
	want := map[string]string{}
	note(want, "DM", dm.prompts())
	note(want, "group", group.prompts())
	if diff := cmp.Diff(want, namesByAudience(openDocument(t, "docs/resources.md").table("Prompt"))); diff != "" {
		t.Errorf("the server's prompts (-) and those of docs/resources.md (+) differ:\n%s", diff)
	}
}

// Each row of the table of resources is a file that exactly the named audiences are listed, in a
// workspace that has everything; and nothing else is listed.
func TestResourceTable(t *testing.T) {
	t.Parallel()
	dm, group := listers(t)
	rows := namesByAudience(openDocument(t, "docs/resources.md").table("Resource"))
	got := map[string]string{}
	for _, listed := range []struct {
		who  string
		uris []string
	}{{"DM", dm.resources()}, {"group", group.resources()}} {
		var patterns []string
		for _, uri := range listed.uris {
			if pattern := matching(rows, uri); pattern == "" {
				t.Errorf("%s is listed for a %s, and in no row", uri, listed.who)
			} else if !slices.Contains(patterns, pattern) {
				patterns = append(patterns, pattern)
			}
		}
		note(got, listed.who, patterns)
	}
	if diff := cmp.Diff(got, rows); diff != "" {
		t.Errorf("the server's resources (-) and those of docs/resources.md (+) differ:\n%s", diff)
	}
}

// matching is the row whose pattern uri matches, "" for none.
func matching(rows map[string]string, uri string) string {
	for pattern := range rows {
		expression := regexp.QuoteMeta(pattern)
		expression = strings.ReplaceAll(expression, "YYYY-MM-DD", `\d{4}-\d{2}-\d{2}`)
		expression = strings.ReplaceAll(expression, "NAME", `[a-z0-9_-]+`)
		expression = strings.ReplaceAll(expression, `\*`, `.+`)
		if regexp.MustCompile("^" + expression + "$").MatchString(uri) {
			return pattern
		}
	}
	return ""
}

// note adds who to the audiences of each name.
func note(audiences map[string]string, who string, names []string) {
	for _, name := range names {
		if audiences[name] != "" {
			audiences[name] += " and "
		}
		audiences[name] += who
	}
}

// namesByAudience is the first two columns of a table.
func namesByAudience(rows [][]string) map[string]string {
	names := map[string]string{}
	for _, row := range rows {
		names[row[0]] = row[1]
	}
	return names
}

// setting is a row of the tables of settings, and what `yamo-mcp serve --help` shows.
type setting struct{ Env, Key, Default string }

func TestSettingsTable(t *testing.T) {
	t.Parallel()
	help := output(t, "serve", "--help")
	text, usage, ok := strings.Cut(help, "\nFlags:\n")
	if !ok {
		t.Fatalf("no flags in:\n%s", help)
	}
	want := map[string]setting{}
	for _, line := range regexp.MustCompile(`(?m)^ +(?:-\w, )?(--[a-z-]+)(.*)$`).FindAllStringSubmatch(usage, -1) {
		if line[1] == "--help" {
			continue
		}
		s := setting{}
		if value := regexp.MustCompile(`\(default "?([^")]+)"?\)`).FindStringSubmatch(line[2]); value != nil {
			s.Default = value[1]
		}
		if names := regexp.MustCompile(`(?m)^ +` + line[1] + ` +(YAMO_[A-Z_]+)(?: +([a-z_]+))?`).FindStringSubmatch(
			text,
		); names != nil {
			s.Env, s.Key = names[1], names[2]
		}
		want[line[1]] = s
	}
	got := map[string]setting{}
	for _, row := range openDocument(t, "docs/settings.md").table("Flag") {
		// The mark is on keys that a workspace's own file may have.
		got[row[0]] = setting{row[1], strings.TrimSuffix(row[2], " †"), row[3]}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the settings of serve (-) and docs/settings.md (+) differ:\n%s", diff)
	}
}

func TestCommandTable(t *testing.T) {
	t.Parallel()
	want := commandsOf(t)
	var got []string
	for _, row := range openDocument(t, "docs/commands.md").table("Command") {
		got = append(got, row[0])
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the program's commands (-) and docs/commands.md (+) differ:\n%s", diff)
	}
}

// commandsOf lists what the program's help offers: "yamo-mcp serve", "yamo-mcp index rebuild", …
func commandsOf(t *testing.T, below ...string) (list []string) {
	t.Helper()
	help := output(t, append(below, "--help")...)
	_, commands, ok := strings.Cut(help, "  yamo-mcp "+strings.Join(append(slices.Clone(below), "[command]"), " ")+"\n")
	if !ok {
		return []string{strings.Join(append([]string{"yamo-mcp"}, below...), " ")}
	}
	commands, _, _ = strings.Cut(commands, "\nFlags:\n") // after the examples; before it only commands are indented so
	_, commands, _ = strings.Cut(commands, ":\n")
	for _, line := range regexp.MustCompile(`(?m)^  ([a-z-]+) `).FindAllStringSubmatch(commands, -1) {
		if line[1] != "help" {
			list = append(list, commandsOf(t, append(slices.Clone(below), line[1])...)...)
		}
	}
	return list
}

// lister is mcp-go's client of a server it has started.
type lister struct {
	t *testing.T
	*client.Client
}

// listers starts the server over a workspace that has every kind of file, for a DM and for a group.
func listers(t *testing.T, more ...string) (dm, group lister) {
	t.Helper()
	workspace := sample(t)
	for name, text := range map[string]string{"DREAMS.md": "# Dreams\n", "BOOTSTRAP.md": "# First boot\n"} {
		write(t, filepath.Join(workspace, name), text)
	}
	for _, day := range []int{-1, 0, 1} { // the server's today, in whatever time zone
		date := time.Now().UTC().AddDate(0, 0, day).Format(time.DateOnly)
		write(t, filepath.Join(workspace, "memory", date+".md"), "# Today\n")
		write(t, filepath.Join(workspace, "memory", date+"-group-hiking.md"), "# Today\n")
	}
	logs, err := filepath.Abs(filepath.Join(root, "testdata", "workspaces", "kate-transcripts"))
	if err != nil {
		t.Fatal(err)
	}
	serve := append([]string{"serve", "--workspace", workspace, "--transcripts", logs}, more...)
	dm = startListed(t, serverBinary(t), nil, append(slices.Clip(serve), "--connection", "dm")...)
	group = startListed(
		t,
		serverBinary(t),
		nil,
		append(slices.Clip(serve), "--connection", "group", "--group", "hiking")...)
	return dm, group
}

// startListed starts the server in an environment without a model and connects to it.
func startListed(t *testing.T, command string, env []string, args ...string) lister {
	t.Helper()
	var stderr bytes.Buffer // read after the process has ended
	home := t.TempDir()
	c, err := client.NewStdioMCPClientWithOptions(command, env, args, transport.WithCommandFunc(
		func(ctx context.Context, command string, env, args []string) (*exec.Cmd, error) {
			cmd := exec.CommandContext(ctx, command, args...)
			cmd.Env = append([]string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}, env...)
			cmd.Stderr = &stderr
			return cmd, nil
		}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("%s %q: %v\n%s", filepath.Base(command), args, err, &stderr)
		}
	})
	var hello mcp.InitializeRequest
	hello.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	hello.Params.ClientInfo = mcp.Implementation{Name: "documents", Version: "1"}
	if _, err := c.Initialize(t.Context(), hello); err != nil {
		t.Fatal(err)
	}
	return lister{t, c}
}

func (l lister) tools() (names []string) {
	l.t.Helper()
	result, err := l.ListTools(l.t.Context(), mcp.ListToolsRequest{})
	if err != nil {
		l.t.Fatal(err)
	}
	for _, tool := range result.Tools {
		names = append(names, tool.Name)
	}
	return names
}

func (l lister) prompts() (names []string) {
	l.t.Helper()
	result, err := l.ListPrompts(l.t.Context(), mcp.ListPromptsRequest{})
	if err != nil {
		l.t.Fatal(err)
	}
	for _, prompt := range result.Prompts {
		names = append(names, prompt.Name)
	}
	return names
}

func (l lister) resources() (uris []string) {
	l.t.Helper()
	result, err := l.ListResources(l.t.Context(), mcp.ListResourcesRequest{})
	if err != nil {
		l.t.Fatal(err)
	}
	for _, resource := range result.Resources {
		uris = append(uris, resource.URI)
	}
	return uris
}

// connection is what who_am_i reports about the audience.
func (l lister) connection() string {
	l.t.Helper()
	var call mcp.CallToolRequest
	call.Params.Name = "who_am_i"
	result, err := l.CallTool(l.t.Context(), call)
	if err != nil {
		l.t.Fatal(err)
	}
	self, _ := result.StructuredContent.(map[string]any)
	connection, _ := self["connection"].(string)
	return connection
}

// output is what the program prints.
func output(t *testing.T, args ...string) string {
	t.Helper()
	text, err := exec.Command(serverBinary(t), args...).Output()
	if err != nil {
		t.Fatalf("yamo-mcp %q: %v", args, err)
	}
	return string(text)
}
