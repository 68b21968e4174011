package store

import (
	"bytes"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/block"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// asking is a recall entry of a DM.
func asking(query string, scores ...float64) ledger.Draft {
	found := make([]string, len(scores))
	for i := range scores {
		found[i] = fmt.Sprint("mem_", i)
	}
	return ledger.Draft{
		Op: OpRecall, Block: block.Recall{Agent: "kit", Query: query, Time: epoch}.Block().String(),
		Data: Recall{AgentID: "kit", Found: found, Scores: scores},
	}
}

// questionsOf returns the words, the best memory and its rivals of what c has kept.
func questionsOf(c *Compartment, since time.Time) (list []string) {
	s := c.Snapshot()
	defer s.Release()
	for _, q := range s.Questions(since) {
		list = append(list, fmt.Sprint(q.Words, ": ", q.Best, " ", q.Score, " ", q.Rivals))
	}
	return list
}

// A question is kept with its best memory, wherever that was in the list, and what comes close to it.
func TestQuestions(t *testing.T) {
	t.Parallel()
	c := process(t.TempDir())
	without := asking("from before scores were kept", .5)
	without.Data = Recall{Found: []string{"mem_0"}}
	err := c.Append(t.Context(), drafts(
		asking("Luis's timezone?", .5, .9, .8), asking("timezone of Luis", .9), asking("nothing found"), without,
		asking("…", .7, .6),
	))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"lui timezon: mem_1 0.9 [mem_2]", "lui timezon: mem_0 0.9 []", "…: mem_0 0.7 []"}
	if diff := cmp.Diff(want, questionsOf(c, time.Time{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s := c.Snapshot()
	after := s.Questions(time.Time{})[0].At.Time.Add(time.Hour)
	s.Release()
	if got := questionsOf(c, after); len(got) > 0 {
		t.Errorf("asked an hour later: %q", got)
	}
}

// An erased query is in no process's memory and not in the image, and what was asked besides is.
func TestQuestionsForgotten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writer := imaged(dir)
	err := writer.Append(t.Context(), drafts(asking("where is the xylophone", .9), asking("the green tea", .8)))
	if err != nil {
		t.Fatal(err)
	}
	save(t, writer)
	name := ""
	reader := ledger.New(ledger.Options{
		Path: dir + "/ledger.ndjson", Name: "private", Lock: dir + "/lock",
		Key: func(bool) ([]byte, error) { return make([]byte, 32), nil },
	})
	err = reader.Sync(t.Context(), func(e ledger.Entry) error {
		if e.Seq == 1 {
			name = e.Name()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	behind := synced(t, imaged(dir))
	if got := questionsOf(behind, time.Time{}); len(got) != 2 {
		t.Fatalf("from the image: %q", got)
	}
	erase := func(*Snapshot, time.Time) ([]ledger.Draft, error) { return []ledger.Draft{{ID: name}}, nil }
	if err := writer.Erase(t.Context(), erase); err != nil {
		t.Fatal(err)
	}
	save(t, writer)
	raw, err := os.ReadFile(writer.Image)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(raw, []byte("xylophon")) {
		t.Error("the image has the erased query")
	}
	want := []string{"green tea: mem_0 0.8 []"}
	for who, c := range map[string]*Compartment{
		"the one that erased": writer, "one that was behind": synced(t, behind), "from the image": synced(t, imaged(dir)),
		"from the ledger": synced(t, process(dir)),
	} {
		if diff := cmp.Diff(want, questionsOf(c, time.Time{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", who, diff)
		}
	}
}

// Only the latest questions are kept, so that a process's memory and the image stay small.
func TestQuestionsAreBounded(t *testing.T) {
	t.Parallel()
	p := process(t.TempDir()).Projection
	for i := range maxQuestions + 5 {
		q := questionOf(ledger.Entry{}, Recall{Found: []string{fmt.Sprint(i)}, Scores: []float64{1}})
		p.ask(q, record.Moment{Time: epoch, Seq: int64(i)})
	}
	s := p.Snapshot()
	defer s.Release()
	list := s.Questions(time.Time{})
	if len(list) != maxQuestions || list[0].Best != "5" || list[maxQuestions-1].Best != fmt.Sprint(maxQuestions+4) {
		t.Errorf("%d questions, %v to %v", len(list), list[0], list[len(list)-1])
	}
}
