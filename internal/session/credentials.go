package session

import (
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub"
)

// credentialKinds are the kinds that are removed from workspace files (RFC-0009 §4.2). Addresses and telephone
// numbers may stay: USER.md and the logs are where the user's own are kept.
var credentialKinds = []scrub.Kind{
	scrub.APIKey, scrub.Token, scrub.PrivateKey, scrub.Password, scrub.Card, scrub.SSN,
	scrub.Listed,
}

// CredentialScrubber removes credentials from what a session writes to a workspace file, for workspace.WithScrubber,
// and returns how many it removed. Nothing else is changed: an address in a log is the user's own to keep.
// What list finds, which may be nil, is removed as well.
func CredentialScrubber(list scrub.Detector) func(text string) (clean string, redactions int) {
	scrubber := scrub.New(scrub.Options{List: list})
	return func(text string) (string, int) {
		clean, found := scrubber.RedactOnly(text, credentialKinds)
		credentials := 0
		for _, r := range found {
			credentials += r.Count
		}
		return clean, credentials
	}
}
