package mesh

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// A process that starts from an image answers as one that reads the ledger: the same memories in the same order, with
// the same scores, signals and marks.
func TestImageAnswers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	image := filepath.Join(dir, ".yamo", "private", "start.image")
	v := open(t, dir, audience.DM(), new(words))
	c := newCorpus(11)
	var contents []string
	for i := range 120 {
		importance := float32(i%10) / 10
		contents = append(contents, c.text())
		keep(t, v, record.Memory{
			Content: contents[i], SessionID: fmt.Sprint("s", i/9), Tags: []string{"all", fmt.Sprint("tag", i%4)},
			Importance: &importance, Source: []string{"user", record.Assistant, "a book"}[i%3],
			OccurredAt: []string{"", "2026-03-05"}[i%2], Metadata: map[string]any{"n": i},
		})
	}
	lisbon := revised(t, v, "Ana lives in Lisbon.")
	revised(t, v, "Ana lives in Porto.", lisbon.ID)
	revised(t, v, "Always answer in French when I ask about wine.")
	if _, err := v.Distill(t.Context(), record.LessonRequest{
		Situation: "deploying", ErrorPattern: "the ladder fell", Oversight: "it was not tied", Fix: "tie it",
		PreventativeRule: "Tie the ladder before you climb.", Severity: "high", ApplicableScope: "all ladders",
	}); err != nil {
		t.Fatal(err)
	}
	settle(t, v)
	if err := v.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	requests := []SearchRequest{
		{Query: "where does Ana live"},
		{Query: "Ana Lisbon", AsOf: "2001-01-01"},
		{Query: "which wine can you suggest"},
		{Query: "ladder", IncludeLessons: true},
		{Query: "tag2"},
		{Query: "what happened on 5 March 2026"},
		{Query: "what did you recommend"},
		{Query: contents[7], Tags: []string{"tag3"}},
	}
	for _, text := range contents[:20] {
		requests = append(requests, SearchRequest{Query: text, Limit: 20})
	}
	answers := func() (list []Found) {
		v := open(t, dir, audience.DM(), new(words))
		for _, q := range requests {
			q.Unrecorded = true
			list = append(list, search(t, v, q))
		}
		return list
	}
	if !exists(image) {
		t.Fatal("no image was written")
	}
	restored := answers()
	if !exists(image) {
		t.Fatal("the image was not used")
	}
	if err := os.Remove(image); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(answers(), restored); diff != "" {
		t.Errorf("answers (-from the ledger +from the image):\n%s", diff)
	}
}

// What the tables lack when the time to close has passed does not keep the next process from starting from an image.
func TestImageWithoutTime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := open(t, dir, audience.DM(), new(words))
	for i := range 20 {
		keep(t, v, record.Memory{Content: fmt.Sprint("note ", i)})
	}
	late, cancel := context.WithCancel(t.Context())
	cancel()
	if err := v.Close(late); err != nil {
		t.Errorf("what is derived is behind, and that is an error: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, ".yamo", "private", "start.image")); err != nil {
		t.Error(err)
	}
}
