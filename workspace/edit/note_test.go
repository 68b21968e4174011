package edit

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// notes are what a record beside the one of edits is told of revisions.
type notes struct{ got []workspace.Note }

func (n *notes) Check(context.Context) error { return nil }

func (n *notes) Record(_ context.Context, r workspace.Revision) error {
	n.got = append(n.got, r.Note)
	return nil
}

// An edit is noted with its reason and its tokens, once, also where another process has to finish it, and what decides
// about drifts is noted too.
func TestNotes(t *testing.T) {
	t.Parallel()
	var told notes
	d := newFixture(t, map[string]string{"MEMORY.md": memoryText}, workspace.WithRecorder(&told, true))
	q := request("MEMORY.md", grammar.AppendItem, "People", "Eva")
	q.Key, q.Refs = "k", []string{"mem_1767323045678_0a1b2c"}
	e := d.open()
	first := d.edit(e, q)
	d.edit(e, q)
	dying := d.open()
	stopAt(dying, "recorded")
	if _, err := dying.Edit(t.Context(), request("MEMORY.md", grammar.AppendSection, "Plans", "sail")); !errors.Is(err,
		errCrash) {
		t.Fatal(err)
	}
	e = d.open()
	mustRecover(d, e)
	d.write("MEMORY.md", "# Memory\n")
	if err := e.Restore(t.Context(), "MEMORY.md", "operator", "by mistake"); err != nil {
		t.Fatal(err)
	}
	events, err := e.History(t.Context(), "MEMORY.md", "")
	if err != nil {
		t.Fatal(err)
	}
	token := func(op string) string {
		for _, event := range events {
			if event.Op == op {
				return event.Token()
			}
		}
		t.Fatalf("there is no event %s", op)
		return ""
	}
	want := []workspace.Note{
		{
			Subject: "MEMORY.md: append_item in People", Body: "so it is",
			Trailers: []string{"Event: " + first.Event.Token(), "Evidence: " + first.Event.Evidence[0]},
		},
		{
			Subject: "MEMORY.md: append_section in Plans", Body: "so it is",
			Trailers: []string{"Event: " + token("append_section")},
		},
		{Subject: "MEMORY.md: restore", Body: "by mistake", Trailers: []string{"Event: " + token(OpRestore)}},
	}
	if diff := cmp.Diff(want, told.got); diff != "" {
		t.Errorf("the notes (-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(first.Event.Evidence[0], "ev:") {
		t.Errorf("the evidence %q is no token", first.Event.Evidence[0])
	}
}

// A record of what groups may read does not show reasons and evidence, which come from direct conversations.
func TestPublicNoteHasNoReason(t *testing.T) {
	t.Parallel()
	for _, private := range []bool{false, true} {
		told := &notes{}
		d := newFixture(t, map[string]string{"AGENTS.md": "# Agents\n\n## Safety\n\nAsk.\n"},
			workspace.WithRecorder(told, private))
		q := request("AGENTS.md", grammar.AppendSection, "Safety", "Ask twice.")
		q.Rationale, q.Refs, q.Consent = "Ana is ill", []string{"mem_1767323045678_0a1b2c"}, "person"
		q.Override = "until Ana is well"
		d.edit(d.open(), q)
		if len(told.got) != 1 {
			t.Fatalf("private %v: %+v", private, told.got)
		}
		got := told.got[0]
		all := got.Subject + got.Body + strings.Join(got.Trailers, "\n")
		if strings.Contains(all, "Ana") != private || strings.Contains(all, "Evidence: ") != private {
			t.Errorf("private %v: %q", private, all)
		}
		if !strings.Contains(all, "Event: ev:") {
			t.Errorf("private %v: %q names no event", private, all)
		}
	}
}
