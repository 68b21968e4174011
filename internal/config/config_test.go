package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
)

func TestApplyPrecedence(t *testing.T) {
	t.Parallel()
	settings := []Name{"group"}
	tests := []struct {
		name  string
		args  []string
		env   map[string]string
		file  values
		group string
		place string
	}{
		{"default", nil, nil, nil, "none", "here"},
		{"file", nil, nil, values{"group": {text: "f"}}, "f", "here"},
		{"environment over file", nil, map[string]string{"YAMO_GROUP": "e"}, values{"group": {text: "f"}}, "e", "here"},
		{
			"flag over both",
			[]string{"--group", "x"},
			map[string]string{"YAMO_GROUP": "e"},
			values{"group": {text: "f"}},
			"x", "here",
		},
		{"an empty flag is a value", []string{"--group", ""}, map[string]string{"YAMO_GROUP": "e"}, nil, "", "here"},
		{
			"an empty variable is unset",
			nil,
			map[string]string{"YAMO_GROUP": ""},
			values{"group": {text: "f"}},
			"f", "here",
		},
		{"an empty string in the file is unset", nil, nil, values{"group": {}}, "none", "here"},
		{
			"a flag that is not a setting",
			nil,
			map[string]string{"YAMO_PLACE": "e"},
			values{"": {text: "f"}, "place": {text: "f"}},
			"none", "here",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
			group := flags.String("group", "none", "")
			place := flags.String("place", "here", "")
			if err := flags.Parse(test.args); err != nil {
				t.Fatal(err)
			}
			if err := apply(flags, settings, func(name string) string { return test.env[name] }, test.file); err != nil {
				t.Fatal(err)
			}
			if *group != test.group || *place != test.place {
				t.Errorf("got %q and %q, want %q and %q", *group, *place, test.group, test.place)
			}
		})
	}
}

func TestApplyNamesTheSourceOfABadValue(t *testing.T) {
	t.Parallel()
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	flags.Int("n", 1, "")
	settings := []Name{"n"}
	noEnv := func(string) string { return "" }
	err := apply(flags, settings, noEnv, values{"n": {"many", ".yamo/config.toml: n"}})
	if err == nil || !strings.HasPrefix(err.Error(), ".yamo/config.toml: n: ") {
		t.Errorf("got %v", err)
	}
	err = apply(flags, settings, func(string) string { return "many" }, nil)
	if err == nil || !strings.HasPrefix(err.Error(), "YAMO_N: ") {
		t.Errorf("got %v", err)
	}
}

func TestFileValues(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if own, data, err := readFolderFile(dir); err != nil || len(own) != 0 || data != nil {
		t.Fatalf("without a file: %v, %q, %v", own, data, err)
	}
	const text = "agent_id = 'a'\ntranscripts = 'logs/d'\nmodel = ''\nlesson_min_confidence = 0.8\ngit = false\n" +
		"dream_min_hits = 0\n"
	writeFile(t, dir, text)
	own, data, err := readFolderFile(dir)
	if err != nil {
		t.Fatal(err)
	}
	if string(data) != text {
		t.Errorf("read %q", data)
	}
	want := values{}
	for key, text := range map[string]string{
		"agent_id": "a", "transcripts": filepath.Join(dir, "logs", "d"), "lesson_min_confidence": "0.8",
		"git": "false", "dream_min_hits": "0",
	} {
		want[key] = value{text, FileName + ": " + key}
	}
	if diff := cmp.Diff(want, own, cmp.AllowUnexported(value{})); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}

