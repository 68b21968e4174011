package edit

import (
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit/merge"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit/seal"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit/splice"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// reverting is an undo of an edit after later changes of the file.
type reverting struct {
	file string
	rest bool // what a person changed stays, item by item, and is added to kept; without it, it is a fault
	kept []Kept
}

// without takes back in present what changed from before to after, section by section, except in the Change Log. It
// changes and returns present.
func (r *reverting) without(before, after, present *grammar.Document) (*grammar.Document, error) {
	if err := r.restore(before, after, present); err != nil {
		return nil, err
	}
	for j, p := range after.Parts {
		if isChangeLog(p.Name) {
			continue
		}
		old, made := "", true
		if i := counterpart(before, after, j); i >= 0 {
			old, made = before.Parts[i].Body, false
		}
		if !made && seal.Canonical(old) == seal.Canonical(p.Body) { // only the blank lines above a section that was made
			continue
		}
		i := counterpart(present, after, j)
		switch {
		case i >= 0:
			if err := r.section(present, i, old, p, made); err != nil {
				return nil, err
			}
		case !r.rest:
			return nil, fault.New("section: %q no longer exists in %s; nothing was written. Without the edit it was:\n%s",
				p.Name, r.file, Excerpt(old))
		}
	}
	for i := range present.Parts[:len(present.Parts)-1] {
		// What was the end of the file may have had no line end.
		if p := &present.Parts[i]; p.Text() != "" && !strings.HasSuffix(p.Body, "\n") {
			p.Body += "\n"
		}
	}
	if again := grammar.Parse(present.String()); !slices.Equal(again.Sections(), present.Sections()) {
		return nil, fault.New("section: without the edit the sections of %s would not stay apart; nothing was written. "+
			"Check its code blocks and comments", r.file)
	}
	return present, nil
}

// restore puts the sections that the edit removed back into present.
func (r *reverting) restore(before, after, present *grammar.Document) error {
	for at, p := range before.Parts {
		if counterpart(after, before, at) >= 0 {
			continue
		}
		if splice.Index(present, p.Name, p.Anchor.ID) >= 0 {
			if r.rest {
				continue
			}
			return fault.New("section: %q was created again since in %s; nothing was written. Before the edit it was:\n%s",
				p.Name, r.file, Excerpt(p.Body))
		}
		present.Parts = slices.Insert(present.Parts, min(at, len(present.Parts)), p)
	}
	return nil
}

// section takes back in part i of present that a section with the body old became p; made if the edit created it.
func (r *reverting) section(present *grammar.Document, i int, old string, p grammar.Part, made bool) error {
	body := present.Parts[i].Body
	if made && seal.Canonical(body) == seal.Canonical(p.Body) {
		present.Parts = slices.Delete(present.Parts, i, i+1)
		return nil
	}
	restored, ok := merge.Bodies(p.Body, body, old)
	switch {
	case r.rest && (made || !ok):
		restored = r.items(p.Name, body, old, p.Body)
		if present.Parts[i].Body = restored; made && strings.TrimSpace(restored) == "" {
			present.Parts = slices.Delete(present.Parts, i, i+1)
		}
	case made || !ok:
		earlier := "Before the edit it was:\n" + Excerpt(old)
		if made {
			earlier = "Before the edit there was no such section."
		}
		return fault.New("section: %q in %s is not as the edit left it, so nothing was written.\nThe edit left:\n%s\n"+
			"Now it is:\n%s\n%s\nUndo the later edits first, or correct the section with an edit", p.Name, r.file,
			Excerpt(p.Body), Excerpt(body), earlier)
	default:
		present.Parts[i].Body = restored
	}
	return nil
}

// items takes back what an edit did to a list, except for what a person changed, which it adds to kept.
func (r *reverting) items(section, body, before, after string) (restored string) {
	restored, altered := grammar.RevertItems(body, before, after)
	for _, a := range altered {
		r.kept = append(r.kept, Kept{r.file, section, a.Wrote, a.Now})
	}
	return restored
}

// counterpart returns the part of d that part j of other is, -1 for none. Of several with the same heading and anchor
// it is the one with the same number.
func counterpart(d, other *grammar.Document, j int) int {
	p, number, several := other.Parts[j], 0, false
	if j == 0 {
		return 0
	}
	for i, q := range other.Parts {
		if i == 0 || i == j || q.Name != p.Name || q.Anchor.ID != p.Anchor.ID {
			continue
		}
		if several = true; i < j {
			number++
		}
	}
	if !several {
		return splice.Index(d, p.Name, p.Anchor.ID)
	}
	for i, q := range d.Parts {
		if i == 0 || q.Name != p.Name || q.Anchor.ID != p.Anchor.ID {
			continue
		}
		if number--; number < 0 {
			return i
		}
	}
	return -1
}
