package similar_test

import (
	"testing"

	"github.com/yamo-protocol/yamo-mcp/mesh/similar"
)

// A sign or a character of a name may be all that two texts differ in, which hardly changes their vectors.
func TestRelation(t *testing.T) {
	t.Parallel()
	const cosine, share = .97, .9
	for _, c := range []struct{ a, b, want string }{
		{"Alert me when the queue is > 5 minutes.", "Alert me when the queue is < 5 minutes.", similar.Differs},
		{"The cache may be >5 GB on the build host.", "The cache may be <5 GB on the build host.", similar.Differs},
		{"On the forum Ana writes as ana_b.", "On the forum Ana writes as ana-b.", similar.Differs},
		{"The cache is full on the build host.", "The cache is nearly full on the build host.", similar.NearDuplicate},
		{"The hose of the greenhouse leaks.", "The greenhouse hose leaks.", similar.NearDuplicate},
		{"The hose of the greenhouse leaks.", "The hose of the greenhouse leaks", similar.NearDuplicate},
		{"The hose of the greenhouse leaks.", "The hose of the greenhouse leaks.", similar.Same},
	} {
		if got, _, _ := similar.Of(c.a).Relation(similar.Of(c.b), cosine, share); got != c.want {
			t.Errorf("%q after %q is %q, want %q", c.a, c.b, got, c.want)
		}
	}
}

func TestRepeats(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b   string
		cosine float64
		want   bool
	}{
		{"Ana likes green tea.", "Green tea is what Ana likes.", .93, true},
		{"Ana likes green tea.", "Ana is fond of green tea.", .96, true},
		{"The standup is at 9:30.", "Daily standup is at 9:30.", .88, true},
		{"The standup is at 9:30.", "The standup is at 9:45.", .98, false},
		{"Ana likes green tea.", "Ana does not like green tea.", .93, false},
		{"We deploy on Monday.", "We deploy on Friday.", .93, false},
		{"The door code is on the fridge.", "The door key is on the fridge.", .85, false},
		{"Ana likes tea.", "Ana likes tea with honey and lemon before she sleeps.", .7, false},
	} {
		if got := similar.Of(c.a).Repeats(similar.Of(c.b), c.cosine); got != c.want {
			t.Errorf("%q after %q: %v, want %v", c.b, c.a, got, c.want)
		}
	}
}
