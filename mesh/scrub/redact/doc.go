// Package redact finds personal data and credentials in a text and replaces
// them with placeholders (RFC-0011 §6.3). docs/redaction.md lists the kinds.
//
// Detectors look for forms; each returns findings and knows nothing of the
// others. Overlapping findings are joined, so that no part of a value survives
// because another detector saw a shorter one, and a text is searched again
// until nothing is found.
//
// Detectors of numbers, addresses and credentials are in this package. Secrets
// that only the text around them tells from other words are found by package
// notation, where a name or the place in a file announces them, and by package
// prose, where a sentence does. Both judge words with package word.
//
// Invariants:
//
//   - Idempotent: a placeholder is never taken for a value, and redacting the
//     result finds nothing.
//   - No value that was redacted leaves this package: not in a result, an
//     error or a log.
//
// Written by hand, with the reasons: IBANs, cards and IP addresses are a table
// or a checksum each (some 60 lines) and need the exceptions of this project,
// such as public resolvers and version numbers, which no library has. Phone
// numbers and credentials use tables of libphonenumber and gitleaks; see
// callingCodes and ruleFile for what linking the libraries costs.
package redact
