package session

import (
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/workspace"
)

// WithEmbedder returns the options with an embedder that the caller closes, instead of the one of the settings.
func (o Options) WithEmbedder(e embed.Embedder) Options {
	o.shared = e
	return o
}

// OpenMemories opens the memory of one audience without searching the files of the workspace, for a process that lives
// for milliseconds. Such a process ends without closing it: what it has not written, the next session writes.
func OpenMemories(o Options, who audience.Audience) (*mesh.View, error) {
	var zone func() *time.Location
	if folder, err := workspace.Open(o.Config.Workspace, workspace.WithLogger(o.Logger)); err == nil {
		zone = zoneOf(folder.View(who))
	}
	memory, _, err := openMemory(o, who, nil, zone)
	return memory, err
}
