package skill

import (
	"testing"
	"time"
)

func TestReliability(t *testing.T) {
	t.Parallel()
	at := func(n int) time.Time { return time.Unix(int64(n), 0) }
	uses := func(text string) (list []Use) {
		for i, c := range text {
			list = append(list, Use{At: at(i), Success: c == '+'})
		}
		return list
	}
	for _, c := range []struct {
		uses    string
		revised []time.Time
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
		{"---", []time.Time{at(5)}, .5},
		{"++", []time.Time{at(5)}, .7},
		{"---+", []time.Time{at(2)}, .6}, // of the same moment the new text is last
	} {
		if got, _ := Reliability(uses(c.uses), c.revised); got != c.want {
			t.Errorf("%q with texts at %v: %v, want %v", c.uses, c.revised, got, c.want)
		}
	}
}
