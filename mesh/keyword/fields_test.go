package keyword

import "testing"

func TestFieldsScore(t *testing.T) {
	t.Parallel()
	f := NewFields(Field{"web_release", 3}, Field{"Deploy the web shop", 2}, Field{"ops\nweb", 1}, Field{"", 1})
	for query, want := range map[string]float64{
		"web":                 6. / 7,
		"how do I deploy?":    2. / 7 / 2, // "i" is a word: my skill is not your skill
		"deploying":           2. / 7,
		"web release":         (6. + 3) / 7 / 2,
		"webRelease":          (6. + 3) / 7 / 2,
		"release the balloon": 3. / 7 / 2,
		"the":                 2. / 7, // only function words
		"balloon":             0,
		"?!":                  0,
	} {
		if got := f.Score(Parse(query)); got < want-1e-9 || got > want+1e-9 {
			t.Errorf("%q: %v, want %v", query, got, want)
		}
	}
}
