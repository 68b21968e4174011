package scrub

import "github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact"

// The vocabulary of redaction, for callers of this package.
type (
	Kind      = redact.Kind      // a class of personal data or credential
	Redaction = redact.Redaction // how many values of a kind were removed
	Finding   = redact.Finding   // a value to redact
	Detector  = redact.Detector  // finds values to redact
)

// The kinds, in the order of docs/redaction.md.
const (
	Email      = redact.Email
	Phone      = redact.Phone
	Card       = redact.Card
	IBAN       = redact.IBAN
	SSN        = redact.SSN
	IP         = redact.IP
	APIKey     = redact.APIKey
	Token      = redact.Token
	PrivateKey = redact.PrivateKey
	Password   = redact.Password
)
