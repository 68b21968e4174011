package mesh

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

func TestHeritage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := open(t, dir, audience.DM(), model(t))
	id := keep(t, v, record.Memory{Content: "The pump is controlled by the old relay."}).ID
	other := keep(t, v, record.Memory{Content: "The greenhouse has twelve windows."}).ID
	settle(t, v) // the row is there before the heritage
	var long []string
	for i := range 7 {
		long = append(long, fmt.Sprint("level ", i))
	}
	for _, h := range []record.Heritage{
		{IntentChain: []string{"first"}},
		{IntentChain: long, Hypotheses: []string{"ask kim@example.org about the zirconium relay"}},
	} {
		if _, err := v.InsertHeritage(t.Context(), id, h); err != nil {
			t.Fatal(err)
		}
	}
	want := record.Heritage{
		IntentChain: long[2:], Hypotheses: []string{"ask [REDACTED:email] about the zirconium relay"},
		Rationales: []string{},
	}
	settle(t, v)
	for _, view := range []*View{v, open(t, dir, audience.DM(), model(t))} {
		hit, err := view.Get(t.Context(), id)
		if err != nil || hit.Heritage == nil {
			t.Fatalf("get: %+v, %v", hit, err)
		}
		if diff := cmp.Diff(want, *hit.Heritage); diff != "" {
			t.Errorf("heritage (-want +got):\n%s", diff)
		}
		settle(t, view)
	}
	c, err := v.open(record.Private)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := c.index.Tables.Memories(t.Context(), []string{id, other}, false)
	switch {
	case err != nil:
		t.Fatal(err)
	case len(rows) != 2:
		t.Fatalf("len(rows) = %v, want 2", len(rows))
	case rows[1].HeritageChain != "":
		t.Fatalf(`rows[1].HeritageChain = %v, want ""`, rows[1].HeritageChain)
	}
	const chain = `{"intentChain":["level 2","level 3","level 4","level 5","level 6"],` +
		`"hypotheses":["ask [REDACTED:email] about the zirconium relay"],"rationales":[]}`
	if rows[0].HeritageChain != chain {
		t.Errorf("heritage_chain is %s", rows[0].HeritageChain)
	}
	if hits := search(t, v, SearchRequest{Query: "relay of the pump"}).Hits; len(hits) == 0 || hits[0].ID != id {
		t.Errorf("found %q", contents(hits))
	}
	if err := v.Delete(t.Context(), id, ""); err != nil {
		t.Fatal(err)
	}
	if files := onDisk(t, dir, "zirconium relay"); len(files) > 0 {
		t.Errorf("the heritage of a deleted memory is still in %v", files)
	}
}

func TestHeritageRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	dm, red := open(t, dir, audience.DM(), new(words)), open(t, dir, group(t, "red"), new(words))
	shared := keep(t, dm, record.Memory{Content: "for all"}, record.Shared).ID
	theirs := keep(t, red, record.Memory{Content: "for red"}).ID
	private := keep(t, dm, record.Memory{Content: "for me"}).ID
	h := record.Heritage{IntentChain: []string{"an intent"}}
	for name, test := range map[string]struct {
		view *View
		id   string
		h    record.Heritage
		part string
	}{
		"a DM, of a shared memory":     {dm, shared, h, "shared"},
		"a DM, of a group's memory":    {dm, theirs, h, "group:red"},
		"a group, of a shared memory":  {red, shared, h, "shared"},
		"a group, of a private memory": {red, private, h, "id: no memory \""},
		"nothing":                      {dm, private, record.Heritage{}, "heritage:"},
		"an empty level":               {dm, private, record.Heritage{Rationales: []string{" "}}, "rationales:"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := test.view.InsertHeritage(t.Context(), test.id, test.h)
			wantFault(t, err, test.part)
		})
	}
}

func TestHeritageDepth(t *testing.T) {
	t.Parallel()
	v := Open(Options{Dir: t.TempDir() + "/.yamo", Audience: audience.DM(), Embedder: new(words), HeritageDepth: 2})
	t.Cleanup(func() { _ = v.Close(context.Background()) })
	kept, err := v.InsertHeritage(t.Context(), keep(t, v, record.Memory{Content: "x"}).ID,
		record.Heritage{IntentChain: []string{"1", "2", "3"}})
	if diff := cmp.Diff([]string{"2", "3"}, kept.IntentChain); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
