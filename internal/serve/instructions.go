package serve

import (
	_ "embed"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
)

// Instructions returns the text that hosts show their model: who it is, what to call first, and when to use which tool.
// agent and user are names, "" if they are not known; in a group the user's is ignored. The text holds for as long as
// the names do. It contains no security rules, because a model cannot enforce them.
func Instructions(a audience.Audience, agent, user string) string {
	who, text := "", groupInstructions
	if agent != "" {
		who = "You are " + agent + ". "
	}
	// SECURITY: a group does not learn whom the agent serves.
	if a.IsDM() {
		text = dmInstructions
		if user != "" {
			who += "You serve " + user + ", who is talking with you. "
		}
	}
	return strings.TrimSuffix(strings.NewReplacer("{{who}}", who, "{{group}}", a.Group()).Replace(text), "\n")
}

var (
	//go:embed instructions/dm.md
	dmInstructions string
	//go:embed instructions/group.md
	groupInstructions string
)
