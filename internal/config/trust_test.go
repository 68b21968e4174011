package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// home returns the environment of an operator with an empty home.
func home(t *testing.T) func(string) string {
	t.Helper()
	dir := t.TempDir()
	return func(name string) string {
		if name == "HOME" {
			return dir
		}
		return ""
	}
}

// writeOperatorFile writes the operator's config file.
func writeOperatorFile(t *testing.T, getenv func(string) string, content string) string {
	t.Helper()
	path, err := OperatorFile(getenv)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// approve approves the config file of a workspace.
func approve(t *testing.T, workspace string, getenv func(string) string) Approval {
	t.Helper()
	a, err := Inspect(workspace, getenv)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Approve(); err != nil {
		t.Fatal(err)
	}
	return a
}

// toolsets returns the tool sets that the settings of a workspace have, and the notice about its config file.
func toolsets(t *testing.T, workspace string, getenv func(string) string) (string, string) {
	t.Helper()
	c, err := Read(workspace, getenv, All()...)
	if err != nil {
		t.Fatal(err)
	}
	return c.Session.Toolsets, c.Ignored
}

// The config file of a workspace applies while the operator trusts exactly this file at this place.
func TestTrust(t *testing.T) {
	t.Parallel()
	workspace, getenv := t.TempDir(), home(t)
	usual := Default().Session.Toolsets
	ignored := func(when string) {
		t.Helper()
		got, notice := toolsets(t, workspace, getenv)
		if got != usual {
			t.Errorf("%s: toolsets %q, want the default", when, got)
		}
		if !strings.Contains(notice, "toolsets") || !strings.Contains(notice, "yamo-mcp trust --workspace") {
			t.Errorf("%s: the notice is %q", when, notice)
		}
	}
	writeFile(t, workspace, "toolsets = 'memory'\n")
	ignored("before the approval")
	a := approve(t, workspace, getenv)
	if diff := cmp.Diff([]string{`toolsets = "memory"`}, a.Settings); diff != "" {
		t.Error(diff)
	}
	if got, notice := toolsets(t, workspace, getenv); got != "memory" || notice != "" {
		t.Errorf("approved: toolsets %q, notice %q", got, notice)
	}
	writeFile(t, workspace, "toolsets = 'memory'\n\n")
	ignored("after a change")
	writeFile(t, workspace, "toolsets = 'memory'\n")
	if got, _ := toolsets(t, workspace, getenv); got != "memory" {
		t.Errorf("changed back: toolsets %q", got)
	}
	if err := a.Revoke(); err != nil {
		t.Fatal(err)
	}
	ignored("revoked")
	if err := a.Revoke(); err != nil {
		t.Errorf("revoked twice: %v", err)
	}

	approve(t, workspace, getenv)
	elsewhere := t.TempDir()
	writeFile(t, elsewhere, "toolsets = 'memory'\n")
	if got, notice := toolsets(t, elsewhere, getenv); got != usual || notice == "" {
		t.Errorf("the same file elsewhere: toolsets %q, notice %q", got, notice)
	}
	getenv = func(string) string { return "" }
	ignored("without a home")
}

// An approval that another account could have made is none.
func TestApprovalOfAnotherAccount(t *testing.T) {
	t.Parallel()
	workspace, getenv := t.TempDir(), home(t)
	writeFile(t, workspace, "toolsets = 'memory'\n")
	approve(t, workspace, getenv)
	dir, err := userFolder(getenv)
	if err != nil {
		t.Fatal(err)
	}
	chmod(t, filepath.Join(dir, "trusted"), 0o707)
	if _, err := Read(workspace, getenv, All()...); err == nil || !strings.Contains(err.Error(), "other users can write") {
		t.Errorf("%v", err)
	}
}

// A workspace cannot set what reaches the network, which key is read, how the server is reached, and whose session it
// is, whether its file is approved or not.
func TestWorkspaceCannotSet(t *testing.T) {
	t.Parallel()
	examples := map[string]string{"string": "'x'", "int": "5", "float64": "0.5", "bool": "true"}
	allowed := map[string]bool{
		"agent_id": true, "model": true, "transcripts": true, "toolsets": true, "log_level": true, "git": true,
		"git_private": true, "ranking": true, "lesson_min_confidence": true, "lesson_retention_days": true,
		"heritage_depth": true, "dream_min_score": true, "dream_min_hits": true, "dream_min_days": true,
	}
	for _, s := range All() {
		if s.inFolder() != allowed[s.Key()] {
			t.Errorf("%s: in a workspace's file %t; a setting that reaches the network, a key, the transport or the "+
				"audience must not be", s.Key(), s.inFolder())
		}
		if s.inFolder() {
			continue
		}
		workspace := t.TempDir()
		writeFile(t, workspace, s.Key()+" = "+examples[s.fileType().String()]+"\n")
		_, err := Read(workspace, home(t), All()...)
		if err == nil {
			t.Errorf("%s: set by a workspace", s.Key())
			continue
		}
		for _, want := range []string{s.Key() + " cannot be set in a workspace", "--" + s.Flag()} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %v, want %q in it", s.Key(), err, want)
			}
		}
	}
}

