package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
)

// newIndexCommand is `yamo-mcp index`: what is derived from the ledgers.
func newIndexCommand(getenv func(string) string, stdout, stderr io.Writer) *cobra.Command {
	m := func() *maintenance { return &maintenance{getenv: getenv, stdout: stdout, stderr: stderr} }
	return newGroup("index", "Look after what makes memories findable by meaning",
		newRebuildCommand(m()), newCompactCommand(m()), newIndexVerifyCommand(m()))
}

// rebuilt is the answer of `index rebuild`.
type rebuilt struct {
	Compartments []indexed `json:"compartments"`
}

type indexed struct {
	Compartment string `json:"compartment"` // or "files"
	Memories    int    `json:"memories"`
}

func newRebuildCommand(m *maintenance) *cobra.Command {
	return m.command(&cobra.Command{
		Use:   "rebuild",
		Short: "Delete the index of every compartment and make it again from the ledgers",
		Long: `Delete the vectors and LanceDB tables of every compartment of a workspace and make them again from the
ledgers. No memory is lost: the ledgers are not touched. It is what to do after another embedding model was
configured, or when the index is said to be damaged. Servers may go on meanwhile. Given again after an interrupt,
it goes on where it was.`,
	}, func(ctx context.Context, memory *mesh.View) error {
		bars := newProgress(m.stderr)
		done := rebuilt{Compartments: []indexed{}}
		err := memory.Rebuild(ctx, func(compartment string, n, total int) {
			if len(done.Compartments) == 0 || done.Compartments[len(done.Compartments)-1].Compartment != compartment {
				done.Compartments = append(done.Compartments, indexed{Compartment: compartment})
			}
			done.Compartments[len(done.Compartments)-1].Memories = total
			bars.show(compartment, n, total)
		})
		bars.end()
		switch {
		case errors.Is(err, embed.ErrNoAssets):
			return embed.ErrNoAssets
		case err != nil && ctx.Err() != nil:
			return errors.New("interrupted; the same command goes on from there, and until then searches match words where vectors are missing")
		case err != nil:
			return err
		}
		var text strings.Builder
		for _, c := range done.Compartments {
			fmt.Fprintf(&text, "%s: %d memories indexed\n", c.Compartment, c.Memories)
		}
		if len(done.Compartments) == 0 {
			text.WriteString("there are no memories yet\n")
		}
		return m.answer(done, text.String())
	})
}

// compacted is the answer of `index compact`.
type compacted struct {
	Compartments []mesh.Compacted `json:"compartments"`
}

func newCompactCommand(m *maintenance) *cobra.Command {
	return m.command(&cobra.Command{
		Use:   "compact",
		Short: "Merge the files of the LanceDB tables and take what was deleted off the disk",
		Long: `Bring the LanceDB tables of every compartment of a workspace up to date, merge their small files into large ones, and
take what was deleted off the disk. Servers do so by themselves when it pays; this is for before a backup.`,
	}, func(ctx context.Context, memory *mesh.View) error {
		list, err := memory.Compact(ctx)
		if err != nil {
			return err
		}
		var text strings.Builder
		for _, c := range list {
			fmt.Fprintf(&text, "%s: %d rows in %d fragments (%d before), %d versions (%d before)\n",
				c.Compartment, c.After.Rows, c.After.Fragments, c.Before.Fragments, c.After.Versions, c.Before.Versions)
		}
		if len(list) == 0 {
			text.WriteString("there are no memories yet\n")
		}
		return m.answer(compacted{list}, text.String())
	})
}

// indexes is the answer of `index verify`.
type indexes struct {
	Consistent   bool               `json:"consistent"` // no problems, though it may be behind
	Compartments []mesh.IndexReport `json:"compartments"`
}

func newIndexVerifyCommand(m *maintenance) *cobra.Command {
	return m.command(&cobra.Command{
		Use:   "verify",
		Short: "Compare vectors and LanceDB tables with the ledgers",
		Long: `Compare the vectors and LanceDB tables of every compartment of a workspace with its ledger, row by row: what is there,
its text, its vector, the model. Of the vectors of the workspace's own files it is checked that they are undamaged.
Changes nothing. What is merely not indexed yet is no problem: servers do that. With a problem it exits with 1; then
` + "`yamo-mcp index rebuild`" + ` mends it.`,
	}, func(ctx context.Context, memory *mesh.View) error {
		bars := newProgress(m.stderr)
		reports, err := memory.CheckIndex(ctx, bars.show)
		bars.end()
		if err != nil {
			return err
		}
		problem := func(r mesh.IndexReport) bool { return len(r.Problems) > 0 }
		found := indexes{!slices.ContainsFunc(reports, problem), reports}
		var text strings.Builder
		for _, r := range reports {
			text.WriteString(indexLines(r))
		}
		if err := m.answer(found, text.String()); err != nil {
			return err
		}
		if !found.Consistent {
			return errors.New("the index is not what the ledgers say: run `yamo-mcp index rebuild`")
		}
		return nil
	})
}

// indexLines is a report for people.
func indexLines(r mesh.IndexReport) string {
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
