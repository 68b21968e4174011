package edit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

func proposal(file string, op grammar.Op, section, content string) Request {
	q := request(file, op, section, content)
	q.Propose = true
	return q
}

func (d *fixture) reviews(e *Editor) []Review {
	d.tb.Helper()
	list, err := e.Reviews(d.tb.Context())
	if err != nil {
		d.tb.Fatal(err)
	}
	return list
}

func (d *fixture) accept(e *Editor, id string) (Result, Changed) {
	d.tb.Helper()
	r, c, err := e.AcceptProposal(d.tb.Context(), id, "operator", "", false)
	if err != nil {
		d.tb.Fatal(err)
	}
	return r, c
}

// wants is whether err is a fault with these words.
func wants(t *testing.T, err error, words string) {
	t.Helper()
	if f, ok := fault.As(err); !ok || !strings.Contains(f.Error(), words) {
		t.Errorf("%v, want a fault with %q", err, words)
	}
}

// Proposals of one millisecond have the order of the record; the random digits of their ids take no part.
func TestProposalsOfOneMillisecond(t *testing.T) {
	t.Parallel()
	d := newFixture(t, map[string]string{"MEMORY.md": memoryText})
	e := d.open()
	d.clock.stopped = true
	var want, all, waiting []string
	for i := range 8 {
		q := proposal("MEMORY.md", grammar.AppendItem, "People", fmt.Sprintf("Person %d", i))
		want = append(want, d.edit(e, q).Event.ID)
	}
	proposals, err := e.Proposals(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range proposals {
		all = append(all, p.Event.ID)
	}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Errorf("all proposals (-want +got):\n%s", diff)
	}
	for _, r := range d.reviews(d.open()) {
		waiting = append(waiting, r.Event.ID)
	}
	if diff := cmp.Diff(want, waiting); diff != "" {
		t.Errorf("pending proposals (-want +got):\n%s", diff)
	}
}

