package edit

import (
	"errors"
	"fmt"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// offer offers a statement and reports whether it became a proposal.
func (d *fixture) offer(e *Editor, statement, same string) bool {
	d.tb.Helper()
	made, err := e.Offer(d.tb.Context(), request("MEMORY.md", grammar.AppendItem, "People", statement), same)
	if err != nil {
		d.tb.Fatal(err)
	}
	return made
}

// A statement is offered once, by whatever process, in whatever spelling, and whatever became of the first offer.
func TestOfferedOnce(t *testing.T) {
	t.Parallel()
	d := newFixture(t, map[string]string{"MEMORY.md": memoryText})
	e, other := d.open(), d.open()
	for _, name := range []string{"pending", "accepted", "rejected"} {
		if !d.offer(e, name, name) {
			t.Fatalf("%s: not offered", name)
		}
	}
	if got := d.read("MEMORY.md"); got != memoryText {
		t.Errorf("an offer changed the file:\n%s", got)
	}
	waiting := d.reviews(e)
	if len(waiting) != 3 || waiting[0].Event.MadeBy().Source != FromTalk {
		t.Fatalf("%d are pending: %+v", len(waiting), waiting)
	}
	d.accept(e, waiting[1].Event.ID)
	if _, err := e.RejectProposal(t.Context(), waiting[2].Event.ID, "operator", "no"); err != nil {
		t.Fatal(err)
	}
	neverOffered := func(when string) {
		t.Helper()
		for who, e := range map[string]*Editor{"the one": e, "the other": other, "the next": d.open()} {
			for _, name := range []string{"pending", "accepted", "rejected"} {
				if d.offer(e, name+"!", name) {
					t.Errorf("%s: %s offers what is %s", when, who, name)
				}
			}
		}
	}
	neverOffered("at once")
	if _, err := e.RotateKey(t.Context(), "operator"); err != nil {
		t.Fatal(err)
	}
	neverOffered("with another key")
	if _, err := e.Erase(t.Context(), "MEMORY.md", "operator", "asked for"); err != nil {
		t.Fatal(err)
	}
	neverOffered("after it was erased")
	if !d.offer(other, "another", "another") {
		t.Error("another statement is not offered")
	}
}

// Offers leave room for the agent's own proposals.
func TestOffersAreLimited(t *testing.T) {
	t.Parallel()
	d := newFixture(t, map[string]string{"MEMORY.md": memoryText})
	e := d.open()
	for i := range MaxOffered {
		if !d.offer(e, fmt.Sprint("statement ", i), fmt.Sprint(i)) {
			t.Fatalf("statement %d is not offered", i)
		}
	}
	q := request("MEMORY.md", grammar.AppendItem, "People", "one more")
	if _, err := e.Offer(t.Context(), q, "more"); !errors.Is(err, ErrOffered) {
		t.Errorf("one more: %v, want ErrOffered", err)
	}
	d.edit(e, proposal("MEMORY.md", grammar.AppendItem, "People", "the agent's own"))
	d.accept(e, d.reviews(e)[0].Event.ID)
	if !d.offer(e, "one more", "more") {
		t.Error("it is not offered when there is room again")
	}
}
