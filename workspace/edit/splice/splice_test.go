package splice

import (
	"testing"
	"time"

	"github.com/yamo-protocol/yamo-mcp/workspace/edit/seal"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

const partFile = "users/luis/parts/guard/profile.md"

// An event's splices turn the text before into the text after, byte for byte, whatever the text.
func FuzzChanges(f *testing.F) {
	for _, text := range []string{
		"", "# MEMORY.md\n\n## People\n\n- Ana\n- Luis\n\n## Plans\n\nSoon.\n",
		grammar.New(partFile, "2026-01-02T03:04:05Z"), "# T\n\n##\n\n## A\n\n## A\n", "## A\n- é\n\n## \n",
		"\uFEFF# T\r\n\r\n## A\r\n- a\r\n", "# T\r\n\r\n## Allies\r\n\r\n## Needs\r",
		"---\nlast_updated: x\n---\n## Identity\n```\n## no\n", "# T\n## Change Log\n- 2026-02-14: x",
	} {
		f.Add(text, "A", "content", "item", uint8(0))
		f.Add(text, "Role", "é", "- b", uint8(28))
	}
	k := seal.Key{Version: 1, Secret: make([]byte, 32)}
	noon := time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text, section, content, item string, kind uint8) {
		name := []string{"MEMORY.md", partFile, "users/a/notes.md"}[int(kind/10)%3]
		typ, _ := grammar.TypeOf(name)
		q := grammar.Edit{
			Op: grammar.Ops[int(kind%5)], Section: section, Rationale: "r" + item, Override: content, Create: kind%10 >= 5,
		}
		switch q.Op {
		case grammar.AppendItem, grammar.CurateItems:
			q.Items = []string{item, content}
		case grammar.ReplaceSection, grammar.AppendSection:
			q.Content = content
		case grammar.TombstoneSection:
		}
		d := grammar.Parse(text)
		done, err := d.Apply(typ, q, noon)
		if err != nil {
			return
		}
		d.Record(typ, "", grammar.Rollup(noon, []grammar.Done{{Op: q.Op, Section: done.Section, Items: done.Items}}),
			grammar.Material(q, done, noon))
		want, before := d.String(), grammar.Parse(text)
		list := Between(k, before, grammar.Parse(want))
		same := func(body, hash string) bool { return k.Section(body) == hash }
		if err := Apply(before, typ, "e", list, same); err != nil {
			t.Fatalf("%q: %v, changes %+v", text, err, list)
		}
		if got := before.String(); got != want {
			t.Fatalf("%q: made again as\n%q\nand was\n%q", text, got, want)
		}
	})
}

// A document becomes another one that lacks some of its sections, and has new ones.
func TestSectionsGone(t *testing.T) {
	t.Parallel()
	k := seal.Key{Version: 1, Secret: make([]byte, 32)}
	for before, after := range map[string]string{
		"# T\n\n## A\n- a\n## B\n- b\n":              "# T\n\n## A\n- a\n",
		"# T\n\n## A\n- a\n## B\n- b\n## C\n":        "# T\n\n## B\n- b\n## C\n- c\n",
		"# T\n\n## A\n- 1\n## A\n- 2\n## A\n- 3\n":   "# T\n\n## A\n- 1\n## A\n- 3\n",
		"# T\n\n## A\n- a\n## B\n- b\n## C\n- c\n":   "# T\n\n## N\n- n\n## C\n- c\n## D\n- d\n",
		"# T\n\n## A\n- a\n## B\n- b\n## C\n- c\n\n": "# T\n\n",
	} {
		d := grammar.Parse(before)
		list := Between(k, d, grammar.Parse(after))
		same := func(body, hash string) bool { return k.Section(body) == hash }
		if err := Apply(d, nil, "e", list, same); err != nil {
			t.Errorf("%q to %q: %v, changes %+v", before, after, err, list)
		} else if got := d.String(); got != after {
			t.Errorf("%q became %q, want %q", before, got, after)
		}
	}
}