func TestProposal(t *testing.T) {
	t.Parallel()
	d := newFixture(t, map[string]string{"MEMORY.md": memoryText})
	e := d.open()
	if _, err := e.SetPin(t.Context(), "MEMORY.md#People", OpLock, "operator"); err != nil {
		t.Fatal(err)
	}
	q := request("MEMORY.md", grammar.AppendItem, "people", "Eva")
	q.Key, q.Call, q.Refs = "k1", "call-1", []string{"mem_1767323045678_0a1b2c"}
	_, err := e.Edit(t.Context(), q)
	wants(t, err, "is locked by its owner")
	q.Propose = true
	first := d.edit(e, q)
	if d.read("MEMORY.md") != memoryText {
		t.Fatal("the proposal changed the file")
	}
	switch {
	case first.Proposal == nil:
		t.Error("proposed: first.Proposal is nil")
	case first.Proposal.State != Pending:
		t.Errorf("proposed: first.Proposal.State = %v, want %v", first.Proposal.State, Pending)
	case first.Event.Op != OpPropose:
		t.Errorf("proposed: first.Event.Op = %q, want %q", first.Event.Op, OpPropose)
	case first.Event.Before == "":
		t.Error("proposed: first.Event.Before is empty")
	case first.Event.After != "":
		t.Errorf("proposed: first.Event.After = %q, want none", first.Event.After)
	case first.Repeated:
		t.Error("proposed: first.Repeated = true")
	}
	// The same again, in another process, with and without the key: the first.
	for _, key := range []string{"k1", ""} {
		q.Key = key
		switch again := d.edit(d.open(), q); {
		case !again.Repeated:
			t.Errorf("asked again with %q: again.Repeated = false", key)
		case again.Event.ID != first.Event.ID:
			t.Errorf("asked again with %q: again.Event.ID = %q, want %q", key, again.Event.ID, first.Event.ID)
		case again.Proposal.State != Pending:
			t.Errorf("asked again with %q: again.Proposal.State = %v, want %v", key, again.Proposal.State, Pending)
		}
	}
	list := d.reviews(d.open())
	if len(list) != 1 {
		t.Fatalf("%+v", list)
	}
	r := list[0]
	want := strings.Replace(memoryText, "- Luis\n", "- Luis\n- Eva\n", 1)
	switch diff := cmp.Diff(&Asked{Op: grammar.AppendItem, Section: "people", Content: "Eva"}, r.Event.Asked); {
	case diff != "":
		t.Errorf("-want +got:\n%s", diff)
	case r.Would.Before != memoryText:
		t.Errorf("r.Would.Before = %q, want %q", r.Would.Before, memoryText)
	case r.Would.After != want:
		t.Errorf("r.Would.After = %q, want %q", r.Would.After, want)
	case r.Changed:
		t.Error("r.Changed = true")
	case r.Pin != OpLock:
		t.Errorf("r.Pin = %v, want %v", r.Pin, OpLock)
	case r.Problem != "":
		t.Errorf("r.Problem = %q, want none", r.Problem)
	}
	switch all, err := e.Proposals(t.Context()); {
	case err != nil:
		t.Error(err)
	case len(all) != 1:
		t.Errorf("len(all) = %v, want 1", len(all))
	case all[0].State != Pending:
		t.Errorf("all[0].State = %v, want %v", all[0].State, Pending)
	case all[0].Event.Asked != nil:
		t.Errorf("all[0].Event.Asked = %v, want nil", all[0].Event.Asked)
	}
	done, changed := d.accept(d.open(), first.Event.Token())
	switch got := d.read("MEMORY.md"); {
	case got != want:
		t.Errorf("got = %v, want %v", got, want)
	case changed.Before != memoryText:
		t.Errorf("changed.Before = %q, want %q", changed.Before, memoryText)
	case changed.After != want:
		t.Errorf("changed.After = %q, want %q", changed.After, want)
	}
	switch ev := done.Event; {
	case ev.Op != "append_item":
		t.Errorf("the edit: ev.Op = %q, want %q", ev.Op, "append_item")
	case ev.RefersTo != first.Event.ID:
		t.Errorf("the edit: ev.RefersTo = %v, want %v", ev.RefersTo, first.Event.ID)
	case ev.Actor != "operator":
		t.Errorf("the edit: ev.Actor = %q, want %q", ev.Actor, "operator")
	case ev.Rationale != "so it is":
		t.Errorf("the edit: ev.Rationale = %q, want %q", ev.Rationale, "so it is")
	case len(ev.Evidence) != 1:
		t.Errorf("the edit: len(ev.Evidence) = %v, want 1", len(ev.Evidence))
	case !slices.Equal(ev.Evidence, first.Event.Evidence):
		t.Error("the edit: other evidence than the proposal")
	}
	q.Key = "k1"
	switch again := d.edit(e, q); {
	case again.Proposal == nil:
		t.Error("asked after: again.Proposal is nil")
	case again.Proposal.State != Accepted:
		t.Errorf("asked after: again.Proposal.State = %v, want %v", again.Proposal.State, Accepted)
	case again.Proposal.Decision.ID != done.Event.ID:
		t.Errorf("asked after: again.Proposal.Decision.ID = %q, want %q", again.Proposal.Decision.ID, done.Event.ID)
	}
	switch found, err := e.Resolve(t.Context(), first.Event.Token()); {
	case err != nil:
		t.Error(err)
	case found.State != Accepted:
		t.Errorf("found.State = %v, want %v", found.State, Accepted)
	case found.Decision.ID != done.Event.ID:
		t.Errorf("found.Decision.ID = %q, want %q", found.Decision.ID, done.Event.ID)
	case found.Event.Asked == nil:
		t.Error("found.Event.Asked is nil")
	}
	_, _, err = e.AcceptProposal(t.Context(), first.Event.ID, "operator", "", false)
	wants(t, err, "already accepted at")
	_, err = e.RejectProposal(t.Context(), first.Event.ID, "operator", "")
	wants(t, err, "already accepted at")
	if r := d.replay(d.open(), "MEMORY.md", ""); r.Text != want || r.Drift != nil {
		t.Errorf("%+v", r)
	}
	if v, err := e.Verify(t.Context()); err != nil || v.Events != 4 {
		t.Errorf("%+v, %v", v, err)
	}
}

