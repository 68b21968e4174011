package edit

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

func TestEvidence(t *testing.T) {
	t.Parallel()
	d := newFixture(t, map[string]string{"MEMORY.md": memoryText, partFile: grammar.New(partFile, "2026-01-02T03:04:05Z")})
	e := d.open()
	event := d.edit(e, request("MEMORY.md", grammar.AppendItem, "People", "Eva")).Event
	for _, ref := range []string{event.ID, event.Token()} {
		found, err := e.Resolve(t.Context(), ref)
		switch {
		case err != nil:
			t.Errorf("%s: %v", ref, err)
		case found.Token != event.Token():
			t.Errorf("%s: found.Token = %v, want %v", ref, found.Token, event.Token())
		case found.Event == nil:
			t.Errorf("%s: found.Event is nil", ref)
		case found.Event.ID != event.ID:
			t.Errorf("%s: found.Event.ID = %q, want %q", ref, found.Event.ID, event.ID)
		case found.Event.Changes[0].Insert != "- Eva\n":
			t.Errorf("%s: found.Event.Changes[0].Insert = %q, want %q", ref, found.Event.Changes[0].Insert, "- Eva\n")
		}
	}
	const memory = "mem_1767323045678_0a1b2c"
	found, err := e.Resolve(t.Context(), memory)
	if err != nil || found.MemoryID != memory {
		t.Fatalf("%+v, %v", found, err)
	}
	if again, err := e.Resolve(t.Context(), found.Token); err != nil || again.MemoryID != memory {
		t.Errorf("%+v, %v", again, err)
	}
	for _, ref := range []string{"", "ev:1", "mem_1_000000", "01KE0QJ1BM8Y4W8D6S0T2RTX3V"} {
		if got, err := e.Resolve(t.Context(), ref); err == nil {
			t.Errorf("%q leads to %+v", ref, got)
		}
	}
	// A turn is not gone because nobody says where the session logs are.
	turn := grammar.TurnToken(d.clock.Now(), []byte("ses"), []byte("trn")).String()
	if _, err := e.Resolve(t.Context(), turn); err == nil || !strings.Contains(err.Error(), "set transcripts") {
		t.Errorf("a turn without session logs: %v", err)
	}
	// An edit of this session is evidence of the next, in its item and in the event.
	q := request(partFile, grammar.AppendItem, "Evidence (curated)", `"Eva was there"`)
	q.Refs = []string{event.ID, memory}
	done := d.edit(d.open(), q)
	if want := `- "Eva was there" (` + event.Token() + ", " + found.Token + ")\n"; !strings.Contains(d.read(partFile),
		want) || len(done.Event.Evidence) != 2 {
		t.Errorf("%+v\n%s", done, d.read(partFile))
	}
	q = request(partFile, grammar.AppendItem, "Evidence (curated)", `"x" (ev:20260102T044827Z-01KDYGJ72E0000000000000000)`)
	if _, err := e.Edit(t.Context(), q); err == nil || !strings.Contains(err.Error(), "no such event or memory") {
		t.Error(err)
	}
}

// What was made once is answered again, also if the memory that it rests on has been deleted since.
func TestRepeatedWithoutItsEvidence(t *testing.T) {
	t.Parallel()
	d := newFixture(t, map[string]string{"MEMORY.md": memoryText})
	q := request("MEMORY.md", grammar.AppendItem, "People", "Eva")
	q.Key, q.Refs = "k", []string{"mem_1767323045678_0a1b2c"}
	first := d.edit(d.open(), q)
	later := d.open()
	later.opt.Memory = func(context.Context, string) (string, error) { return "", fault.New("it was deleted") }
	if again := d.edit(later, q); !again.Repeated || again.Event.ID != first.Event.ID {
		t.Errorf("%+v", again)
	}
	q.Key = "another"
	if _, err := later.Edit(t.Context(), q); err == nil || !strings.Contains(err.Error(), "it was deleted") {
		t.Error(err)
	}
}