// writeFile writes the config file of a workspace.
func writeFile(t *testing.T, workspace, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(workspace, ".yamo"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(workspace, FileName), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// The flags, environment variables and keys of any two settings differ.
func TestNamesDiffer(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, s := range All() {
		for _, name := range []string{s.Flag(), s.Env(), "key " + s.Key()} {
			if seen[name] {
				t.Errorf("two settings have the name %s", name)
			}
			seen[name] = true
		}
	}
}

// A default passes its own validation.
func TestDefaultsAreValid(t *testing.T) {
	t.Parallel()
	c := Default()
	c.Session.Transport = OverHTTP // to check the settings of HTTP too
	if err := check(&c, All()); err != nil {
		t.Error(err)
	}
}

func TestValidation(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ flag, value, want string }{
		{"agent-id", "a; b", "agent id: must be 1 to 64 letters"},
		{"ranking", "best", `ranking: "best" is not one of context, rfc0011`},
		{"embedder", "openia", `embedder: "openia" is not one of local, openai`},
		{"llm-max-tokens", "-1", "llm max tokens: must be 1 or more"},
		{"lesson-min-confidence", "0", "lesson min confidence: must be above 0"},
		{"lesson-min-confidence", "NaN", "lesson min confidence: must be above 0"},
		{"lesson-retention-days", "36501", "lesson retention days: must be between 1 and 36500"},
		{"heritage-depth", "51", "heritage depth: must be between 1 and 50"},
		{"dream-min-score", "1.1", "dream min score: must be between 0 and 1"},
		{"dream-min-score", "NaN", "dream min score: must be between 0 and 1"},
		{"dream-min-hits", "0", "dream min hits: must be between 1 and 1000"},
		{"dream-min-days", "31", "dream min days: must be between 1 and 30"},
		{"transport", "sse", `transport: "sse" is not one of stdio, http`},
		{"log-level", "error", `log level: "error" is not one of debug, info, warn`},
		{"listen", "localhost", `listen: "localhost" is not an address and a port`},
		{"public-url", "ftp://a", `public url: "ftp://a" is not a URL`},
		{"allow-host", "a,b/c", `allow host: "b/c" is not a host name`},
		{"allow-origin", "https://a/b", `allow origin: "https://a/b" is not an origin`},
	} {
		file := values{"transport": {text: OverHTTP}}
		file[Name(test.flag).Key()] = value{text: test.value}
		settings := All()
		if test.flag == "transport" {
			settings = SessionSettings
		}
		_, err := from("", func(string) string { return "" }, file, settings)
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("--%s %s: %v, want %s", test.flag, test.value, err, test.want)
		}
		if err != nil && !strings.HasSuffix(err.Error(), "in config.toml)") {
			t.Errorf("--%s %s: %v does not name the places of the setting", test.flag, test.value, err)
		}
	}
}

// Servers over stdio and over HTTP share the environment and the config file.
func TestHTTPIsNotCheckedForStdio(t *testing.T) {
	t.Parallel()
	file := values{"listen": {text: "nowhere"}}
	if _, err := from("", func(string) string { return "" }, file, All()); err != nil {
		t.Error(err)
	}
}

// The workspace of a token is served by its own config file, without the session logs of the server's own workspace.
func TestForAnotherWorkspace(t *testing.T) {
	t.Parallel()
	plain, configured := t.TempDir(), t.TempDir()
	operator := home(t)
	getenv := func(name string) string { // as it was set for the first workspace
		if value := map[string]string{"YAMO_TRANSCRIPTS": "/first/logs", "YAMO_GIT": "true"}[name]; value != "" {
			return value
		}
		return operator(name)
	}
	writeFile(t, configured, "agent_id = 'x'\ntranscripts = 'logs'\ntoolsets = 'memory'\nranking = 'rfc0011'\n"+
		"git_private = true\n")
	approve(t, configured, getenv)
	first := Default()
	first.Workspace, first.Session.Transcripts, first.Session.AgentID = "/first", "/first/logs", "kate"
	first.HTTP.Listen, first.Git.On = "127.0.0.1:1", true

	want := first
	want.Workspace, want.Session.Transcripts, want.Git = plain, "", Git{}
	got, err := first.For(plain, getenv)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("without a config file (-want +got):\n%s", diff)
	}

	want.Workspace, want.Session.Transcripts = configured, filepath.Join(configured, "logs")
	want.Session.Toolsets, want.Search.Ranking, want.Git = "memory", "rfc0011", Git{Private: true}
	if got, err = first.For(configured, getenv); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("with a config file (-want +got):\n%s", diff)
	}

	if _, err := first.For(filepath.Join(plain, "gone"), getenv); err == nil {
		t.Error("a workspace that does not exist is served")
	}
	if err := os.Chmod(filepath.Join(configured, FileName), 0o622); err != nil {
		t.Fatal(err)
	}
	if _, err := first.For(configured, getenv); err == nil || !strings.Contains(err.Error(), "other users can write") {
		t.Errorf("a config file that other users can write: %v", err)
	}
}

// The config files that the documents show are valid: the operator's, and a workspace's.
func TestDocumentedConfig(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile(filepath.Join("..", "..", "docs", "settings.md"))
	if err != nil {
		t.Fatal(err)
	}
	var examples []string
	for _, block := range strings.Split(string(document), "\n```toml\n")[1:] {
		example, _, _ := strings.Cut(block, "\n```\n")
		examples = append(examples, example)
	}
	if len(examples) != 2 {
		t.Fatalf("docs/settings.md shows %d config files, want the operator's and a workspace's", len(examples))
	}
	workspace, getenv := t.TempDir(), home(t)
	writeOperatorFile(t, getenv, strings.ReplaceAll(examples[0], "/home/ana/agent", workspace))
	writeFile(t, workspace, examples[1])
	approve(t, workspace, getenv)
	c, err := Read(workspace, getenv, All()...)
	if err != nil {
		t.Fatal(err)
	}
	if c.Session.Connection != "dm" {
		t.Errorf("connection %q", c.Session.Connection)
	}
	if c.Ignored != "" {
		t.Error(c.Ignored)
	}
}
