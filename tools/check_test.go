package tools

import (
	"strings"
	"testing"
)

// equal checks one part of a result, so that a failure names it.
func equal[T comparable](t *testing.T, part string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", part, got, want)
	}
}

// contains checks that a text has the wanted parts.
func contains(t *testing.T, part, text string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		if !strings.Contains(text, want) {
			t.Errorf("%s: %q lacks %q", part, text, want)
		}
	}
}
