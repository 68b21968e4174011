package word_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/word"
)

func TestTurnLength(t *testing.T) {
	t.Parallel()
	type turn struct{ before, said string }
	for _, want := range []turn{
		{"[12:04] Ana: ", "hello"},
		{"12:31 <marta> ", "hello"},
		{"3/11/25, 18:02 - Rui: ", "hello"},
		{"[2025-01-14 09:12:44] tomas: ", "hello"},
		{"[11/03/2025, 18:02:44] Ana Luísa: ", "hello: you"},
		{"(9:15 pm) Dr. Bo: ", "hello"},
		{"Ana [12:04]: ", "hello"},
		{"Ana, 12:04: ", "hello"},
		{"", "12:04 hello"},
		{"", "12:04 the train leaves: platform 3"},
		{"", "2025-01-14 09:12:44 ERROR: password rejected"},
		{"", "Alarm: 06:45"},
		{"", "10:30: standup"},
		{"", "18:00 pin: 4471"},
		{"", "[18:00] Front door: 4471"},
		{"", "Ana: hello"},
	} {
		line := want.before + want.said
		n := word.TurnLength(line)
		if diff := cmp.Diff(want, turn{line[:n], line[n:]}, cmp.AllowUnexported(turn{})); diff != "" {
			t.Errorf("%q (-want +got):\n%s", line, diff)
		}
	}
}
