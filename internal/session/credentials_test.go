package session

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/token"
)

func TestCredentialScrubber(t *testing.T) {
	scrub := CredentialScrubber(nil)
	for _, text := range []string{
		"Call Mira on +351 912 345 678 or write to mira@example.org.",
		"The ferry leaves at 14:52; state: {\"email\": 1771056000}",
		"",
	} {
		if clean, n := scrub(text); clean != text || n != 0 {
			t.Errorf("%q became %q with %d redactions", text, clean, n)
		}
	}
	const key = "ghp_" + "0123456789abcdefABCDEF0123456789abcd"
	clean, n := scrub("The token is " + key + ", ask mira@example.org.")
	if strings.Contains(clean, key) || n != 1 {
		t.Errorf("%q with %d redactions", clean, n)
	}
	// Beside a credential the rest stays, and each credential counts.
	const others = "Mira: mira@example.org, +351 912 345 678, IBAN PT50 0002 0123 1234 5678 9015 4, 192.168.1.7."
	clean, n = scrub(others + "\nThe token is " + key + ".\nMy password is Xk9#mQ2vLp. Call +47 22 33 44 55.")
	for _, want := range []string{others, "+47 22 33 44 55"} {
		if !strings.Contains(clean, want) {
			t.Errorf("%q lacks %q", clean, want)
		}
	}
	if n != 2 {
		t.Errorf("%d redactions in %q, want 2", n, clean)
	}
	if got, _ := scrub("The gate code is 4471. Call Ana on 0171 2345678."); strings.Contains(got, "4471") ||
		!strings.HasSuffix(got, "Call Ana on 0171 2345678.") {
		t.Errorf("a number to call next to a code: %q", got)
	}
	clean, n = scrub(clean)
	if n != 0 {
		t.Errorf("%d redactions again in %q", n, clean)
	}
	if again, n := scrub(clean); again != clean || n != 0 {
		t.Errorf("scrubbed again: %q with %d redactions", again, n)
	}
}

// A token of this program that is pasted into a conversation is not remembered.
func TestTokensAreRedacted(t *testing.T) {
	t.Parallel()
	scrub := CredentialScrubber(nil)
	for range 50 {
		store := token.Open(filepath.Join(t.TempDir(), "tokens.json"))
		text, _, err := store.Create(t.Context(), token.Record{Name: "t", Connection: "dm"})
		if err != nil {
			t.Fatal(err)
		}
		clean, n := scrub("The gateway uses " + text + ", I think.")
		if n != 1 {
			t.Errorf("%d redactions: %s", n, clean)
		}
		if strings.Contains(clean, text[len(token.Prefix)+13:]) {
			t.Errorf("the token's secret is in %s", clean)
		}
	}
}
