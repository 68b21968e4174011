package workspace

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A task knows what it is listed under, which may give its interval; the rows of a table are tasks of their own.
func TestTasksUnder(t *testing.T) {
	t.Parallel()
	got := tasksOf("# Daily round\n\n## Weekly\n\n- garden\n- House:\n  1. [x] bills\n\n     of the month\n- car\n\n" +
		"### Rare\n- roof\n\n" +
		"## Other\nLook at these,\n2 to 4 times a day:\n\n- mail\n\nThen rest.\n\n- sleep\n\n" +
		"| Check | When |\n|---|:-:|\n| tax | yearly |\n|  | rent |\n")
	rotation := "Look at these, 2 to 4 times a day:"
	want := []Task{
		{Text: "garden", Under: []string{"Weekly"}},
		{Text: "House:", Under: []string{"Weekly"}},
		{Text: "bills", Done: true, Under: []string{"House:", "Weekly"}},
		{Text: "of the month", Prose: true, Under: []string{"Weekly"}},
		{Text: "car", Under: []string{"Weekly"}},
		{Text: "roof", Under: []string{"Rare", "Weekly"}},
		{Text: rotation, Prose: true, Under: []string{"Other"}},
		{Text: "mail", Under: []string{rotation, "Other"}},
		{Text: "Then rest.", Prose: true, Under: []string{"Other"}},
		{Text: "sleep", Under: []string{"Other"}},
		{Text: "tax, yearly", Under: []string{"Other"}},
		{Text: "rent", Under: []string{"Other"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
