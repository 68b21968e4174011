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
