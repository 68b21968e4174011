package mesh

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

// minutes is a text of about n words, every sentence another one and none about anything that a test asks for.
func minutes(n int) string {
	who := []string{
		"The treasurer", "A neighbour", "The caretaker", "One of the owners", "The architect", "The accountant",
	}
	did := []string{
		"presented the figures of the quarter", "asked about the order of the agenda",
		"read the letter of the insurance company aloud",
		"explained why the invoice had been late", "proposed to postpone the vote", "thanked everybody for coming",
	}
	then := []string{
		"and the assembly took note of it", "which nobody objected to", "before the next item was called",
		"and two abstained", "as it had been agreed in spring",
	}
	var b strings.Builder
	for i := 0; len(strings.Fields(b.String())) < n; i++ {
		fmt.Fprintf(&b, "%s %s under item %d, %s. ", who[i%6], did[i/6%6], i, then[i%5])
		if i%8 == 7 {
			b.WriteString("\n\n")
		}
	}
	return b.String()
}

// A fact at the end of a long memory is found by a question that shares no word with it, in one result; the memory is
// acknowledged as soon as it is in the ledger.
func TestFactDeepInALongMemory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := open(t, dir, audience.DM(), model(t))
	text := minutes(2900) + "\n\nThe sleeper berth to Oslo leaves on 3 May.\n\n" + minutes(100)
	if n := len(strings.Fields(text)); n < 3000 {
		t.Fatalf("%d words", n)
	}
	long := keep(t, v, record.Memory{Content: text})
	for _, short := range []string{
		"Kim prefers green tea in the morning.", "The pump in the greenhouse is controlled by a relay.",
		"Anna's birthday is in November.",
		"The quarterly report goes out on Thursdays.", "The museum wants the title by Monday.",
		"A passport is valid for ten years.",
	} {
		keep(t, v, record.Memory{Content: short})
	}
	settle(t, v)
	found := func(v *View) {
		t.Helper()
		hits := search(t, v, SearchRequest{Query: "How do we travel into Norway?"}).Hits
		if len(hits) == 0 || hits[0].ID != long.ID {
			t.Fatalf("found %.60q", contents(hits))
		}
		for _, h := range hits[1:] {
			if h.ID == long.ID {
				t.Error("the memory is found twice")
			}
		}
		nothing := search(t, v, SearchRequest{Query: "Which football club won the cup?"}).Hits
		if len(nothing) > 0 && hits[0].Score <= nothing[0].Score {
			t.Errorf("the score is %v, and that of a question without an answer %v", hits[0].Score, nothing[0].Score)
		}
	}
	found(v)
	rows, err := v.stores[record.Private].index.Tables.Count(t.Context())
	if err != nil || rows > 7 {
		t.Errorf("memory_entries has %d rows (%v) for 7 memories", rows, err)
	}
	found(open(t, dir, audience.DM(), model(t)))
	if err := v.Maintenance().Rebuild(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	found(v)
	// Its parts go with it.
	vectors := filepath.Join(dir, ".yamo", "private", "vectors.f32")
	if err := v.Delete(t.Context(), long.ID, ""); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(vectors); err != nil || info.Size() > 6*2000+64 {
		t.Errorf("after the deletion vectors.f32 has %d bytes (%v)", info.Size(), err)
	}
}

// A word that one memory has, at the end of 3,000 words on other things, finds it, though each short memory's vector is
// nearer to the question's.
func TestRareWordDeepInALongMemory(t *testing.T) {
	t.Parallel()
	v := open(t, t.TempDir(), audience.DM(), new(words))
	facts := map[string]string{
		"Vitodens":                "The boiler is a Viessmann Vitodens and was serviced in March.",
		"Who is Brandenstätter?":  "Ask for Mr Brandenstätter at the desk, he keeps the spare keys.",
		"what about Metacam":      "The cat's medicine is called Metacam, half a millilitre.",
		"the reference RX-88213K": "The invoice has the reference RX-88213K.",
	}
	ids := map[string]string{}
	for question, fact := range facts {
		ids[question] = keep(t, v, record.Memory{Content: question[:3] + " " + minutes(3000) + fact}).ID
	}
	for _, short := range notes(200) {
		keep(t, v, record.Memory{Content: short})
	}
	settle(t, v)
	for question, id := range ids {
		if hits := search(t, v, SearchRequest{Query: question}).Hits; hits[0].ID != id {
			t.Errorf("%q found %.60q", question, contents(hits)[:3])
		}
	}
}

func TestPartsOf(t *testing.T) {
	t.Parallel()
	text := minutes(1000)
	var parts []string
	for _, c := range store.Chunks(text) {
		parts = append(parts, c.Text)
	}
	switch {
	case len(parts) < 5:
		t.Errorf("len(parts) = %v, must not be < 5", len(parts))
	case !store.HasParts(text):
		t.Error("store.HasParts(text) is false")
	case !strings.HasSuffix(strings.TrimSpace(text), parts[len(parts)-1]):
		t.Error("strings.HasSuffix(strings.TrimSpace(text), parts[len(parts)-1]) is false")
	}
	if store.HasParts(minutes(100)) || store.HasParts("") {
		t.Error("a short text is long")
	}
	unbroken := strings.Repeat("x", 100_000)
	if got := store.Chunks(unbroken)[1].Text; got == "" || !strings.Contains(unbroken, got) {
		t.Errorf("parts of a word without end: %d bytes", len(got))
	}
}
