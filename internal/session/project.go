package session

import (
	"os"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/config"
	"github.com/yamo-protocol/yamo-mcp/internal/project"
	"github.com/yamo-protocol/yamo-mcp/tools"
)

// ProjectFinder returns what finds the projects of sessions over a workspace.
func ProjectFinder(workspace string) project.Finder {
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	return project.Finder{Home: home, Workspace: workspace}
}

// projects returns what finds the projects of a server's sessions, nil for a group.
//
// SECURITY: a group's client is not asked for its folders, nor is the folder of the process looked at for it.
func projects(o Options, who audience.Audience) *tools.Projects {
	if !who.IsDM() {
		return nil
	}
	finder := ProjectFinder(o.Config.Workspace)
	here := func() string {
		dir, err := os.Getwd()
		if err != nil {
			return ""
		}
		return finder.Identify(dir)
	}
	if o.Config.Session.Transport == config.OverHTTP { // its folder is not the client's
		here = nil
	}
	return tools.NewProjects(finder.Roots, here)
}
