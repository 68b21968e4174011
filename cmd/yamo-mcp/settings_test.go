package main

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
)

func TestApplyPrecedence(t *testing.T) {
	settings := []setting{"group"}
	tests := []struct {
		name  string
		args  []string
		env   map[string]string
		file  map[string]string
		group string
		place string
	}{
		{"default", nil, nil, nil, "none", "here"},
		{"file", nil, nil, map[string]string{"group": "f"}, "f", "here"},
		{"environment over file", nil, map[string]string{"YAMO_GROUP": "e"}, map[string]string{"group": "f"}, "e", "here"},
		{"flag over both", []string{"--group", "x"}, map[string]string{"YAMO_GROUP": "e"}, map[string]string{"group": "f"}, "x", "here"},
		{"an empty flag is a value", []string{"--group", ""}, map[string]string{"YAMO_GROUP": "e"}, nil, "", "here"},
		{"an empty variable is unset", nil, map[string]string{"YAMO_GROUP": ""}, map[string]string{"group": "f"}, "f", "here"},
		{"an empty string in the file is unset", nil, nil, map[string]string{"group": ""}, "none", "here"},
		{"a flag that is no setting is neither", nil, map[string]string{"YAMO_PLACE": "e"}, map[string]string{"": "f", "place": "f"}, "none", "here"},
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
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	flags.Int("n", 1, "")
	settings := []setting{"n"}
	noEnv := func(string) string { return "" }
	if err := apply(flags, settings, noEnv, map[string]string{"n": "many"}); err == nil || !strings.HasPrefix(err.Error(), ".yamo/config.toml: n: ") {
		t.Errorf("got %v", err)
	}
	if err := apply(flags, settings, func(string) string { return "many" }, nil); err == nil || !strings.HasPrefix(err.Error(), "YAMO_N: ") {
		t.Errorf("got %v", err)
	}
}

// Every setting of serve that may stand in the file has a key there, and every key has a setting.
func TestConfigKeysMatchSettings(t *testing.T) {
	fromSettings, fromConfig := map[string]bool{}, map[string]bool{}
	for _, s := range serveSettings {
		fromSettings[s.key()] = true
	}
	for key := range (config{}).values() {
		fromConfig[key] = true
	}
	if diff := cmp.Diff(fromSettings, fromConfig); diff != "" {
		t.Errorf("keys of settings and of config differ:\n%s", diff)
	}
}

func TestConfigValues(t *testing.T) {
	dir := t.TempDir()
	got, err := readConfig(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(config{}.values(), got); diff != "" {
		t.Errorf("without a file:\n%s", diff)
	}
	if err := os.Mkdir(filepath.Join(dir, ".yamo"), 0o700); err != nil {
		t.Fatal(err)
	}
	data := "connection = 'a'\ntranscripts = 'logs/d'\nallow_host = 'h,i'\nembedding_dimensions = 12\nlesson_min_confidence = 0.8\nbehind_proxy = true\n"
	if err := os.WriteFile(filepath.Join(dir, configName), []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err = readConfig(dir); err != nil {
		t.Fatal(err)
	}
	want := config{}.values()
	maps.Copy(want, map[string]string{
		"connection": "a", "transcripts": filepath.Join(dir, "logs", "d"), "allow_host": "h,i",
		"embedding_dimensions": "12", "lesson_min_confidence": "0.8", "behind_proxy": "true",
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}

func TestSuggestion(t *testing.T) {
	names := []string{"serve", "setup", "version"}
	tests := []struct{ typed, want string }{
		{"srve", ": did you mean serve?"},
		{"versoin", ": did you mean version?"},
		{"vers", ": did you mean version?"},
		{"setpu", ": did you mean setup?"},
		{"quit", " (there are serve, setup, version)"},
	}
	for _, test := range tests {
		if got := suggestion(test.typed, names); got != test.want {
			t.Errorf("%s: got %q, want %q", test.typed, got, test.want)
		}
	}
}

// The config file that the documents show is one.
func TestDocumentedConfig(t *testing.T) {
	document, err := os.ReadFile(filepath.Join("..", "..", "docs", "settings.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(document), "\n```toml\n")
	example, _, ok := strings.Cut(rest, "\n```\n")
	if !ok {
		t.Fatal("docs/settings.md shows no config file")
	}
	workspace := t.TempDir()
	if err := os.Mkdir(filepath.Join(workspace, ".yamo"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(workspace, configName), []byte(example), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := readConfig(workspace)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parseToolsets(file["toolsets"]); err != nil || file["connection"] != "dm" {
		t.Errorf("connection %q, toolsets: %v", file["connection"], err)
	}
}
