package edit

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit/splice"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// Emptied returns the headings of sweeps in MEMORY.md, d, below which nothing is left.
func Emptied(d *grammar.Document) (list []string) {
	for _, p := range d.Parts[1:] {
		if isEmptied(p) {
			list = append(list, p.Name)
		}
	}
	return list
}

// isEmptied reports whether a part is a sweep's, without any text.
func isEmptied(p grammar.Part) bool {
	return workspace.IsDreamed(p.Name) && strings.TrimSpace(p.Body) == ""
}

// Drop removes the section called name from MEMORY.md, d, if it is a sweep's and nothing is left in it: what a sweep
// adds has a heading of its own, and a heading without items tells nothing. Other sections stay (seed 004 §4).
func Drop(d *grammar.Document, name string) (dropped bool) {
	n := len(d.Parts)
	d.Parts = slices.DeleteFunc(d.Parts, func(p grammar.Part) bool { return p.Name == name && isEmptied(p) })
	return len(d.Parts) < n
}

// dropEmptied is Drop for the file of the attempt.
func (a *attempt) dropEmptied(d *grammar.Document, section string) {
	if a.q.File == workspace.MemoryFile {
		Drop(d, section)
	}
}

// Tidy removes a heading of MEMORY.md that Emptied returns; another section is a fault. Of q it takes Section, Actor,
// Rationale, Origin and Evidence.
func (e *Editor) Tidy(ctx context.Context, q Request) (Result, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	a, err := e.attempt(ctx, Request{
		File: workspace.MemoryFile, Actor: q.Actor, Origin: q.Origin, tidies: true, Edit: grammar.Edit{
			Op: grammar.CurateItems, Section: q.Section, Rationale: q.Rationale, Evidence: q.Evidence,
		},
	})
	if err != nil {
		return Result{}, fmt.Errorf("remove an empty heading: %w", err)
	}
	return a.result, nil
}

// tidy is the operation of Tidy: the section stays as it is here, and edit drops it.
func (q *Request) tidy(d *grammar.Document) (grammar.Applied, error) {
	i := splice.Index(d, q.Section, "")
	if i < 1 || !isEmptied(d.Parts[i]) {
		return grammar.Applied{}, fault.New("section: %q is no empty heading of a sweep", q.Section)
	}
	return grammar.Applied{Section: d.Parts[i].Name, Anchor: anchorOf(d.Parts[i])}, nil
}
