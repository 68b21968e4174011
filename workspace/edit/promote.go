package edit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// Extension is a subsection of Extensions in profiles of one type: a candidate for a section of its own (seed 004
// §13).
type Extension struct {
	Type  string   `json:"type"`
	Name  string   `json:"name"` // as in the first file
	Files []string `json:"files"`
}

// Extensions returns the subsections of Extensions in all profiles, the most frequent first, then by type and name.
func (e *Editor) Extensions() ([]Extension, error) {
	found := map[[2]string]*Extension{}
	for _, file := range e.opt.View.Files() {
		t, _ := grammar.TypeOf(file.Name)
		if t == nil || !t.Strict {
			continue
		}
		data, err := e.opt.View.Read(file.Name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", file.Name, err)
		}
		d := grammar.Parse(string(data))
		i, _, err := d.Find(t, grammar.Extensions)
		if err != nil {
			continue // lint reports a profile without the section
		}
		for _, s := range grammar.Subsections(d.Parts[i].Body) {
			key := [2]string{t.Name, grammar.Slug(s.Name)}
			if found[key] == nil {
				found[key] = &Extension{Type: t.Name, Name: s.Name}
			}
			if x := found[key]; !slices.Contains(x.Files, file.Name) {
				x.Files = append(x.Files, file.Name)
			}
		}
	}
	list := []Extension{}
	for _, x := range found {
		list = append(list, *x)
	}
	slices.SortFunc(list, func(a, b Extension) int {
		if len(a.Files) != len(b.Files) {
			return len(b.Files) - len(a.Files)
		}
		return strings.Compare(a.Type+"\x00"+a.Name, b.Type+"\x00"+b.Name)
	})
	return list, nil
}

// Promote moves a subsection of a profile's Extensions into one of its sections, in one event (seed 004 §13). Only the
// maintainer may call it, so that pins do not apply. override is the reason to exceed a cap, "" for none.
func (e *Editor) Promote(
	ctx context.Context, name, subsection, section, actor, why, override string,
) (Result, Changed, error) {
	if err := e.opt.View.CheckText(why + "\n" + override); err != nil {
		return Result{}, Changed{}, fault.New("why: %v", err)
	}
	if _, err := e.opt.View.Read(name); errors.Is(err, fs.ErrNotExist) {
		return Result{}, Changed{}, fault.New("%s: there is no such file in the workspace", name)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	a, err := e.attempt(ctx, Request{
		File: name, Actor: actor, subsection: subsection,
		Edit: grammar.Edit{Op: grammar.Promote, Section: section, Rationale: why, Override: override},
	})
	if err != nil {
		return Result{}, Changed{}, err
	}
	return a.result, a.change(), nil
}

// apply performs the request's operation on d.
func (q *Request) apply(d *grammar.Document, t *grammar.Type, now time.Time) (grammar.Applied, error) {
	if q.tidies {
		return q.tidy(d)
	}
	if q.Op == grammar.Promote {
		return d.Promote(t, q.subsection, &q.Edit, now)
	}
	return d.Apply(t, q.Edit, now)
}
