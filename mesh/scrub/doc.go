// Package scrub is layer 0 of the memory mesh (RFC-0011 §6): it turns what an
// agent wants remembered into the text that is stored, embedded and returned.
// Personal data and credentials stop here.
//
// The six stages of §6.1, in order, each usable by itself:
//
//  1. [markup.Clean] removes markup: emphasis, links' brackets, HTML.
//  2. [markup.Filter] removes noise: repeated paragraphs, boilerplate, rules.
//  3. [markup.Normalize] standardizes headings, lists and white space.
//  4. [Split] cuts the text into chunks with a maximum number of tokens.
//  5. [Annotate] gives each chunk its source, section, hash and time.
//  6. [Validate] enforces the limits.
//
// [Sanitize] and the redaction of [redact.Redactor] (§6.3) precede them and
// follow each of the first three.
//
// Invariants:
//
//   - Deterministic, and idempotent: Scrub(Scrub(x).Text).Text == Scrub(x).Text.
//     The first three stages are repeated until nothing changes; a text that
//     does not settle is kept as it was, only redacted.
//   - Chunks are a function of the scrubbed text only, so that an index rebuilt
//     from stored text has the same chunks.
//   - No value that was redacted leaves this package: not in a result, an
//     error or a log.
package scrub
