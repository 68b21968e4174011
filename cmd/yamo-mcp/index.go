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

// newIndexCommand is `yamo-mcp index`: what is derived from the ledgers.
func newIndexCommand(env cli.Env) *cobra.Command {
	return cli.Group("index", "Maintain the search index, which makes memories findable by meaning",
		newRebuildCommand(env), newCompactCommand(env), newIndexVerifyCommand(env))
}

// rebuilt is the answer of `index rebuild`.
type rebuilt struct {
	Compartments []indexed `json:"compartments"`
}

type indexed struct {
	Compartment string `json:"compartment"` // or "files"
	Memories    int    `json:"memories"`
}

func newRebuildCommand(env cli.Env) *cobra.Command {
	return memoryCommand(env, &cobra.Command{
		Use:   "rebuild",
		Short: "Delete the index of every compartment and make it again from the ledgers",
		Long: `Delete the vectors and LanceDB tables of every compartment of a workspace and make them again from the
ledgers. No memory is lost: the ledgers are not touched. It is what to do after another embedding model was
configured, or when the index is said to be damaged. Servers may go on meanwhile. Given again after an interrupt,
it goes on where it was.`,
	}, func(ctx context.Context, c *cli.Command, memory *mesh.View) error {
		bars := cli.NewProgress(c.Stderr)
		done := rebuilt{Compartments: []indexed{}}
		err := memory.Rebuild(ctx, func(compartment string, n, total int) {
			if len(done.Compartments) == 0 || done.Compartments[len(done.Compartments)-1].Compartment != compartment {
				done.Compartments = append(done.Compartments, indexed{Compartment: compartment})
			}
			done.Compartments[len(done.Compartments)-1].Memories = total
			bars.Show(compartment, n, total)
		})
		bars.End()
		switch {
		case errors.Is(err, embed.ErrNoAssets):
			return embed.ErrNoAssets
		case err != nil && ctx.Err() != nil:
			return errors.New("interrupted; the same command goes on from there, and until then searches match words where vectors are missing")
		case err != nil:
			return err
		}
		var text strings.Builder
		for _, done := range done.Compartments {
			fmt.Fprintf(&text, "%s: %d memories indexed\n", done.Compartment, done.Memories)
		}
		if len(done.Compartments) == 0 {
			text.WriteString("there are no memories yet\n")
		}
		return c.Answer(done, text.String())
	})
}

// compacted is the answer of `index compact`.
type compacted struct {
	Compartments []mesh.Compacted `json:"compartments"`
}

func newCompactCommand(env cli.Env) *cobra.Command {
	return memoryCommand(env, &cobra.Command{
		Use:   "compact",
		Short: "Merge the files of the LanceDB tables and take what was deleted off the disk",
		Long: `Bring the LanceDB tables of every compartment of a workspace up to date, merge their small files into large ones, and
take what was deleted off the disk. Servers do so by themselves when it pays; this is for before a backup.`,
	}, func(ctx context.Context, c *cli.Command, memory *mesh.View) error {
		list, err := memory.Compact(ctx)
		if err != nil {
			return err
		}
		var text strings.Builder
		for _, done := range list {
			fmt.Fprintf(&text, "%s: %d rows in %d fragments (%d before), %d versions (%d before)\n",
				done.Compartment, done.After.Rows, done.After.Fragments, done.Before.Fragments, done.After.Versions, done.Before.Versions)
		}
		if len(list) == 0 {
			text.WriteString("there are no memories yet\n")
		}
		return c.Answer(compacted{list}, text.String())
	})
}

// indexes is the answer of `index verify`.
type indexes struct {
	Consistent   bool           `json:"consistent"` // no problems, though it may be behind
	Compartments []index.Report `json:"compartments"`
}

func newIndexVerifyCommand(env cli.Env) *cobra.Command {
	return memoryCommand(env, &cobra.Command{
		Use:   "verify",
		Short: "Compare vectors and LanceDB tables with the ledgers",
		Long: `Compare the vectors and LanceDB tables of every compartment of a workspace with its ledger, row by row: what is there,
its text, its vector, the model. Of the vectors of the workspace's own files it is checked that they are undamaged.
Changes nothing. What is merely not indexed yet is no problem: servers do that. With a problem it exits with 1; then
` + "`yamo-mcp index rebuild`" + ` mends it.`,
	}, func(ctx context.Context, c *cli.Command, memory *mesh.View) error {
		bars := cli.NewProgress(c.Stderr)
		reports, err := memory.CheckIndex(ctx, bars.Show)
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
			return errors.New("the index is not what the ledgers say: run `yamo-mcp index rebuild`")
		}
		return nil
	})
}

// indexLines is a report for people.
func indexLines(r index.Report) string {
	if len(r.Problems) > 0 {
		var text strings.Builder
		for _, p := range r.Problems {
			fmt.Fprintf(&text, "%s: %s\n", r.Compartment, p)
		}
		return text.String()
	}
	if r.Behind() {
		return fmt.Sprintf("%s: consistent, and behind: of %d memories %d have a vector and %d a row, of %d blocks %d, of %d skills %d\n",
			r.Compartment, r.Memories, r.Vectors, r.Rows, r.Blocks, r.BlockRows, r.Skills, r.SkillRows)
	}
	return fmt.Sprintf("%s: consistent, %d memories, %d blocks, %d skills\n", r.Compartment, r.Memories, r.Blocks, r.Skills)
}
