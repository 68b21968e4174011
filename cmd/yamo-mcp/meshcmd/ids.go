package meshcmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/screen"
	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh"
)

// An id is long: mem_1763373600000_a1b2c3. A person sees and types its end, a1b2c3, or any beginning of it or of the id
// that only one memory has.

const (
	fewest     = 4 // characters of an abbreviation, so that a slip of the finger is not taken for one
	candidates = 8 // shown of those that an abbreviation may mean
)

// ending returns the part of an id that differs most between ids.
func ending(id string) string { return id[strings.LastIndexByte(id, '_')+1:] }

// shortener returns a function that abbreviates an id to its end, if no other memory of the audience has that.
func (m *command) shortener(ctx context.Context, memory *mesh.View) (func(id string) string, error) {
	if !m.person || m.JSON {
		return nil, nil
	}
	named, err := memory.Named(ctx, "")
	if err != nil {
		return nil, err
	}
	count := make(map[string]int, len(named))
	for _, n := range named {
		count[ending(n.ID)]++
	}
	return func(id string) string {
		if end := ending(id); count[end] == 1 && len(end) >= fewest {
			return end
		}
		return id
	}, nil
}

// Expand returns the id of the memory or skill that short abbreviates. One that nothing or more than one thing has is a
// fault, which lists the candidates.
//
// SECURITY: the candidates are those of the view.
func Expand(ctx context.Context, memory *mesh.View, short string) (string, error) {
	short = strings.TrimSpace(short)
	named, err := memory.Named(ctx, short)
	switch {
	case err != nil:
		return "", err
	case len(named) == 1 && (named[0].ID == short || len(short) >= fewest):
		return named[0].ID, nil
	case len(short) < fewest:
		return "", fault.New("id: %q is too short; give at least %d characters of an ID, such as the end that search shows",
			short, fewest)
	case len(named) == 0:
		return "", fault.New("id: no memory %q; use an ID from search or list", short)
	}
	var list strings.Builder
	for _, n := range named[:min(candidates, len(named))] {
		fmt.Fprintf(&list, "\n  %s  %s", n.ID, text.Shorten(screen.Line(n.Text), 60))
	}
	if more := len(named) - candidates; more > 0 {
		fmt.Fprintf(&list, "\n  and %d more", more)
	}
	return "", fault.New("id: %d have %q in their ID; give more of it:%s", len(named), short, list.String())
}

// expand replaces *id, unless it is empty, by what it abbreviates, for a person. The mesh commands take whole ids, as
// programs have them.
func (m *command) expand(ctx context.Context, memory *mesh.View, id *string) (err error) {
	if m.person && *id != "" {
		*id, err = Expand(ctx, memory, *id)
	}
	return err
}
