package scrub

import "github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact"

type (
	// Kind is a class of personal data or credential.
	Kind = redact.Kind
	// Redaction is the number of values of a kind that were removed.
	Redaction = redact.Redaction
	// Finding is a value to redact.
	Finding = redact.Finding
	// Detector finds values to redact.
	Detector = redact.Detector
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
	Listed     = redact.Listed
)
