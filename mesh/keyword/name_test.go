package keyword

import "testing"

func TestName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		want       bool
	}{
		{"Nadia", "I met nadia's brother", true},
		{"Nadia", "Nadiaville", false},
		{"José", "Jose called", true},
		{"Jose", "José called", true},
		{"Oyvind", "Øyvind moved", true},
		{"Lukasz", "ŁUKASZ wrote", true},
		{"Will", "Will called about the roof", true},
		{"Will Smith", "J. R. Smith reviewed it, and Will did not", false},
		{"Will Smith", "Will\nSmith", true},
		{"Hans", "The Han dynasty", false},
		{"Mary", "Marie ate cake", false},
		{"O'Brien", "Ask O’Brien", true},
		{"王", "王小明来了", true},
		{"小明", "王小明来了", true},
		{"김철수", "김철수는 의사다", true},
		{"J. R. Smith", "J. R. Smith reviewed it", true},
	} {
		n, ok := ParseName(c.name)
		if !ok || n.In(c.text) != c.want {
			t.Errorf("%q in %q: %t", c.name, c.text, !c.want)
		}
	}
	if _, ok := ParseName(" - "); ok {
		t.Error("a name without letters is accepted")
	}
}
