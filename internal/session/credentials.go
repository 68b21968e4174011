package session

import (
	"slices"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub"
)

// credentialKinds are the kinds that are removed from workspace files (RFC-0009 §4.2). Addresses and telephone
// numbers may stay: USER.md and the logs are where the user's own are kept.
var credentialKinds = []scrub.Kind{scrub.APIKey, scrub.Token, scrub.PrivateKey, scrub.Password, scrub.Card, scrub.SSN}

// CredentialScrubber finds credentials in what a session writes to a workspace file, for workspace.WithScrubber. A text
// that has any is redacted as a memory is, with its addresses and numbers; another is not changed.
func CredentialScrubber() func(text string) (clean string, redactions int) {
	scrubber := scrub.New(scrub.Options{})
	return func(text string) (string, int) {
		clean, found := scrubber.Redact(text)
		credentials := 0
		for _, r := range found {
			if slices.Contains(credentialKinds, r.Kind) {
				credentials += r.Count
			}
		}
		// Not the cleaned text: an address in a log is the user's own to keep.
		if credentials == 0 {
			return text, 0
		}
		return clean, credentials
	}
}
