package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/meshcmd"
	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// confirmed asks the operator on the terminal, unless yes is set. Without a terminal it fails and names --yes.
func confirmed(env cli.Env, yes bool, question string) error {
	if yes {
		return nil
	}
	if !cli.IsTerminal(env.Stdin) {
		return cli.Misused("there is no terminal to ask on: --yes confirms")
	}
	if agreed, _ := confirm(env.Stderr, bufio.NewReader(env.Stdin), question); !agreed {
		return errors.New("nothing was changed")
	}
	return nil
}

// newLedgerRekeyCommand returns `yamo-mcp ledger rekey`.
func newLedgerRekeyCommand(env cli.Env) *cobra.Command {
	var yes, salvage bool
	cmd := memoryCommand(env, &cobra.Command{
		Use:   "rekey",
		Short: "Give all ledgers a new key, when the old one is lost",
		Long: `Make a new .yamo/key and authenticate every line of every ledger, and of the record of edits, with
it. Do this only when the key is lost or was replaced and cannot be restored from a backup: it cannot
be checked any more who wrote the lines, and you vouch for them. Their hashes and their order are
checked first; if a ledger is damaged, nothing is changed. If it is interrupted, run it again.

With --salvage the lines of damaged ledgers that do not follow from each other are set aside in a file
next to the ledger, ledger.damaged-TIME, and printed first. A backup is better, if there is one. The
record of edits is not salvaged: restore it.`,
	}, func(ctx context.Context, c *cli.Command, memory *mesh.View) error {
		var damaged []record.Visibility
		if salvage {
			plans, err := memory.Maintenance().RekeyPlan(ctx)
			if err != nil {
				return err
			}
			damaged = slices.Sorted(maps.Keys(plans))
			for _, name := range damaged {
				showUnkeyed(c, name, plans[name])
			}
		}
		if err := confirmed(c.Env, yes, "Authenticate all lines with a new key, no matter who wrote them?"); err != nil {
			return err
		}
		done, err := memory.Maintenance().Rekey(ctx, damaged...)
		if _, corrupt := errors.AsType[*ledger.CorruptError](err); corrupt && !salvage {
			return fmt.Errorf("%w; --salvage sets aside what is damaged of a memory's ledger", err)
		}
		if err != nil {
			return err
		}
		var text strings.Builder
		for _, d := range done {
			fmt.Fprintf(&text, "%s: %d lines", d.Ledger, d.Lines)
			if d.Salvaged != nil {
				fmt.Fprintf(&text, ", set %d aside in %s", len(d.Salvaged.Lost), d.Salvaged.Aside)
			}
			text.WriteByte('\n')
		}
		return c.Answer(done, text.String())
	})
	cmd.Flags().BoolVar(&salvage, "salvage", false, "keep what is intact of damaged ledgers, and set the rest aside")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

// showUnkeyed tells the operator what would be kept of a ledger and what not, before they vouch for it.
func showUnkeyed(c *cli.Command, name record.Visibility, plan ledger.Salvaged) {
	for _, line := range plan.Lost {
		fmt.Fprintf(c.Stderr, "%s: line %d is lost: %s\n", name, line.Line, line.Reason)
	}
	for _, line := range plan.Unlinked {
		fmt.Fprintf(c.Stderr, "%s: line %d is kept with those that follow from it, but what it follows is missing: "+
			"nothing shows that they belong to this ledger\n", name, line)
	}
	fmt.Fprintf(c.Stderr, "%s: %d lines would be kept, whose writer cannot be checked, and %d set aside\n",
		name, plan.Kept, len(plan.Lost))
}

// newLedgerSalvageCommand returns `yamo-mcp ledger salvage`.
func newLedgerSalvageCommand(env cli.Env) *cobra.Command {
	var yes bool
	var group string
	c := cli.New(env)
	cmd := memoryCommandOf(c, &cobra.Command{
		Use:   "salvage",
		Short: "Keep what is intact of damaged ledgers",
		Long: `Make valid ledgers of damaged ones: every line that was written with the workspace's key is kept, and
the others are set aside in a file next to the ledger, ledger.damaged-TIME. Prints the lines that are
lost. A backup is better, if there is one. The record of edits is not salvaged: restore it. What a newer
version of this program has written is left as it is.`,
	}, func(ctx context.Context, c *cli.Command, memory *mesh.View) error {
		reports, err := memory.Maintenance().Verify(ctx)
		if err != nil {
			return err
		}
		// Otherwise everything would be set aside.
		if keyReplaced(reports) {
			return errKeyReplaced
		}
		only := record.Visibility("")
		if group != "" {
			who, err := audience.Group(group)
			if err != nil {
				return cli.Misused("--group: %v", err)
			}
			only = record.OfGroup(who.Group())
		}
		found := map[record.Visibility]any{}
		var text strings.Builder
		for _, r := range reports {
			if r.Bad == nil || only != "" && only != r.Compartment {
				continue
			}
			plan, err := memory.Maintenance().Salvage(ctx, r.Compartment, true)
			if errors.Is(err, ledger.ErrNoKey) {
				return fmt.Errorf("%w; `yamo-mcp ledger rekey --salvage` keeps what is intact of it without the key", err)
			}
			if err != nil {
				return err
			}
			for _, line := range plan.Lost {
				fmt.Fprintf(c.Stderr, "%s: line %d is lost: %s\n", r.Compartment, line.Line, line.Reason)
			}
			question := fmt.Sprintf("%s: keep %d lines and set %d aside?", r.Compartment, plan.Kept, len(plan.Lost))
			if err := confirmed(c.Env, yes, question); err != nil {
				return err
			}
			done, err := memory.Maintenance().Salvage(ctx, r.Compartment, false)
			if err != nil {
				return err
			}
			found[r.Compartment] = done
			fmt.Fprintf(&text, "%s: kept %d lines, set %d aside in %s\n", r.Compartment, done.Kept, len(done.Lost), done.Aside)
		}
		if len(found) == 0 {
			text.WriteString("no ledger is damaged\n")
		}
		return c.Answer(found, text.String())
	})
	cmd.Flags().StringVar(&group, "group", "", "only the ledger of this group")
	meshcmd.CompleteGroupsOf(cmd, c)
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}
