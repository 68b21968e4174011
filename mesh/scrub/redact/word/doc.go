// Package word judges words and values by themselves: what they look like (a password, a number of a lock, a random
// key, code, a version) and what they say about the words near them.
//
// [IsEnglish] looks words up, [ClueOf] returns what they mean, and [ShapeOf] how much they look like a secret.
//
// Invariant: the result depends on the word only, not on the text that it is in. What is a secret and of which kind is
// decided by the packages above.
package word