func TestRejectedProposal(t *testing.T) {
	t.Parallel()
	d := newFixture(t, map[string]string{"MEMORY.md": memoryText})
	e := d.open()
	q := proposal("MEMORY.md", grammar.ReplaceSection, "Plans", "Sail.")
	q.Key = "k"
	first := d.edit(e, q)
	p, err := d.open().RejectProposal(t.Context(), first.Event.ID, "operator", " we stay\n\x1b\u202ehere ")
	switch {
	case err != nil:
		t.Fatal(err)
	case p.State != Rejected:
		t.Fatalf("p.State = %v, want %v", p.State, Rejected)
	case p.Why() != "we stay here":
		t.Fatalf("p.Why() = %q, want %q", p.Why(), "we stay here")
	}
	if again := d.edit(e, q); again.Proposal.State != Rejected || again.Proposal.Why() != "we stay here" {
		t.Errorf("asked again: %+v", again)
	}
	q.Key = ""
	if again := d.edit(e, q); !again.Repeated || again.Proposal.State != Rejected {
		t.Errorf("the same without its key: %+v", again)
	}
	q.Content = "Sail to Oslo."
	if other := d.edit(e, q); other.Repeated {
		t.Errorf("another: %+v", other)
	}
	events, err := e.History(t.Context(), "MEMORY.md", "plans")
	if got := fmt.Sprint(ops(events)); err != nil || got != "[propose reject propose]" {
		t.Errorf("%s, %v", got, err)
	}
	switch c, err := e.Diff(t.Context(), "MEMORY.md", "", ""); {
	case err != nil:
		t.Error(err)
	case c.Before != memoryText:
		t.Errorf("c.Before = %q, want %q", c.Before, memoryText)
	case c.After != memoryText:
		t.Errorf("c.After = %q, want %q", c.After, memoryText)
	}
	_, err = e.RejectProposal(t.Context(), "01KDYGJ72E01PPAV80000018PC", "operator", "")
	wants(t, err, "no such proposal")
	_, err = e.RejectProposal(t.Context(), first.Event.ID, "operator", "hunter2")
	wants(t, err, "why: ")
}

// A request that is no valid edit is no valid proposal either, and writes nothing.
func TestProposalRefused(t *testing.T) {
	t.Parallel()
	d := newFixture(t, map[string]string{
		"MEMORY.md": memoryText, partFile: grammar.New(partFile, "2026-01-02T03:04:05Z"), "SOUL.md": "# S\n",
	})
	e := d.open()
	long := proposal(partFile, grammar.ReplaceSection, "Role", strings.Repeat("word ", grammar.NarrativeWords+1))
	unfounded := proposal("MEMORY.md", grammar.AppendItem, "People", "Eva")
	unfounded.Refs = []string{"mem_1767323045678_ffffff"}
	stale := proposal("MEMORY.md", grammar.AppendItem, "People", "Eva")
	stale.Expected = "0"
	for words, q := range map[string]Request{
		"override_rationale: ":    long,
		"there is no memory":      unfounded,
		"expected_hash: ":         stale,
		"yamo-mcp reconfigure":    proposal("SOUL.md", grammar.AppendSection, "", "x"),
		"content: the text conta": proposal("MEMORY.md", grammar.AppendItem, "People", "hunter2"),
		"no section":              proposal("MEMORY.md", grammar.AppendItem, "Birds", "x"),
		"no such file notes/x.md": proposal("notes/x.md", grammar.AppendSection, "", "x"),
		"op: ":                    proposal(partFile, grammar.AppendItem, "Role", "x"),
	} {
		_, err := e.Edit(t.Context(), q)
		wants(t, err, words)
	}
	if list := d.reviews(e); len(list) != 0 {
		t.Errorf("%+v", list)
	}
	for i := range MaxWaiting {
		d.edit(e, proposal("MEMORY.md", grammar.AppendItem, "People", fmt.Sprint("p", i)))
	}
	_, err := e.Edit(t.Context(), proposal("MEMORY.md", grammar.AppendItem, "People", "one more"))
	wants(t, err, "already 100 pending proposals")
	if list := d.reviews(e); len(list) != MaxWaiting {
		t.Errorf("%d wait", len(list))
	}
}

