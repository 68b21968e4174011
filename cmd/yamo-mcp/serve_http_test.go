package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/token"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// A token that somebody pastes into a conversation is not remembered.
func TestTokensAreRedacted(t *testing.T) {
	for range 50 {
		text, _, err := token.Open(filepath.Join(t.TempDir(), "tokens.json")).Create(t.Context(), token.Record{Name: "t", Connection: "dm"})
		if err != nil {
			t.Fatal(err)
		}
		if clean, n := credentialScrubber()("The gateway uses " + text + ", I think."); n != 1 || strings.Contains(clean, text[len(token.Prefix)+13:]) {
			t.Errorf("%d redactions: %s", n, clean)
		}
	}
}

// A token's own workspace is served as its own config file says, and sees nothing of the first one's session logs.
func TestMoveToAnotherWorkspace(t *testing.T) {
	plain, own := t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(own, ".yamo"), 0o700); err != nil {
		t.Fatal(err)
	}
	config := "connection = 'dm'\nagent_id = 'x'\ntranscripts = 'logs'\ntoolsets = 'memory'\nranking = 'rfc0011'\nlisten = '0.0.0.0:1'\n"
	if err := os.WriteFile(filepath.Join(own, configName), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	usual := learningOptions{record.DefaultConfidence, record.DefaultRetentionDays, mesh.MaxHeritageDepth}
	type options struct {
		Workspace, Transcripts, AgentID, Ranking, Toolsets, Listen string
	}
	for _, test := range []struct {
		to   string
		want options
	}{
		{plain, options{plain, "", "kate", "context", "memory,workspace", "127.0.0.1:1"}},
		{own, options{own, filepath.Join(own, "logs"), "kate", "rfc0011", "memory", "127.0.0.1:1"}},
	} {
		o := serveOptions{
			workspace: "/first", transcripts: "/first/logs", agentID: "kate", ranking: "context", toolsets: defaultToolsets, learning: usual, http: httpOptions{listen: "127.0.0.1:1"},
		}
		if err := o.moveTo(test.to, func(string) string { return "" }); err != nil {
			t.Fatal(err)
		}
		got := options{o.workspace, o.transcripts, o.agentID, o.ranking, strings.Join(o.toolsets, ","), o.http.listen}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("options (-want +got):\n%s", diff)
		}
	}
	o := serveOptions{workspace: "/first", transcripts: "/first/logs", learning: usual}
	if err := o.moveTo(filepath.Join(plain, "gone"), func(string) string { return "" }); err == nil {
		t.Error("a workspace that is not there is served")
	}
	if err := os.Chmod(filepath.Join(own, configName), 0o622); err != nil {
		t.Fatal(err)
	}
	if err := o.moveTo(own, func(string) string { return "" }); err == nil || !strings.Contains(err.Error(), "others may write it") {
		t.Errorf("a config file that others may write: %v", err)
	}
}
