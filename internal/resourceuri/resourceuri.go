// Package resourceuri defines the URIs of the MCP resources: which there are, and how names and tokens are
// written in them. Tools, prompts and resources share it, so that a link in a result is the URI that is listed.
//
// Its invariant: a file has one URI. File and ParseFile are each other's inverse, and every other spelling of
// a name is refused.
package resourceuri

import (
	"net/url"
	"strings"
)

const (
	// Startup is the resource with the rendered startup sequence (RFC-0009 §6).
	Startup = "yamo://startup"
	// Brief is the resource with the brief that a session starts with.
	Brief = "yamo://brief"
	// ActiveLessons is the resource with the active lessons (RFC-0011 §8.2 step 4).
	ActiveLessons = "yamo://lessons/active"
	// FilePrefix begins the URI of a workspace file. The file's name relative to the workspace follows, each
	// element percent-encoded.
	FilePrefix = "yamo://workspace/"
	// EvidencePrefix begins the URI of an evidence token (seed 004 §5). The token follows, percent-encoded.
	EvidencePrefix = "yamo://evidence/"
)

// File returns the URI of the workspace file called name, a path relative to the workspace with slashes. No
// two names have the same URI.
func File(name string) string {
	elements := strings.Split(name, "/")
	for i, element := range elements {
		elements[i] = url.PathEscape(element)
	}
	return FilePrefix + strings.Join(elements, "/")
}

// ParseFile returns the name of the workspace file that uri refers to. It reports false for a URI of another
// kind and for any spelling but the one that File returns.
func ParseFile(uri string) (name string, ok bool) {
	path, ok := strings.CutPrefix(uri, FilePrefix)
	if !ok {
		return "", false
	}
	name, err := url.PathUnescape(path)
	// SECURITY: one file, one URI: %2e%2e, %2F and over-encoded letters are aliases.
	if err != nil || File(name) != uri {
		return "", false
	}
	return name, true
}

// Evidence returns the URI of an evidence token, such as ev:….
func Evidence(token string) string { return EvidencePrefix + url.PathEscape(token) }

// ParseEvidence returns the evidence token that uri refers to, in any percent-encoding, and reports whether
// there is one.
func ParseEvidence(uri string) (token string, ok bool) {
	escaped, ok := strings.CutPrefix(uri, EvidencePrefix)
	if !ok {
		return "", false
	}
	token, err := url.PathUnescape(escaped)
	return token, err == nil && token != ""
}