// Each item of evidence has its own reference, and a quote that its source does not have is marked (seed 004 §5).
func TestEvidencePairs(t *testing.T) {
	t.Parallel()
	said := map[string]string{
		"mem_1767323045678_0a1b2c": "Kate said that Eva was there.",
		"mem_1767323045679_0a1b2d": "Luis sleeps badly.",
		"mem_1767323045680_0a1b2e": "Ana sails on Sundays.",
	}
	token := map[string]string{}
	for id := range said {
		parsed, err := grammar.ParseToken(id)
		if err != nil {
			t.Fatal(err)
		}
		token[id] = parsed.String()
	}
	const eva, luis, ana = "mem_1767323045678_0a1b2c", "mem_1767323045679_0a1b2d", "mem_1767323045680_0a1b2e"
	for _, test := range []struct {
		name        string
		items, refs []string
		want        []string // lines of the file
		paraphrased int
		fault       string
	}{
		{
			name: "one each", items: []string{`"Eva was there"`, `"Luis sleeps badly"`, "Ana sails on Sundays."},
			refs: []string{eva, luis, ana}, want: []string{
				`- "Eva was there" (` + token[eva] + ")", `- "Luis sleeps badly" (` + token[luis] + ")",
				`- "Ana sails on Sundays." (` + token[ana] + ")",
			},
		},
		{
			name: "in the items", items: []string{`"Eva was there" (` + luis + ")", `"Luis sleeps badly" (` + token[luis] + ")"},
			want: []string{
				`- "Eva was there" (paraphrase; ` + token[luis] + ")", `- "Luis sleeps badly" (` + token[luis] + ")",
			}, paraphrased: 1,
		},
		{
			name: "one of several proves it", items: []string{`"Luis sleeps badly"`}, refs: []string{eva, luis},
			want: []string{`- "Luis sleeps badly" (` + token[eva] + ", " + token[luis] + ")"},
		},
		{
			name: "one for all", items: []string{`"Eva was there"`, "Eva likes it there"}, refs: []string{eva},
			want: []string{
				`- "Eva was there" (` + token[eva] + ")", "- Eva likes it there (paraphrase; " + token[eva] + ")",
			}, paraphrased: 1,
		},
		{
			name: "more than quotes", items: []string{
				`"Eva" owes "Luis" a boat`, `"Eva was there", so she may read all`, "there",
			},
			refs: []string{eva}, want: []string{
				`- "Eva" owes "Luis" a boat (paraphrase; ` + token[eva] + ")",
				`- "Eva was there", so she may read all (paraphrase; ` + token[eva] + ")",
				"- there (paraphrase; " + token[eva] + ")",
			}, paraphrased: 3,
		},
		{
			name: "in a file", items: []string{`"Luis"`}, refs: []string{"yamo://workspace/MEMORY.md"},
			want: []string{`- "Luis" (ev:`},
		},
		{
			name: "in a section", items: []string{"There are people"}, refs: []string{"MEMORY.md#People"},
			want: []string{`- There are people (paraphrase; ev:`}, paraphrased: 1,
		},
		{
			name: "two for three", items: []string{"a", "b", "c"}, refs: []string{eva, luis},
			fault: "evidence_refs: 2 references for 3 items: give one for each item",
		},
		{name: "none", items: []string{`"Eva was there"`}, fault: "evidence_refs: each item of evidence"},
		{
			name: "nowhere in the file", items: []string{`"Eva was there"`}, refs: []string{"MEMORY.md"},
			fault: "no passage of MEMORY.md has these words",
		},
		{name: "no file", items: []string{`"x"`}, refs: []string{"MEMOIRS.md"}, fault: "no such file MEMOIRS.md"},
		{name: "a lesson", items: []string{`"x"`}, refs: []string{"lesson_1_000000"}, fault: "cite its memory_id"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d := newFixture(t, map[string]string{
				"MEMORY.md": memoryText, partFile: grammar.New(partFile, "2026-01-02T03:04:05Z"),
			})
			e := d.open()
			e.opt.Memory = func(_ context.Context, id string) (string, error) {
				if said[id] == "" {
					return "", fault.New("id: there is no memory %s", id)
				}
				return said[id], nil
			}
			q := request(partFile, grammar.AppendItem, "Evidence", "")
			q.Items, q.Refs, q.Key = test.items, test.refs, "k"
			before := d.read(partFile)
			done, err := e.Edit(t.Context(), q)
			if test.fault != "" {
				if err == nil || !strings.Contains(err.Error(), test.fault) {
					t.Errorf("the error is %v", err)
				}
				if d.read(partFile) != before {
					t.Error("the file has changed")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range test.want {
				if !strings.Contains(d.read(partFile), line) {
					t.Errorf("the file lacks %s\n%s", line, d.read(partFile))
				}
			}
			if len(done.Paraphrased) != test.paraphrased {
				t.Errorf("paraphrased: %q", done.Paraphrased)
			}
			if again := d.edit(e, q); !again.Repeated {
				t.Errorf("the same request again: %+v", again)
			}
			found, err := e.CheckEvidence(t.Context())
			if err != nil || len(found) > 0 {
				t.Errorf("lint: %v, %v", found, err)
			}
		})
	}
}

// Lint finds tokens that lead nowhere, and quotes that their sources do not have; who follows a token writes nothing.
func TestCheckEvidence(t *testing.T) {
	t.Parallel()
	const written = "## Evidence (curated)\n<!-- @anchor: evidence-curated v1 -->\n"
	profile := grammar.New(partFile, "2026-01-02T03:04:05Z")
	memory, err := grammar.ParseToken("mem_1767323045678_0a1b2c")
	if err != nil {
		t.Fatal(err)
	}
	gone, err := grammar.ParseToken("mem_1767323045678_000000")
	if err != nil {
		t.Fatal(err)
	}
	d := newFixture(t, map[string]string{
		"MEMORY.md": memoryText + "\nSee ev:20260102T044827Z-01KDYGJ72E0000000000000000.\n",
		partFile: strings.Replace(profile, written, written+"\n- \"Eva was there\" ("+memory.String()+")\n"+
			"- \"Eva was not there\" ("+memory.String()+")\n- \"x\" ("+gone.String()+")\n", 1),
	})
	found, err := d.open().CheckEvidence(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, f := range found {
		lines = append(lines, f.String())
	}
	all := strings.Join(lines, "\n")
	for _, want := range []string{
		"MEMORY.md:12: error: the evidence leads nowhere", "warning: the item does not prove what it says",
		"warning: the evidence leads nowhere: there is no memory mem_1767323045678_000000",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("lint lacks %q:\n%s", want, all)
		}
	}
	if len(found) != 3 {
		t.Errorf("findings:\n%s", all)
	}
	if _, err := os.Stat(filepath.Join(d.dir, ".yamo", "private", "edits.keys")); err == nil {
		t.Error("following evidence made a key")
	}
}

// A log entry's token leads to the entry, and a later edit can quote it.
func TestCiteLogEntry(t *testing.T) {
	t.Parallel()
	d := newFixture(t, map[string]string{partFile: grammar.New(partFile, "2026-01-02T03:04:05Z")})
	e := d.open()
	logged, err := d.view.Journal().Append(t.Context(), "Walk", "Luis said he is tired.\n\nHe went home.")
	if err != nil {
		t.Fatal(err)
	}
	token, err := e.Cite(t.Context(), logged.Text)
	if err != nil {
		t.Fatal(err)
	}
	q := request(partFile, grammar.AppendItem, "Evidence", `"he is tired"`)
	q.Refs = []string{token}
	if done := d.edit(d.open(), q); len(done.Paraphrased) > 0 {
		t.Errorf("%+v", done)
	}
	found, err := e.Resolve(t.Context(), token)
	if err != nil || found.Passage == nil || found.Passage.File != logged.Name ||
		found.Passage.Text != "Luis said he is tired.\n\nHe went home." {
		t.Errorf("%+v, %v", found.Passage, err)
	}
}
