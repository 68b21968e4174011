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
	for _, marked := range slices.Concat(redacttest.ToldForms, redacttest.ToldLater, redacttest.ToldNotes) {
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
	for _, text := range slices.Concat(redacttest.ToldLookalikes, redacttest.EverydayTexts, redacttest.SentencesLater,
		redacttest.NotesWithoutSecrets) {
		if got, found := r.RedactOnly(text, secrets); len(found) > 0 {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// TestAccountsStay redacts the password, and not the account or what is around it.
func TestAccountsStay(t *testing.T) {
	t.Parallel()
	r := redact.New(nil)
	for text, want := range map[string]string{
		"My Steam: moth_lamp7, pass qW8zz-lemon":            "My Steam: moth_lamp7, pass [REDACTED:password]",
		"Netflix login: moth_lamp7, password glass-Onion2":  "Netflix login: moth_lamp7, password [REDACTED:password]",
		"Site: bank.x | User: 88231 | PIN: 50917":           "Site: bank.x | User: 88231 | PIN: [REDACTED:password]",
		"Two seven one nine opens the cellar, says grandpa": "[REDACTED:password] opens the cellar, says grandpa",
		"[12:04] Ana: the door code is 4471":                "[12:04] Ana: the door code is [REDACTED:password]",
		"3/11/25, 18:02 - Rui: the door code is 4471.":      "3/11/25, 18:02 - Rui: the door code is [REDACTED:password].",
	} {
		if got, _ := r.Redact(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}
