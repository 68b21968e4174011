package edit

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// Lines of the record as they were written before events had an origin.
func TestOriginOfOldRecords(t *testing.T) {
	t.Parallel()
	sweep := func(rationale string) string {
		return `{"event_id":"01KHCHZ0G8Y4W8D6S0T2RTX3V0","file_path":"MEMORY.md","op":"append_item","section":"Dreamed ` +
			`2026-02-14 03:00 UTC",` +
			`"rationale":"` + rationale + `","evidence_refs":["ev:20260102T030405Z-01KDYAK3SE01PPAV800000M6SC"],` +
			`"idempotency_key":"","actor":"main"}`
	}
	counts := Sweep{Recalls: 12, Memories: 5, Days: 30, Promoted: []string{"mem_1767323045678_0a1b2c"}}
	held := counts
	held.Held = []string{"mem_1_a", "mem_2_b"}
	const promoted = "dreaming: 12 recalls of 5 memories in 30 days; promoted mem_1767323045678_0a1b2c"
	tests := map[string]struct {
		line string
		want Origin
	}{
		"sweep":           {sweep(promoted), Origin{FromSweep, &counts}},
		"sweep with held": {sweep(promoted + "; held back for a person mem_1_a, mem_2_b"), Origin{FromSweep, &held}},
		"sweep with many held": {
			sweep(promoted + "; held back for a person mem_1_a, mem_2_b and 3 more"), Origin{FromSweep, &held},
		},
		"reason like a sweep's": {sweep("dreaming: of the sea"), Origin{Source: FromSession}},
		"diary": {
			`{"file_path":"DREAMS.md","op":"append_item","idempotency_key":"dream:01KHCHZ0G8Y4W8D6S0T2RTX3V0"}`,
			Origin{Source: FromDiary},
		},
		"session":  {`{"file_path":"MEMORY.md","op":"replace_section"}`, Origin{Source: FromSession}},
		"proposal": {`{"file_path":"MEMORY.md","op":"propose"}`, Origin{Source: FromSession}},
		"accepted proposal": {
			`{"file_path":"MEMORY.md","op":"append_item","refers_to":"01KHCHZ0G8Y4W8D6S0T2RTX3V0"}`,
			Origin{Source: FromProposal},
		},
		"pin":            {`{"file_path":"MEMORY.md","op":"pin","actor":"operator"}`, Origin{Source: FromCommand}},
		"change by hand": {`{"file_path":"MEMORY.md","op":"observed","actor":"hand"}`, Origin{Source: FromHand}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var event Event
			if err := json.Unmarshal([]byte(test.line), &event); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, event.MadeBy()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// An event's recorded origin is not inferred from its words.
func TestOriginIsRecorded(t *testing.T) {
	t.Parallel()
	d := newFixture(t, map[string]string{"MEMORY.md": memoryText})
	e := d.open()
	q := request("MEMORY.md", grammar.AppendItem, "Dreamed 2026-02-14 03:00 UTC", "an item")
	q.Create, q.Rationale = true, "dreaming: 1 recalls of 1 memories in 30 days; promoted mem_1767323045678_0a1b2c"
	d.edit(e, q)
	q = request("MEMORY.md", grammar.AppendItem, "People", "Eva")
	sweep := Sweep{Recalls: 3, Memories: 2, Days: 30, Promoted: []string{"mem_1767323045678_0a1b2c"}}
	q.Origin = Origin{FromSweep, &sweep}
	d.edit(e, q)
	if _, err := e.SetPin(t.Context(), "MEMORY.md#People", OpPin, "operator"); err != nil {
		t.Fatal(err)
	}
	events, err := d.open().History(t.Context(), "MEMORY.md", "")
	if err != nil {
		t.Fatal(err)
	}
	var got []Origin
	for _, event := range events {
		got = append(got, event.MadeBy())
	}
	want := []Origin{{Source: FromHand}, {Source: FromSession}, {FromSweep, &sweep}, {Source: FromCommand}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
