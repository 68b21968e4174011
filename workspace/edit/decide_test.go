package edit

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// A section that has changed since the proposal was made is not overwritten, but added to.
func TestProposalForAChangedSection(t *testing.T) {
	t.Parallel()
	d := newFixture(t, map[string]string{"MEMORY.md": memoryText})
	e := d.open()
	replacing := d.edit(e, proposal("MEMORY.md", grammar.ReplaceSection, "Plans", "Sail."))
	adding := d.edit(e, proposal("MEMORY.md", grammar.AppendItem, "People", "Eva"))
	gone := d.edit(e, proposal("MEMORY.md", grammar.AppendSection, "Plans", "And back."))
	untouched := d.edit(e, proposal("MEMORY.md", grammar.ReplaceSection, "", "What lasts."))
	d.write("MEMORY.md", strings.NewReplacer("none", "Walk.", "- Luis\n", "- Luis\n- Uwe\n").Replace(memoryText))
	if _, err := e.RotateKey(t.Context(), "operator"); err != nil {
		t.Fatal(err)
	}
	for _, r := range d.reviews(e) {
		switch {
		case r.Changed == (r.Event.ID == untouched.Event.ID):
			t.Errorf("r.Changed is %v", r.Changed)
		case r.Problem != "":
			t.Errorf("r.Problem = %q, want none", r.Problem)
		case !strings.Contains(r.Would.Before, "Walk."):
			t.Errorf("%q lacks %q", r.Would.Before, "Walk.")
		}
	}
	_, _, err := e.AcceptProposal(t.Context(), replacing.Event.ID, "operator", "", false)
	if !errors.Is(err, ErrChanged) || !strings.Contains(d.read("MEMORY.md"), "Walk.") {
		t.Fatal(err)
	}
	switch c, err := e.Diff(t.Context(), "MEMORY.md", replacing.Event.ID, ""); {
	case err != nil:
		t.Errorf("what changed since: %v", err)
	case c.Before != memoryText:
		t.Errorf("what changed since: c.Before = %q, want %q", c.Before, memoryText)
	case !strings.Contains(c.After, "Walk."):
		t.Errorf("what changed since: %q lacks %q", c.After, "Walk.")
	}
	d.accept(e, adding.Event.ID)
	d.accept(e, untouched.Event.ID)
	if _, _, err := e.AcceptProposal(t.Context(), replacing.Event.ID, "operator", "", true); err != nil {
		t.Fatal(err)
	}
	switch got := d.read("MEMORY.md"); {
	case !strings.Contains(got, "- Uwe\n- Eva\n"):
		t.Errorf("%q lacks %q", got, "- Uwe\n- Eva\n")
	case !strings.Contains(got, "Sail."):
		t.Errorf("%q lacks %q", got, "Sail.")
	case strings.Contains(got, "Walk."):
		t.Errorf("%q contains %q", got, "Walk.")
	}
	d.write("MEMORY.md", "# Memory\n")
	_, _, err = e.AcceptProposal(t.Context(), gone.Event.ID, "operator", "", true)
	wants(t, err, "no section")
	list := d.reviews(e)
	if len(list) != 1 || !strings.Contains(list[0].Problem, "no section") {
		t.Errorf("%+v", list)
	}
}

// The files that a proposal makes are made when it is accepted; a cap needs a reason, then as now.
func TestProposalOfANewFile(t *testing.T) {
	t.Parallel()
	d := newFixture(t, nil)
	e := d.open()
	q := proposal(partFile, grammar.AppendSection, "Role", strings.Repeat("word ", grammar.NarrativeWords-1))
	q.Create = true
	first := d.edit(e, q)
	if _, err := os.Stat(filepath.Join(d.dir, partFile)); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("the proposal made the file: %v", err)
	}
	if _, err := e.Replay(t.Context(), partFile, ""); err == nil {
		t.Error("there is something to replay")
	}
	d.accept(e, first.Event.ID)
	again := d.edit(e, proposal(partFile, grammar.AppendSection, "Role", "and"))
	d.edit(e, request(partFile, grammar.AppendSection, "Role", "more"))
	_, _, err := e.AcceptProposal(t.Context(), again.Event.ID, "operator", "", false)
	wants(t, err, "401 words")
	if _, _, err := e.AcceptProposal(t.Context(), again.Event.ID, "operator", "until Monday", false); err != nil {
		t.Fatal(err)
	}
	if got := d.read(partFile); !strings.Contains(got, "401 words, more than the 400 of its cap: until Monday") {
		t.Errorf("the file is\n%s", got)
	}
	if r := d.replay(d.open(), partFile, ""); r.Text != d.read(partFile) {
		t.Errorf("%+v", r)
	}
}

// Of several processes that decide at once, one does.
func TestDecidedOnce(t *testing.T) {
	t.Parallel()
	d := newFixture(t, map[string]string{"MEMORY.md": memoryText})
	first := d.edit(d.open(), proposal("MEMORY.md", grammar.AppendItem, "People", "Eva"))
	const n = 8
	errs := make(chan error, n)
	for i := range n {
		e := d.open()
		go func() {
			var err error
			if i%2 == 0 {
				_, _, err = e.AcceptProposal(t.Context(), first.Event.ID, "operator", "", false)
			} else {
				_, err = e.RejectProposal(t.Context(), first.Event.ID, "operator", "no")
			}
			errs <- err
		}()
	}
	decided := 0
	for range n {
		if err := <-errs; err == nil {
			decided++
		} else {
			wants(t, err, "at 2026-02-14T")
		}
	}
	all, err := d.open().Proposals(t.Context())
	switch {
	case err != nil:
		t.Errorf("decided %d times: %v", decided, err)
	case decided != 1:
		t.Errorf("decided %d times, want 1", decided)
	case len(all) != 1:
		t.Errorf("decided %d times: len(all) = %v, want 1", decided, len(all))
	case (all[0].State == Accepted) != strings.Contains(d.read("MEMORY.md"), "- Eva"):
		t.Errorf("decided %d times: the state is %v, which the file does not show", decided, all[0].State)
	}
}

// An acceptance that was killed is finished by the next start, or the proposal waits again.
func TestInterruptedAcceptance(t *testing.T) {
	t.Parallel()
	for _, quicker := range []bool{false, true} {
		d := newFixture(t, map[string]string{"MEMORY.md": memoryText})
		first := d.edit(d.open(), proposal("MEMORY.md", grammar.AppendItem, "People", "Eva"))
		dying := d.open()
		stopAt(dying, "recorded")
		if _, _, err := dying.AcceptProposal(t.Context(), first.Event.ID, "operator", "", false); !errors.Is(err, errCrash) {
			t.Fatal(err)
		}
		if quicker {
			d.write("MEMORY.md", memoryText+"\nby hand\n")
		}
		e := d.open()
		mustRecover(d, e)
		if got := strings.Contains(d.read("MEMORY.md"), "Eva"); got == quicker {
			t.Errorf("changed by hand %t: the file has it: %t", quicker, got)
		}
		if got := len(d.reviews(e)) == 1; got != quicker {
			t.Errorf("changed by hand %t: it waits: %t", quicker, got)
		}
		if quicker {
			d.accept(e, first.Event.ID)
		}
		if r := d.replay(d.open(), "MEMORY.md", ""); r.Text != d.read("MEMORY.md") || !strings.Contains(r.Text, "Eva") {
			t.Errorf("%+v", r)
		}
	}
}
