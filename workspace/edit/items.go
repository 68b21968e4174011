package edit

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit/splice"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// itemize prepares the items of a request for the section as d has it, and returns those that are new. It leaves out
// what is there already if q.Unique, and what q.Retire names: q.Items are then the section's other items, followed by
// the new ones. It runs under the lock, so that items which another process added are kept. last is what the session
// knows of the file, nil for nothing.
func (q *Request) itemize(d *grammar.Document, t *grammar.Type, last *reading) (added []string, err error) {
	if len(q.Retire) > 0 && q.Op != grammar.CurateItems {
		return nil, fault.New("op: items are retired by %s", grammar.CurateItems)
	}
	if len(q.Retire) == 0 && !q.Unique {
		return q.Items, nil
	}
	i, _, err := d.Find(t, q.Section)
	missing, ok := errors.AsType[*grammar.MissingError](err)
	switch {
	case ok && len(q.Retire) > 0:
		return nil, fault.New("section: %v", missing)
	case ok: // it may be created
		return q.Items, nil
	case err != nil:
		return nil, err
	}
	items := grammar.Items(d.Parts[i].Body)
	var retired []string
	for _, wanted := range q.Retire {
		at, err := find(items, wanted)
		if err != nil {
			return nil, err
		}
		if err := q.wasRead(last, d.Parts[i], items[at], wanted); err != nil {
			return nil, err
		}
		retired = append(retired, items[at])
		// Removed at once, so that the same entry cannot be named twice.
		items = slices.Delete(items, at, at+1)
	}
	added = q.Items
	if q.Unique {
		if added = q.unique(d, items); len(added) == 0 && len(retired) == 0 && len(q.Items) > 0 {
			return nil, fault.New("items: the file contains %q already; nothing was written", q.Items[0])
		}
		q.Content = ""
	}
	if len(retired) == 0 {
		q.Items = added
		return added, nil
	}
	// As many new items as retired ones replace them one by one. Dated ones follow at the end, as in a journal.
	if q.Dated == nil && len(added) == len(retired) {
		q.Replaces = map[string]int{}
		for n, item := range retired {
			q.Replaces[item] = len(items) + n
		}
	}
	q.Items = append(items, added...)
	return added, nil
}

// wasRead returns a fault with both texts if the beginning of an item names one that is not as the session read it: the
// rest of it would go unseen.
func (q *Request) wasRead(last *reading, p grammar.Part, item, wanted string) error {
	wanted = oneLine(bullet.ReplaceAllString(wanted, ""))
	whole := oneLine(item) == wanted || datePrefix.ReplaceAllString(oneLine(item), "") == wanted
	if last == nil || whole || q.decided != nil || slices.Contains(last.items[anchorOf(p)], item) {
		return nil
	}
	read := "no such entry"
	if at, err := find(last.items[anchorOf(p)], wanted); err == nil {
		read = last.items[anchorOf(p)][at]
	}
	return fault.New("retire: the entry that begins with %q was changed since you read it; nothing was written.\n"+
		"The entry now:\n%s\nAs you read it:\n%s\nTo remove it, pass the whole entry", wanted, item, read)
}

// unique returns those of q.Items that are not among items, apart from letter case, spaces and the dates that items
// were given. An entry that begins with its own date is another one than that of another day. Dated entries are
// compared with all of the file's items, and their dates do not count.
func (q *Request) unique(d *grammar.Document, items []string) (added []string) {
	plain := func(item string) string {
		return strings.TrimRight(strings.ToLower(oneLine(bullet.ReplaceAllString(item, ""))), ".")
	}
	undated := func(item string) string { return datePrefix.ReplaceAllString(plain(item), "") }
	same := plain
	if q.Dated != nil {
		same = undated
	}
	have := map[string]bool{}
	for _, item := range items {
		have[plain(item)], have[undated(item)] = true, true
	}
	for _, p := range d.Parts {
		for _, item := range grammar.Items(p.Body) {
			// What is retired by this request may be added again.
			if q.Dated != nil && len(q.Retire) == 0 && !isChangeLog(p.Name) {
				have[undated(item)] = true
			}
		}
	}
	for _, item := range q.Items {
		if key := same(item); !have[key] || key == "" {
			have[key] = true
			added = append(added, item)
		}
	}
	return added
}

// bullet matches the list marker that a caller may have copied with an item.
var bullet = regexp.MustCompile(`^\s*[-*+]\s+`)

// datePrefix matches the date that an item got when it was added, see Request.Dated.
var datePrefix = regexp.MustCompile(beginsWithDate.String() + `:?\s*`)

// find returns the index of the only item that equals wanted, else of the only one that begins with it. The date that
// an item was given may be left out. An ambiguous beginning is a fault: removing the wrong item cannot be noticed
// later.
func find(items []string, wanted string) (int, error) {
	wanted = oneLine(bullet.ReplaceAllString(wanted, ""))
	if wanted == "" {
		return 0, fault.New("retire: an entry is empty; pass its text or its beginning")
	}
	undated := func(item string) string { return datePrefix.ReplaceAllString(item, "") }
	for _, same := range []func(item string) bool{
		func(item string) bool { return item == wanted },
		func(item string) bool { return undated(item) == wanted },
		func(item string) bool { return strings.HasPrefix(item, wanted) },
		func(item string) bool { return strings.HasPrefix(undated(item), wanted) },
	} {
		var found []int
		for i, item := range items {
			if same(oneLine(item)) {
				found = append(found, i)
			}
		}
		switch len(found) {
		case 0:
		case 1:
			return found[0], nil
		default:
			return 0, fault.New("retire: %q is the beginning of %d entries; pass more of it, with the date", wanted, len(found))
		}
	}
	return 0, fault.New("retire: no entry is or begins with %q; read the file again and copy the entry exactly", wanted)
}

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
