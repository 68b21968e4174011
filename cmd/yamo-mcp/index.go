package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/workspace/audience"
)

// newIndexCommand is `yamo-mcp index`: what is derived from the ledgers.
func newIndexCommand(getenv func(string) string, stdout, stderr io.Writer) *cobra.Command {
	return newGroup("index", "Look after what makes memories findable by meaning", newRebuildCommand(getenv, stdout, stderr))
}

// newLedgerCommand is `yamo-mcp ledger`: the memories' one true record.
func newLedgerCommand(getenv func(string) string, stdout, stderr io.Writer) *cobra.Command {
	return newGroup("ledger", "Look after the ledgers, the one true record of memories", newVerifyCommand(getenv, stdout, stderr))
}

func newRebuildCommand(getenv func(string) string, stdout, stderr io.Writer) *cobra.Command {
	return newMaintenanceCommand(getenv, stderr, &cobra.Command{
		Use:   "rebuild",
		Short: "Delete the index of every compartment and make it again from the ledgers",
		Long: `Delete the vectors and LanceDB tables of every compartment of a workspace and make them again from the
ledgers. No memory is lost: the ledgers are not touched. It is what to do after another embedding model was
configured, or when the index is said to be damaged. Servers may go on meanwhile.`,
	}, func(ctx context.Context, memory *mesh.View) error {
		bars := progress{out: stderr, terminal: isTerminal(stderr)}
		totals := map[string]int{}
		var order []string
		err := memory.Rebuild(ctx, func(compartment string, done, total int) {
			if _, known := totals[compartment]; !known {
				order = append(order, compartment)
			}
			totals[compartment] = total
			bars.show(compartment, done, total)
		})
		bars.end()
		if errors.Is(err, embed.ErrNoAssets) {
			return embed.ErrNoAssets
		}
		if err != nil {
			return err
		}
		for _, compartment := range order {
			fmt.Fprintf(stdout, "%s: %d memories indexed\n", compartment, totals[compartment])
		}
		if len(order) == 0 {
			fmt.Fprintln(stdout, "there are no memories yet")
		}
		return nil
	})
}

// progress draws one bar after the other, on a terminal only.
type progress struct {
	out      io.Writer
	terminal bool
	name     string
	bar      *progressbar.ProgressBar
}

func (p *progress) show(name string, done, total int) {
	if !p.terminal {
		return
	}
	if p.bar == nil || p.name != name {
		p.end()
		p.name = name
		p.bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(p.out), progressbar.OptionSetDescription(name),
			progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionClearOnFinish())
	}
	_ = p.bar.Set(done) // a terminal that cannot be drawn on is no reason to stop
}

func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}

func newVerifyCommand(getenv func(string) string, stdout, stderr io.Writer) *cobra.Command {
	return newMaintenanceCommand(getenv, stderr, &cobra.Command{
		Use:   "verify",
		Short: "Check the hash chain of every ledger",
		Long: `Check every line of every ledger of a workspace: its form, its hashes, its place in the chain, and that it
was written with this workspace's key. Says intact, or names the first bad line; then it exits with 1.`,
	}, func(ctx context.Context, memory *mesh.View) error {
		reports, err := memory.Verify(ctx)
		if err != nil {
			return err
		}
		damaged := 0
		for _, r := range reports {
			switch {
			case !r.Intact():
				damaged++
				fmt.Fprintf(stdout, "%s: damaged at line %d: %v\n", r.Compartment, r.Bad.Line, r.Bad.Err)
			case r.Torn > 0:
				fmt.Fprintf(stdout, "%s: intact, %d entries; %d bytes of an interrupted write at the end, which the next write removes\n",
					r.Compartment, r.Entries, r.Torn)
			default:
				fmt.Fprintf(stdout, "%s: intact, %d entries\n", r.Compartment, r.Entries)
			}
		}
		if damaged > 0 {
			return fmt.Errorf("%d of %d ledgers are damaged; restore them from a backup", damaged, len(reports))
		}
		return nil
	})
}

// newMaintenanceCommand completes a command that the operator runs over the whole memory of a workspace,
// whoever was heard in it.
func newMaintenanceCommand(getenv func(string) string, stderr io.Writer, cmd *cobra.Command, perform func(context.Context, *mesh.View) error) *cobra.Command {
	var o serveOptions
	cmd.Args = cobra.NoArgs
	cmd.RunE = func(cmd *cobra.Command, _ []string) (err error) {
		if err := apply(cmd.Flags(), []setting{workspaceSetting}, getenv, nil); err != nil {
			return err
		}
		if err := checkWorkspace(o.workspace); err != nil {
			return err
		}
		file, err := readConfig(o.workspace)
		if err != nil {
			return err
		}
		if err := apply(cmd.Flags(), embedderSettings, getenv, file); err != nil {
			return err
		}
		logger, err := newLogger(stderr, "warn")
		if err != nil {
			return err
		}
		// SECURITY: the operator owns the workspace: all compartments. No client reaches this.
		memory, release, err := openMemory(o, audience.DM(), getenv, logger)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, release()) }()
		return perform(cmd.Context(), memory)
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&o.workspace, "workspace", "", "the workspace folder (required; or YAMO_WORKSPACE)")
	o.embedder.addTo(cmd.Flags())
	return cmd
}
