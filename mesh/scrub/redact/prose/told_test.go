package prose_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/redacttest"
)

// TestSecretsToldInSentences finds all values of each text, whole.
func TestSecretsToldInSentences(t *testing.T) {
	t.Parallel()
	r := redact.New(nil)
	for _, marked := range append(redacttest.ToldForms, redacttest.ToldLater...) {
		text := strings.NewReplacer("«", "", "»", "").Replace(marked)
		got, _ := r.Redact(text)
		for rest := marked; strings.Contains(rest, "«"); {
			_, rest, _ = strings.Cut(rest, "«")
			var secret string
			secret, rest, _ = strings.Cut(rest, "»")
			if strings.Contains(got, secret) {
				t.Errorf("kept: %s\n got: %s", marked, got)
			}
		}
	}
}

// TestSentencesStay keeps what has the words of a secret and tells none.
func TestSentencesStay(t *testing.T) {
	t.Parallel()
	r := redact.New(nil)
	secrets := []redact.Kind{redact.Password, redact.APIKey, redact.Token, redact.PrivateKey}
	for _, text := range slices.Concat(redacttest.ToldLookalikes, redacttest.EverydayTexts, redacttest.SentencesLater) {
		if got, found := r.RedactOnly(text, secrets); len(found) > 0 {
			t.Errorf("%q became %q", text, got)
		}
	}
}
