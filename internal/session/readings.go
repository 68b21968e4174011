package session

import (
	"context"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/resourceuri"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// versionKey is the key in the _meta of a file's contents with its [fileVersion].
const versionKey = "yamo/version"

// fileVersion is what an edit of a file needs to know: the hashes for expected_hash, and what each section takes.
type fileVersion struct {
	Hash     string                  `json:"hash"`
	Sections []sectionVersion        `json:"sections"`
	Takes    map[string][]grammar.Op `json:"takes"` // by the form of a section
}

type sectionVersion struct {
	Heading string `json:"heading"`
	Hash    string `json:"hash"`
	Form    string `json:"form"`
	Cap     string `json:"cap,omitempty"`
}

// shownBy are the tools and prompts that show files of loaded.
var (
	shownBy = []string{"what_do_i_know", "who_am_i", "startup", "curate"}
	loaded  = []string{
		workspace.MemoryFile, workspace.UserFile, workspace.ToolsFile, workspace.AgentsFile, workspace.HeartbeatFile,
	}
)

// noteReadings notes what a session of a DM reads of files otherwise than with memory_file, so that no edit of the
// session replaces what a person changed since: as a resource, whose contents get the version, in the brief and the
// startup sequence, and with what_do_i_know.
func (p *parts) noteReadings(s *server.MCPServer) error {
	hooks := s.GetHooks()
	if hooks == nil {
		return fault.New("note readings: the server has no hooks")
	}
	// Before the files are read: what a person changes meanwhile then counts as unseen, never as seen.
	saw := func(ctx context.Context) {
		for _, name := range loaded {
			if data, err := p.view.Read(name); err == nil {
				p.editor.Read(idOf(ctx), name, data)
			}
		}
	}
	hooks.AddBeforeGetPrompt(func(ctx context.Context, _ any, request *mcp.GetPromptRequest) {
		if slices.Contains(shownBy, request.Params.Name) {
			saw(ctx)
		}
	})
	hooks.AddBeforeCallTool(func(ctx context.Context, _ any, request *mcp.CallToolRequest) {
		if slices.Contains(shownBy, request.Params.Name) {
			saw(ctx)
		}
	})
	hooks.AddBeforeReadResource(func(ctx context.Context, _ any, request *mcp.ReadResourceRequest) {
		if request.Params.URI == resourceuri.Brief || request.Params.URI == resourceuri.Startup {
			saw(ctx)
		}
	})
	hooks.AddAfterReadResource(func(
		ctx context.Context, _ any, _ *mcp.ReadResourceRequest, result *mcp.ReadResourceResult,
	) {
		for i, contents := range result.Contents {
			text, ok := contents.(mcp.TextResourceContents)
			name, isFile := resourceuri.ParseFile(text.URI)
			if !ok || !isFile || !p.view.Editable(name) {
				continue
			}
			text.Meta = map[string]any{versionKey: versionOf(p.editor.Read(idOf(ctx), name, []byte(text.Text)))}
			result.Contents[i] = text
		}
	})
	return nil
}

// idOf returns the ID of the client's session, "" without one.
func idOf(ctx context.Context) string {
	if session := server.ClientSessionFromContext(ctx); session != nil {
		return session.SessionID()
	}
	return ""
}

func versionOf(v edit.Version) fileVersion {
	version := fileVersion{Hash: v.File, Sections: []sectionVersion{}, Takes: map[string][]grammar.Op{}}
	for _, s := range v.Sections {
		version.Sections = append(version.Sections, sectionVersion(s))
		version.Takes[s.Form] = grammar.Operations(s.Form)
	}
	return version
}
