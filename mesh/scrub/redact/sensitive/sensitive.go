// Package sensitive defines what is redacted: the kinds of personal data and credentials, and where a text has one.
// Package redact and the packages that find secrets for it share it.
//
// Invariant: a finding has the place of a value, never the value.
package sensitive

// Kind names a class of personal data or credential. The list is closed:
// [Kinds] holds all of them, and docs/redaction.md describes them.
type Kind string

// The kinds, in the order of docs/redaction.md.
const (
	Email      Kind = "email"
	Phone      Kind = "phone"
	Card       Kind = "card"
	IBAN       Kind = "iban"
	SSN        Kind = "ssn"
	IP         Kind = "ip"
	APIKey     Kind = "api_key"
	Token      Kind = "token"
	PrivateKey Kind = "private_key"
	Password   Kind = "password"
	Listed     Kind = "listed" // on the operator's own list
)

// Kinds returns every kind, in documentation order. The slice is the caller's.
func Kinds() []Kind {
	return []Kind{Email, Phone, Card, IBAN, SSN, IP, APIKey, Token, PrivateKey, Password, Listed}
}

// Placeholder returns the text that replaces a redacted value of kind k. It is
// a fixed point: redacting a text that contains placeholders keeps them.
func Placeholder(k Kind) string { return "[REDACTED:" + string(k) + "]" }

// Secret reports whether a text that is nothing but a value of this kind
// belongs in a secret store and not in a memory (RFC-0009 §4.2).
func (k Kind) Secret() bool {
	switch k {
	case APIKey, Token, PrivateKey, Password, Card, SSN:
		return true
	}
	return false
}

// Finding is a value to redact: the bytes [Start,End) of the text searched.
type Finding struct {
	Kind       Kind
	Start, End int
}

// At returns the finding of a value of kind k in the bytes [start,end).
func (k Kind) At(start, end int) Finding { return Finding{k, start, end} }
