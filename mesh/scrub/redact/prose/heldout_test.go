package prose_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/redacttest"
)

// Texts that were held back: those of three authors of whom nothing was learned, and half of two others'. The last two
// authors were asked for secrets that are told in unusual ways.
func TestHeldOut(t *testing.T) {
	t.Parallel()
	const unusual = "r" // the first of the last two
	r := redact.New(nil)
	texts, right := map[string]int{}, map[string]int{}
	for _, c := range redacttest.ReadTold(t, "testdata/heldout.ndjson.gz") {
		kind := c.Kind
		if c.Author >= unusual {
			kind = "unusual " + kind
		}
		texts[kind]++
		ok := false
		if len(c.Secrets) == 0 { // an address, for instance, is redacted everywhere
			_, found := r.RedactOnly(c.Text, []redact.Kind{redact.Password, redact.APIKey, redact.Token, redact.PrivateKey})
			ok = len(found) == 0
		} else {
			got, _ := r.Redact(c.Text)
			ok = !slices.ContainsFunc(c.Secrets, func(s string) bool { return strings.Contains(got, s) })
		}
		if ok {
			right[kind]++
		}
	}
	t.Logf("right: %v of %v", right, texts)
	for kind, least := range map[string]int{
		"pair": 57, "prose": 183, "benign": 119, "unusual pair": 74, "unusual prose": 228, "unusual benign": 235,
	} {
		if right[kind] < least {
			t.Errorf("%s: %d of %d, at least %d before", kind, right[kind], texts[kind], least)
		}
	}
}
