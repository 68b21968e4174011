// Package redacttest has texts with and without secrets, to measure redaction with, and reads those in files. Tests of
// several packages of redaction share it, and the weights of package prose are fitted to the benign ones.
//
// Invariant: all secrets are invented.
package redacttest