// The section for a workspace wins over its own file, which wins over the rest of the operator's file.
func TestOperatorFile(t *testing.T) {
	t.Parallel()
	workspace, getenv := t.TempDir(), home(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(workspace, link); err != nil {
		t.Fatal(err)
	}
	writeFile(t, workspace, "model = 'own'\nagent_id = 'own'\n")
	approve(t, workspace, getenv)
	path := writeOperatorFile(t, getenv, "model = 'general'\nlog_level = 'debug'\nconnection = 'dm'\n"+
		"[workspace.'"+link+"/']\nagent_id = 'section'\n[workspace.'/elsewhere']\nagent_id = 'wrong'\n")
	for _, dir := range []string{workspace, link} {
		c, err := Read(dir, getenv, All()...)
		if err != nil {
			t.Fatal(err)
		}
		got := []string{c.Session.Model, c.Session.AgentID, c.Session.LogLevel, c.Session.Connection}
		if diff := cmp.Diff([]string{"own", "section", "debug", "dm"}, got); diff != "" {
			t.Errorf("%s: model, agent, log level, connection (-want +got):\n%s", dir, diff)
		}
	}
	for content, want := range map[string]string{
		"conection = 'dm'\n":                       `:1: unknown key "conection" (valid keys: agent_id, `,
		"\n[workspace.'/a']\ngit = 'yes'\n":        ":3: workspace./a.git must be true or false",
		"dream_min_hits = 0\n":                     "dream min hits: must be between 1 and 1000",
		"lesson_min_confidence = 0.0\n":            "lesson min confidence: must be above 0 and at most 1",
		"heritage_depth = 0\n":                     "heritage depth: must be between 1 and 50",
		"[workspace.'" + link + "']\nlisten = 7\n": ":2: workspace." + link + ".listen must be a string in quotes",
	} {
		writeOperatorFile(t, getenv, content)
		if _, err := Read(workspace, getenv, All()...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", content, err, want)
		}
	}
	writeOperatorFile(t, getenv, "")
	if err := os.Chmod(path, 0o622); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(workspace, getenv, All()...); err == nil || !strings.Contains(err.Error(), "other users can write") {
		t.Errorf("an operator's file that others can write: %v", err)
	}
}

// Every folder above a config file is checked, and links are refused in the workspace.
func TestSoleWriter(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(t *testing.T, workspace string){
		"the file": func(t *testing.T, workspace string) {
			chmod(t, filepath.Join(workspace, FileName), 0o602)
		},
		".yamo":         func(t *testing.T, workspace string) { chmod(t, filepath.Join(workspace, ".yamo"), 0o777) },
		"the workspace": func(t *testing.T, workspace string) { chmod(t, workspace, 0o777) },
		"its parent":    func(t *testing.T, workspace string) { chmod(t, filepath.Dir(workspace), 0o707) },
	} {
		t.Run(name, func(t *testing.T) {
			workspace := filepath.Join(t.TempDir(), "ws")
			writeFile(t, workspace, "toolsets = 'memory'\n")
			spoil(t, workspace)
			_, err := Read(workspace, home(t), All()...)
			if err == nil || !strings.Contains(err.Error(), "other users can write it (run chmod go-w on it)") {
				t.Errorf("%v", err)
			}
		})
	}
	for name, link := range map[string]string{"the file is a link": FileName, ".yamo is a link": ".yamo"} {
		t.Run(name, func(t *testing.T) {
			original, workspace := t.TempDir(), t.TempDir()
			writeFile(t, original, "toolsets = 'memory'\n")
			path := filepath.Join(workspace, link)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(filepath.Join(original, link), path); err != nil {
				t.Fatal(err)
			}
			if _, err := Read(workspace, home(t), All()...); err == nil {
				t.Error("accepted")
			}
		})
	}
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// The section of a workspace is one, and named by its own path: otherwise chance or the current folder would decide
// whose session it is.
func TestSectionsAreUnambiguous(t *testing.T) {
	t.Parallel()
	workspace, getenv := t.TempDir(), home(t)
	twice := "[workspace.'" + workspace + "']\nconnection = 'dm'\n[workspace.'" + workspace + "/../" +
		filepath.Base(workspace) + "']\nconnection = 'group'\n"
	for content, want := range map[string]string{
		twice:                              "are the same folder: make one section of them",
		"[workspace.'']\nmodel = 'x'\n":    `workspace."": a section is named by the absolute path`,
		"[workspace.'ws']\nmodel = 'x'\n":  `workspace."ws": a section is named by the absolute path`,
		"[workspace.'./a']\nmodel = 'x'\n": `workspace."./a": a section is named by the absolute path`,
	} {
		writeOperatorFile(t, getenv, content)
		if _, err := Read(workspace, getenv, All()...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", content, err, want)
		}
	}
}

func TestDestinations(t *testing.T) {
	t.Parallel()
	environment := map[string]string{}
	getenv := func(name string) string { return environment[name] }
	c := Default()
	if got := c.Destinations(getenv); got != nil {
		t.Errorf("with the defaults: %q", got)
	}
	c.Embedder.Provider, c.Embedder.Addresses = "openai", "https://a.example, https://ana:secret@b.example/v1?key=secret#s"
	c.LLM.Provider, c.HTTP.OAuthIssuer = "cohere", "https://issuer.example"
	want := []string{
		"embedder openai: https://a.example (memories, passages of files and queries)",
		"embedder openai: https://b.example/v1 (memories, passages of files and queries)",
		"language model cohere: https://api.cohere.com (memories to reflect on)",
	}
	if diff := cmp.Diff(want, c.Destinations(getenv)); diff != "" {
		t.Error(diff)
	}
	c.Session.Transport, c.HTTP.OAuthJWKS = OverHTTP, "https://keys.example/jwks"
	want = append(want, "OAuth issuer: https://issuer.example (requests for its keys)",
		"keys of the OAuth issuer: https://keys.example/jwks (requests for them)")
	if diff := cmp.Diff(want, c.Destinations(getenv)); diff != "" {
		t.Error(diff)
	}
	c = Default()
	c.Embedder.Provider = "openai"
	environment["https_proxy"] = "http://ana:secret@proxy.example:3128"
	want = []string{
		"embedder openai: https://api.openai.com/v1 by the proxy proxy.example:3128 " +
			"(memories, passages of files and queries)",
	}
	if diff := cmp.Diff(want, c.Destinations(getenv)); diff != "" {
		t.Error(diff)
	}
}
