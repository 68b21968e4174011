package redact

import (
	"slices"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/sensitive"
)

// Kind names a class of personal data or credential. The list is closed:
// [Kinds] holds all of them, and docs/redaction.md describes them.
type Kind = sensitive.Kind

// The kinds, in the order of docs/redaction.md.
const (
	Email      = sensitive.Email
	Phone      = sensitive.Phone
	Card       = sensitive.Card
	IBAN       = sensitive.IBAN
	SSN        = sensitive.SSN
	IP         = sensitive.IP
	APIKey     = sensitive.APIKey
	Token      = sensitive.Token
	PrivateKey = sensitive.PrivateKey
	Password   = sensitive.Password
	Listed     = sensitive.Listed // on the operator's own list
)

// Kinds returns every kind, in documentation order. The slice is the caller's.
func Kinds() []Kind { return sensitive.Kinds() }

// Placeholder returns the text that replaces a redacted value of kind k. It is
// a fixed point: redacting a text that contains placeholders keeps them.
func Placeholder(k Kind) string { return sensitive.Placeholder(k) }

// Finding is a value to redact: the bytes [Start,End) of the text searched.
type Finding = sensitive.Finding

// rank orders kinds for overlapping findings: the lowest names the result.
func rank(k Kind) int {
	return slices.Index([]Kind{PrivateKey, APIKey, Token, Password, Card, IBAN, SSN, Email, Phone, IP, Listed}, k)
}

// Redaction is the number of values of one kind that were removed, never the
// values.
type Redaction struct {
	Kind  Kind `json:"kind"`
	Count int  `json:"count"`
}

// Detector finds values to redact. Implementations are safe for concurrent
// use, depend on the text only, and may return findings in any order, also
// overlapping ones.
type Detector interface {
	Detect(text string) []Finding
}

// detectorFunc adapts a function to Detector.
type detectorFunc func(string) []Finding

func (f detectorFunc) Detect(text string) []Finding { return f(text) }
