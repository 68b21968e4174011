package grammar

import (
	"slices"
	"strings"
)

// Altered is an item that is no longer as an edit wrote it.
type Altered struct {
	Wrote string // the item as the edit wrote it
	Now   string // what a person made of it; "" if no item of the list is like it
}

// RevertItems takes back, item by item, what an edit did to a list whose body was before, then after, and is body now.
// Items that the edit added are removed, those that it removed are put back next to their former neighbors, and
// everything else stays. altered are the items that it added and that are no longer as it wrote them.
func RevertItems(body, before, after string) (restored string, altered []Altered) {
	was, made, now := Items(before), Items(after), Items(body)
	list, old := blocks(body), blocks(before)
	for _, item := range Gone(made, was) {
		if i := slices.IndexFunc(list, func(b block) bool { return b.item && b.text() == item }); i >= 0 {
			list = slices.Delete(list, i, i+1)
			continue
		}
		altered = append(altered, Altered{item, likest(item, Gone(now, slices.Concat(was, made)))})
	}
	removed := Gone(was, made)
	for i, b := range old {
		at := slices.Index(removed, b.text())
		if !b.item || at < 0 {
			continue
		}
		removed = slices.Delete(removed, at, at+1)
		if !slices.Contains(now, b.text()) {
			list = slices.Insert(list, place(list, old[:i]), b)
		}
	}
	var out strings.Builder
	for i, b := range list {
		out.WriteString(b.raw)
		if i < len(list)-1 && !strings.HasSuffix(b.raw, "\n") {
			out.WriteString("\n")
		}
	}
	return out.String(), altered
}

// place returns where in list an item belongs that came after old: after the last of these that list has, else before
// its first item, else at its end.
func place(list, old []block) int {
	for _, b := range slices.Backward(old) {
		if i := slices.IndexFunc(list, func(c block) bool { return c.item && c.text() == b.text() }); b.item && i >= 0 {
			return i + 1
		}
	}
	if i := slices.IndexFunc(list, func(b block) bool { return b.item }); i >= 0 {
		return i
	}
	return len(list)
}

// likest returns the text that shares the most words with item, "" if none shares at least half of them.
func likest(item string, list []string) (found string) {
	words := strings.Fields(item)
	best := len(words) / 2
	for _, text := range list {
		shared := 0
		for word := range strings.FieldsSeq(text) {
			if slices.Contains(words, word) {
				shared++
			}
		}
		if shared > best {
			found, best = text, shared
		}
	}
	return found
}
