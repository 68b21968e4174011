package suspect

import (
	"slices"
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/redacttest"
)

// Texts that were held back, see package prose: by rules, and by rules and the model. The last two authors were asked
// for secrets that are told in unusual ways.
func TestHeldOut(t *testing.T) {
	t.Parallel()
	const unusual = "r" // the first of the last two
	r := newReader(t)
	credentials := []redact.Kind{redact.Password, redact.APIKey, redact.Token, redact.PrivateKey}
	texts, rules, right := map[string]int{}, map[string]int{}, map[string]int{}
	for _, c := range redacttest.ReadTold(t, proseTexts+"heldout.ndjson.gz") {
		kind := c.Kind
		if c.Author >= unusual {
			kind = "unusual " + kind
		}
		texts[kind]++
		redacted, _ := r.redactor.Redact(c.Text)
		found, err := Find(t.Context(), r.model, redacted)
		if err != nil {
			t.Fatal(err)
		}
		tells := func(text string) bool {
			return slices.ContainsFunc(c.Secrets, func(s string) bool { return strings.Contains(text, s) })
		}
		without, _ := redact.Replace(redacted, found)
		byRules, byBoth := !tells(redacted), !tells(without)
		if len(c.Secrets) == 0 { // an address, for instance, is redacted everywhere
			_, redactions := r.redactor.RedactOnly(c.Text, credentials)
			byRules, byBoth = len(redactions) == 0, len(redactions)+len(found) == 0
		}
		if byRules {
			rules[kind]++
		}
		if byBoth {
			right[kind]++
		}
	}
	t.Logf("by rules: %v, and with the model: %v, of %v", rules, right, texts)
	for kind, least := range map[string]int{
		"pair": 57, "prose": 185, "benign": 119, "unusual pair": 74, "unusual prose": 240, "unusual benign": 235,
	} {
		if right[kind] < least {
			t.Errorf("%s: %d of %d, at least %d before", kind, right[kind], texts[kind], least)
		}
	}
}