// Whatever is proposed, decided, edited and changed by hand, and wherever it is killed: a proposal changes no file,
// what was accepted is in the file once, each proposal is decided about at most once, and replays give the files.
func TestProposalsAndDecisions(t *testing.T) {
	t.Parallel()
	names := []string{"MEMORY.md", partFile}
	rapid.Check(t, func(r *rapid.T) {
		d := newFixture(t, map[string]string{
			"MEMORY.md": memoryText, partFile: grammar.New(partFile, "2026-01-02T03:04:05Z"),
		})
		defer func() { _ = os.RemoveAll(filepath.Join(d.dir, ".yamo")) }()
		e := d.open()
		count := 0
		texts, states := map[string]string{}, map[string]string{} // of proposals, by id
		files := func() (all string) {
			for _, name := range names {
				all += d.read(name)
			}
			return all
		}
		draw := func(r *rapid.T) Request {
			count++
			q := request(rapid.SampledFrom(names).Draw(r, "file"), rapid.SampledFrom(grammar.Ops[:4]).Draw(r, "op"),
				rapid.SampledFrom([]string{"People", "Plans", "Role", "Allies"}).Draw(r, "section"), "")
			if text := fmt.Sprintf("entry %d.", count); q.Op == grammar.AppendItem || q.Op == grammar.CurateItems {
				q.Items = []string{text}
			} else {
				q.Content = text
			}
			return q
		}
		killed := func(r *rapid.T) (revive func()) {
			at := rapid.SampledFrom([]string{"", "", "recorded", "replaced"}).Draw(r, "killed")
			stopAt(e, at)
			return func() {
				if e.crash = nil; at != "" {
					e = d.open()
					mustRecover(d, e)
				}
			}
		}
		refused := func(r *rapid.T, err error) {
			if _, ok := fault.As(err); err != nil && !ok && !errors.Is(err, errCrash) && !errors.Is(err, ErrChanged) {
				r.Fatal(err)
			}
		}
		some := func(r *rapid.T) (id string) {
			list := d.reviews(e)
			if len(list) == 0 {
				r.Skip("nothing waits")
			}
			p := list[rapid.IntRange(0, len(list)-1).Draw(r, "which")].Event
			texts[p.ID] = p.Asked.Content + strings.Join(p.Asked.Items, "")
			return p.ID
		}
		r.Repeat(map[string]func(*rapid.T){
			"propose": func(r *rapid.T) {
				q := draw(r)
				q.Propose = true
				before := files()
				revive := killed(r)
				result, err := e.Edit(t.Context(), q)
				revive()
				refused(r, err)
				if files() != before {
					r.Fatalf("a proposal changed\n%s\nto\n%s", before, files())
				}
				if err == nil {
					states[result.Event.ID] = Pending
				}
			},
			"accept": func(r *rapid.T) {
				id := some(r)
				revive := killed(r)
				_, c, err := e.AcceptProposal(t.Context(), id, "operator", "", rapid.Bool().Draw(r, "anyway"))
				revive()
				refused(r, err)
				if err == nil {
					if states[id] == Rejected {
						r.Fatalf("%s was accepted after it was rejected:\n%s", id, files())
					}
					if n := strings.Count(files(), texts[id]); n != 1 {
						r.Fatalf("%s, %s, was accepted and is there %d times:\n%s", id, states[id], n, files())
					}
					if !strings.Contains(c.After, texts[id]) {
						r.Fatalf("%s was accepted, and the change lacks %q:\n%s", id, texts[id], c.After)
					}
					states[id] = Accepted
				}
			},
			"reject": func(r *rapid.T) {
				id := some(r)
				revive := killed(r)
				_, err := e.RejectProposal(t.Context(), id, "operator", "no")
				revive()
				refused(r, err)
				if err == nil {
					states[id] = Rejected
				}
			},
			"edit": func(r *rapid.T) {
				revive := killed(r)
				_, err := e.Edit(t.Context(), draw(r))
				revive()
				refused(r, err)
			},
			"hand": func(r *rapid.T) {
				name := rapid.SampledFrom(names).Draw(r, "file")
				d.write(name, d.read(name)+"\nby hand\n")
			},
			"rotate": func(r *rapid.T) {
				_, err := e.RotateKey(t.Context(), "operator")
				refused(r, err)
			},
			"": func(r *rapid.T) {
				if rapid.IntRange(0, 3).Draw(r, "look") > 0 {
					return
				}
				e := d.open()
				mustRecover(d, e)
				all, err := e.Proposals(t.Context())
				if err != nil {
					r.Fatal(err)
				}
				for _, p := range all {
					// What was killed may have been decided all the same.
					if state := states[p.Event.ID]; p.State == Pending && state != "" && state != Pending {
						r.Fatalf("%s was %s and waits", p.Event.ID, state)
					}
				}
				for _, name := range names {
					replayed, err := e.Replay(t.Context(), name, "")
					if _, never := fault.As(err); never {
						continue
					}
					switch {
					case err != nil:
						r.Fatal(err)
					case replayed.Drift != nil:
						r.Fatalf("replayed.Drift = %v, want nil", replayed.Drift)
					case replayed.Text != d.read(name):
						r.Fatalf("replayed.Text = %q, want %q", replayed.Text, d.read(name))
					}
				}
				if _, err := e.Verify(t.Context()); err != nil {
					r.Fatal(err)
				}
			},
		})
	})
}
