// Package prose finds secrets that people tell in sentences: "I log in as admin with x", "the tablet wants 0417".
//
// A text is cut into words and sentences (passage.go). The words that can be secrets get points for the names, verbs
// and joining words around them and for their looks (told.go, joins.go), some of them several words together
// (sayings.go, phrase.go). A logistic regression has the last word (learned.go).
//
// Invariant: points and weights are whole numbers and depend on the text only, so that every machine finds the same.
package prose
