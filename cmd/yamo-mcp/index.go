package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/index"
)

// newIndexCommand returns `yamo-mcp index`, whose commands maintain what is derived from the ledgers.
func newIndexCommand(env cli.Env) *cobra.Command {
	return cli.Group("index", "Maintain the search index, which makes memories findable by meaning",
		newRebuildCommand(env), newCompactCommand(env), newIndexVerifyCommand(env))
}

// rebuilt is the answer of `index rebuild`.
type rebuilt struct {
	Compartments []indexed `json:"compartments"`
}

// indexed is what was built for a compartment.
type indexed struct {
	Compartment string `json:"compartment"` // or "files"
	Memories    int    `json:"memories"`
}

// newRebuildCommand returns `yamo-mcp index rebuild`.
func newRebuildCommand(env cli.Env) *cobra.Command {
	return memoryCommand(env, &cobra.Command{
		Use:   "rebuild",
		Short: "Delete the search index and build it again from the ledgers",
		Long: `Delete the vectors and LanceDB tables of every compartment of a workspace and build them again from
the ledgers. No memory is lost, because the ledgers are not changed. Run it after you configure
another embedding model, or if the index is reported as damaged. Servers can keep running. If it is
interrupted, run it again to continue.`,
	}, func(ctx context.Context, c *cli.Command, memory *mesh.View) error {
		bars := cli.NewProgress(c.Stderr)
		done := rebuilt{Compartments: []indexed{}}
		err := memory.Maintenance().Rebuild(ctx, func(compartment string, n, total int) {
			// Rebuild reports the compartments one after another, each several times.
			if len(done.Compartments) == 0 || done.Compartments[len(done.Compartments)-1].Compartment != compartment {
				done.Compartments = append(done.Compartments, indexed{Compartment: compartment})
			}
			done.Compartments[len(done.Compartments)-1].Memories = total
			bars.Show(compartment, n, total)
		})
		bars.End()
		switch {
		case errors.Is(err, embed.ErrNoAssets): // without what wraps it: the error names the command to run
			return embed.ErrNoAssets
		case err != nil && ctx.Err() != nil:
			return errors.New("interrupted; run the command again to continue, " +
				"until then searches match words where vectors are missing")
		case err != nil:
			return err
		}
		var text strings.Builder
		for _, done := range done.Compartments {
			fmt.Fprintf(&text, "%s: %d memories indexed\n", done.Compartment, done.Memories)
		}
		if len(done.Compartments) == 0 {
			text.WriteString("no memories yet\n")
		}
		return c.Answer(done, text.String())
	})
}

// compacted is the answer of `index compact`.
type compacted struct {
	Compartments []mesh.Compacted `json:"compartments"`
}

// newCompactCommand returns `yamo-mcp index compact`.
func newCompactCommand(env cli.Env) *cobra.Command {
	return memoryCommand(env, &cobra.Command{
		Use:   "compact",
		Short: "Merge the files of the LanceDB tables and remove deleted data from disk",
		Long: `Bring the LanceDB tables of every compartment of a workspace up to date, merge their small files
and remove deleted data from disk. Servers do this when it is worth the effort; run it before a
backup.`,
	}, func(ctx context.Context, c *cli.Command, memory *mesh.View) error {
		list, err := memory.Maintenance().Compact(ctx)
		if err != nil {
			return err
		}
		var text strings.Builder
		for _, done := range list {
			fmt.Fprintf(&text, "%s: %d rows in %d fragments (%d before), %d versions (%d before)\n",
				done.Compartment, done.After.Rows, done.After.Fragments, done.Before.Fragments,
				done.After.Versions, done.Before.Versions)
		}
		if len(list) == 0 {
			text.WriteString("no memories yet\n")
		}
		return c.Answer(compacted{list}, text.String())
	})
}

// indexes is the answer of `index verify`.
type indexes struct {
	Consistent   bool           `json:"consistent"` // no problems; it may lack recent memories
	Compartments []index.Report `json:"compartments"`
}

// newIndexVerifyCommand returns `yamo-mcp index verify`. The reports are printed before it fails: they show what is
// wrong.
func newIndexVerifyCommand(env cli.Env) *cobra.Command {
	return memoryCommand(env, &cobra.Command{
		Use:   "verify",
		Short: "Compare vectors and LanceDB tables with the ledgers",
		Long: `Compare the vectors and LanceDB tables of every compartment of a workspace with its ledger, row by
row: presence, text, vector and model. The vectors of the workspace's own files are checked for
damage. Nothing is changed. Memories that are not indexed yet are not a problem, because servers
index them. With a problem the exit code is 1; run ` + "`yamo-mcp index rebuild`" + ` to repair the index.`,
	}, func(ctx context.Context, c *cli.Command, memory *mesh.View) error {
		bars := cli.NewProgress(c.Stderr)
		reports, err := memory.Maintenance().Check(ctx, bars.Show)
		bars.End()
		if err != nil {
			return err
		}
		problem := func(r index.Report) bool { return len(r.Problems) > 0 }
		found := indexes{!slices.ContainsFunc(reports, problem), reports}
		var text strings.Builder
		for _, r := range reports {
			text.WriteString(indexLines(r))
		}
		if err := c.Answer(found, text.String()); err != nil {
			return err
		}
		if !found.Consistent {
			return errors.New("the index does not match the ledgers: run `yamo-mcp index rebuild`")
		}
		return nil
	})
}

// indexLines formats the report about a compartment.
func indexLines(r index.Report) string {
	if len(r.Problems) > 0 {
		var text strings.Builder
		for _, p := range r.Problems {
			fmt.Fprintf(&text, "%s: %s\n", r.Compartment, p)
		}
		return text.String()
	}
	if r.Behind() {
		return fmt.Sprintf("%s: consistent, but not up to date: vectors %d/%d, rows %d/%d, blocks %d/%d, skills %d/%d\n",
			r.Compartment, r.Vectors, r.Memories, r.Rows, r.Memories, r.BlockRows, r.Blocks, r.SkillRows, r.Skills)
	}
	return fmt.Sprintf("%s: consistent, %d memories, %d blocks, %d skills\n",
		r.Compartment, r.Memories, r.Blocks, r.Skills)
}
