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
	ID       string          `json:"id"` // of the memory
	Heritage record.Heritage `json:"heritage"`
}

// newHeritage returns `yamo-mcp mesh heritage` (RFC-0011 §4.1 insertHeritage). It replaces the whole heritage, so that
// without any level it is refused: nothing would be left.
func (m *command) newHeritage() *cobra.Command {
	var id string
	var h record.Heritage
	cmd := m.command(&cobra.Command{
		Use:   "heritage --id <id>",
		Short: "Set the heritage of a memory",
		Long: fmt.Sprintf(`Set the heritage of a memory, which replaces an earlier one: the intents that led to the memory,
the hypotheses that held and the reasons for decisions. Give each flag once per level, oldest first.
The last %d levels are kept, unless --heritage-depth sets another number.`, mesh.MaxHeritageDepth),
	}, func(ctx context.Context, memory *mesh.View, _ []string) error {
		if len(h.IntentChain)+len(h.Hypotheses)+len(h.Rationales) == 0 {
			return errors.New("give --intent, --hypothesis or --rationale; " +
				"`yamo-mcp mesh get` shows the present heritage of a memory")
		}
		// The answer shows what is kept, because levels beyond the depth were dropped.
		kept, err := memory.InsertHeritage(ctx, id, h)
		if err != nil {
			return err
		}
		return m.Answer(inherited{id, kept}, fmt.Sprintf("[MemoryMesh] Heritage of record %s\n%s", id, formatHeritage(&kept)))
	})
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&id, "id", "", "ID of the memory (required)")
	flags.StringArrayVar(&h.IntentChain, "intent", nil, "intent that led to the memory (may be repeated)")
	flags.StringArrayVar(&h.Hypotheses, "hypothesis", nil, "hypothesis that held (may be repeated)")
	flags.StringArrayVar(&h.Rationales, "rationale", nil, "reason for a decision (may be repeated)")
	return cli.Require(cmd, "id")
}

// formatHeritage formats a heritage, "" for none.
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
