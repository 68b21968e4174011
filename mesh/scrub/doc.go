// Package scrub is layer 0 of the memory mesh (RFC-0011 §6): it turns what an
// agent wants remembered into the text that is stored, embedded and given
// back, and it is the place where personal data and credentials stop.
//
// Six stages, in order, each usable alone:
//
//  1. [Clean] removes markup: emphasis, links' brackets, HTML.
//  2. [Filter] removes noise: repeated paragraphs, boilerplate, rules.
//  3. [Normalize] standardizes headings, lists and white space.
//  4. [Split] cuts the text into chunks of at most so many tokens.
//  5. [Annotate] gives each chunk its source, section, hash and time.
//  6. [Validate] enforces the limits.
//
// [Scrubber.Redact] and [Sanitize] come before them and after each of them.
//
// Invariants:
//
//   - Deterministic, and idempotent: Scrub(Scrub(x).Text).Text == Scrub(x).Text.
//     The first three stages are repeated until nothing changes, and a text
//     for which that does not happen is kept as it was, only redacted.
//   - Markup is removed by cutting it out of the original bytes, never by
//     rendering the text anew. What is not certain to be markup stays: code,
//     quotes, identifiers, generics, URLs, tables, other scripts.
//   - Chunks are a function of the scrubbed text alone, so an index rebuilt
//     from stored text has the same chunks.
//   - No value that was redacted leaves this package: not in a result, an
//     error or a log.
package scrub
