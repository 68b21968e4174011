package instruct

import (
	"os"
	"strings"
	"testing"
)

func TestIn(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		file          string
		missed, wrong float64
	}{{"testdata/chosen.txt", .05, .01}, {"testdata/held.txt", .15, .03}} {
		raw, err := os.ReadFile(test.file)
		if err != nil {
			t.Fatal(err)
		}
		number, failed := map[string]float64{}, map[string]float64{}
		for line := range strings.Lines(string(raw)) {
			sign, sentence, _ := strings.Cut(strings.TrimSpace(line), " ")
			if sign == "#" || sign == "" {
				continue
			}
			number[sign]++
			if In(sentence) != (sign == "+") {
				failed[sign]++
				t.Logf("%s %s", sign, sentence)
			}
		}
		missed, wrong := failed["+"]/number["+"], failed["-"]/number["-"]
		t.Logf("%s: %.3f of %v instructions are missed, %.3f of %v others are taken for one", test.file, missed,
			number["+"], wrong, number["-"])
		if missed > test.missed || wrong > test.wrong {
			t.Error("too many are wrong")
		}
	}
}
