package edit

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/testsize"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// A person's line is never mixed with what the edit wrote: where they changed what the edit wrote, both texts are
// shown, and nothing is written.
func TestUndoMixesNoLines(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		old, made, by string // the section's text, what the edit made of it, and a person of that
		want          string // "" for a refusal
	}{
		"another line": {"The rent is 900 euros.", "The rent is 950 euros.", "Bus line 25 goes to the beach.", ""},
		"a longer item": {
			"- Ana lives in Porto", "- Berta runs the bakery", "- Berta runs the bakery and is 40", "",
		},
		"a longer line": {
			"Call the plumber Joao at 5.", "The electrician is Rui.", "The electrician is Rui, phone 912.", "",
		},
		"a number of it": {"- The rent is 900 euros.", "- The rent is 950 euros.", "- The rent is 960 euros.", ""},
		"the rest of the line": {
			"The rent is 900 euros, paid on the 1st.", "The rent is 950 euros, paid on the 1st.",
			"The rent is 950 euros, paid on the 5th.", "",
		},
		"a line below the item": {"- Ana", "- Ana\n- Eva", "- Ana\n- Eva\n  from Porto", ""},
		"an item below it":      {"- Ana", "- Ana\n- Eva", "- Ana\n- Eva\n- Uwe", "- Ana\n- Uwe"},
		"another item": {
			"- Ana likes tea", "- Ana likes milk", "- Bruno sells fish\n- Ana likes milk", "- Bruno sells fish\n- Ana likes tea",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const head = "# Memory\n\n## S\n\n"
			d := newFixture(t, map[string]string{"MEMORY.md": head + c.old + "\n"})
			e := d.open()
			q := request("MEMORY.md", grammar.ReplaceSection, "S", c.made)
			q.Session = ""
			made := d.edit(e, q)
			d.write("MEMORY.md", head+c.by+"\n")
			_, _, err := e.Undo(t.Context(), made.Event.ID, "operator", "r")
			want := c.want
			if want == "" {
				want = c.by
				for _, text := range []string{
					"The edit left:\n" + c.made + "\n", "Now it is:\n" + c.by + "\n", "Before the edit it was:\n" + c.old + "\n",
					"Undo the later edits first, or correct the section with an edit",
				} {
					if _, ok := fault.As(err); !ok || !strings.Contains(err.Error(), text) {
						t.Errorf("the error lacks %q: %v", text, err)
					}
				}
			} else if err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(head+want+"\n", d.read("MEMORY.md")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// After any edit and any changes by hand, an undo is refused and writes nothing, or each line is there as often as in
// the text before the edit, without the lines that the person removed and with those that they added.
func TestUndoInventsNoLine(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(14, 3))
	undone, cases := 0, testsize.Pick(60, 2000)
	for range cases {
		if checkUndo(t, r) {
			undone++
		}
		if t.Failed() {
			return
		}
	}
	if undone < cases/10 || undone > cases*19/20 {
		t.Errorf("%d of %d edits were undone", undone, cases)
	}
}

// checkUndo makes an edit and changes by hand, and undoes the edit. It reports whether it was undone.
func checkUndo(t *testing.T, r *rand.Rand) bool {
	next := 0
	line := func() string {
		next++
		n := strconv.Itoa(next % 9) // some are equal
		return []string{"- Item " + n, "- Item " + n + "\n  is long", "Paragraph " + n + "\n"}[r.IntN(3)]
	}
	lines := func(n int) string {
		var out strings.Builder
		for range n {
			out.WriteString(line() + "\n")
		}
		return out.String()
	}
	d := newFixture(t, map[string]string{"MEMORY.md": "# M\n\n## A\n\n" + lines(r.IntN(6)) + "\n## B\n\n" + lines(3)})
	e := d.open()
	before := d.read("MEMORY.md")
	q := request("MEMORY.md", []grammar.Op{
		grammar.ReplaceSection, grammar.AppendSection, grammar.AppendItem, grammar.CurateItems, grammar.TombstoneSection,
	}[r.IntN(5)], "A", "")
	switch q.Session = ""; q.Op {
	case grammar.ReplaceSection, grammar.AppendSection:
		q.Content = lines(1 + r.IntN(3))
	case grammar.AppendItem, grammar.CurateItems:
		q.Items = []string{"Item new", "Item newer"}[:1+r.IntN(2)]
	}
	made, err := e.Edit(t.Context(), q)
	if err != nil {
		return false // nothing to retire
	}
	after := d.read("MEMORY.md")
	changed := strings.SplitAfter(after, "\n")
	for range 1 + r.IntN(3) {
		switch at := r.IntN(len(changed)); {
		case strings.HasPrefix(changed[at], "#") || r.IntN(3) == 0:
			changed = slices.Insert(changed, at, line()+"\n")
		case strings.TrimSpace(changed[at]) == "" || r.IntN(2) == 0:
			changed = slices.Delete(changed, at, at+1)
		default:
			changed[at] = strings.TrimRight(changed[at], "\n") + " by hand\n"
		}
	}
	now := strings.Join(changed, "")
	d.write("MEMORY.md", now)
	_, _, err = e.Undo(t.Context(), made.Event.ID, "operator", "r")
	got := d.read("MEMORY.md")
	if err != nil {
		if _, ok := fault.As(err); !ok || got != now {
			t.Errorf("refused with %v, and the file is\n%s", err, got)
		}
		return false
	}
	count := map[string]int{}
	add := func(text string, n int) {
		for l := range strings.SplitSeq(text, "\n") {
			count[strings.TrimSpace(l)] += n
		}
	}
	add(before, 1)
	add(now, 1)
	add(after, -1)
	add(got, -1)
	delete(count, "")
	for l, n := range count {
		if n != 0 {
			t.Errorf("%q is missing %d times. Before the edit:\n%s\nAfter it:\n%s\nBy hand:\n%s\nUndone:\n%s", l, n, before,
				after, now, got)
		}
	}
	return true
}
