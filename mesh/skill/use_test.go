package skill

import (
	"testing"
	"time"

	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

func TestReliability(t *testing.T) {
	t.Parallel()
	at := func(second, seq int) record.Moment {
		return record.Moment{Time: time.Unix(int64(second), 0), Compartment: record.Private, Seq: int64(seq)}
	}
	uses := func(text string) (list []Use) {
		for i, c := range text {
			list = append(list, Use{At: at(i, i), Success: c == '+'})
		}
		return list
	}
	for _, c := range []struct {
		uses    string
		revised []record.Moment
		want    float64
	}{
		{"", nil, .5},
		{"+", nil, .6},
		{"-", nil, .3},
		{"+-", nil, .4},
		{"---", nil, 0},
		{"---+", nil, .1},
		{"++++++++", nil, 1},
		{"++++++++-", nil, .8},
		{"---", []record.Moment{at(5, 5)}, .5},
		{"++", []record.Moment{at(5, 5)}, .7},
		{"---+", []record.Moment{at(2, 3)}, .6}, // of the same millisecond, after the third use
		{"---+", []record.Moment{at(2, 1)}, .4}, // and before it
	} {
		if got, _ := Reliability(uses(c.uses), c.revised); got != c.want {
			t.Errorf("%q with texts at %v: %v, want %v", c.uses, c.revised, got, c.want)
		}
	}
}
