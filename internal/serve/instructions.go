package serve

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
)

// Instructions returns the text that hosts show their model: when to use which tool. It contains no security rules,
// because a model cannot enforce them.
func Instructions(a audience.Audience) string {
	if a.IsDM() {
		return strings.TrimSuffix(dmInstructions, "\n")
	}
	return fmt.Sprintf(strings.TrimSuffix(groupInstructions, "\n"), a.Group())
}

var (
	//go:embed instructions/dm.md
	dmInstructions string
	//go:embed instructions/group.md
	groupInstructions string // a format with the group's name
)
