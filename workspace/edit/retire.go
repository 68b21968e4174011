package edit

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// retire sets q.Items to the section's items without those that q.Retire names, followed by the new ones, and returns
// the removed items as the file has them. It runs under the lock, so that items which another process added are kept.
func (q *Request) retire(d *grammar.Document, t *grammar.Type) ([]string, error) {
	if len(q.Retire) == 0 {
		return nil, nil
	}
	if q.Op != grammar.CurateItems {
		return nil, fault.New("op: items are retired by %s", grammar.CurateItems)
	}
	i, _, err := d.Find(t, q.Section)
	if missing, ok := errors.AsType[*grammar.MissingError](err); ok {
		return nil, fault.New("section: %v", missing)
	}
	if err != nil {
		return nil, err
	}
	items := grammar.Items(d.Parts[i].Body)
	var retired []string
	for _, wanted := range q.Retire {
		at, err := find(items, wanted)
		if err != nil {
			return nil, err
		}
		retired = append(retired, items[at])
		// Removed at once, so that the same entry cannot be named twice.
		items = slices.Delete(items, at, at+1)
	}
	q.Items = append(items, q.Items...)
	return retired, nil
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
