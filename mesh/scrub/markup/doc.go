// Package markup removes markup and noise from a text: the stages of layer 0
// that change how it is written and not what it says (RFC-0011 §6.1).
//
//  1. [Clean] removes markup: emphasis, links' brackets, HTML.
//  2. [Filter] removes noise: repeated paragraphs, boilerplate, rules.
//  3. [Normalize] standardizes headings, lists and white space.
//
// [Blocks] cuts the result into blocks, for the stages that follow.
//
// Invariant: markup is cut out of the original bytes, never removed by
// rendering the text again. What is not certain to be markup stays: code,
// quotes, identifiers, generics, URLs, tables, other scripts.
//
// HTML documents keep to it, too, and are therefore not given to
// html-to-markdown (v2.5.2 was tried). An HTML parser takes every "<" for a
// tag: of "the List<String> type, a<b && c>d, <Button>Go</Button>" the library
// leaves "the List type, a**d, Go". It loses the title, escapes what it cannot
// know to be text ("snake\_case"), fails on 512 nested elements, and takes
// 292 ms for 1 MiB where [Clean] takes 75. It would replace 30 lines: the
// writer is needed for the HTML blocks of Markdown texts.
package markup
