package main

import (
	"strings"
	"testing"
)

func TestCredentialScrubber(t *testing.T) {
	scrub := credentialScrubber()
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
	if again, n := scrub(clean); again != clean || n != 0 {
		t.Errorf("scrubbed again: %q with %d redactions", again, n)
	}
}
