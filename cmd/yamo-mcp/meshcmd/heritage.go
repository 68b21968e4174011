package meshcmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// inherited is the answer of heritage.
type inherited struct {
	ID       string          `json:"id"`
	Heritage record.Heritage `json:"heritage"`
}

// newHeritageCommand is RFC-0011 §4.1's insertHeritage.
func (m *command) newHeritage() *cobra.Command {
	var id string
	var h record.Heritage
	cmd := m.command(&cobra.Command{
		Use:   "heritage --id <id>",
		Short: "Say what a memory descends from",
		Long: fmt.Sprintf(`Say what a memory descends from, in place of what was said before: the intents that led to it, the hypotheses that held
and the reasons for the decisions, each given once a level, the oldest first. The last %d of each are kept, unless
--heritage-depth says otherwise.`, mesh.MaxHeritageDepth),
	}, func(ctx context.Context, memory *mesh.View, _ []string) error {
		if len(h.IntentChain)+len(h.Hypotheses)+len(h.Rationales) == 0 {
			return errors.New("give --intent, --hypothesis or --rationale; `yamo-mcp mesh get` shows the heritage that a memory has")
		}
		kept, err := memory.InsertHeritage(ctx, id, h)
		if err != nil {
			return err
		}
		return m.Answer(inherited{id, kept}, fmt.Sprintf("[MemoryMesh] Heritage of record %s\n%s", id, formatHeritage(&kept)))
	})
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&id, "id", "", "the memory's id (required)")
	flags.StringArrayVar(&h.IntentChain, "intent", nil, "an intent of the chain that led to it (may be repeated)")
	flags.StringArrayVar(&h.Hypotheses, "hypothesis", nil, "a hypothesis that held (may be repeated)")
	flags.StringArrayVar(&h.Rationales, "rationale", nil, "a reason for a decision (may be repeated)")
	return cli.Require(cmd, "id")
}

// formatHeritage is a heritage for people, "" for none.
func formatHeritage(h *record.Heritage) string {
	if h == nil {
		return ""
	}
	var b strings.Builder
	for _, list := range []struct {
		name   string
		levels []string
	}{{"Intents", h.IntentChain}, {"Hypotheses", h.Hypotheses}, {"Rationales", h.Rationales}} {
		if len(list.levels) > 0 {
			fmt.Fprintf(&b, "%s: %s\n", list.name, strings.Join(list.levels, " > "))
		}
	}
	return b.String()
}
