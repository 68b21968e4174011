package tools

import (
	"encoding/json"
	"unicode/utf8"
)

const (
	// maxResult is the maximum size of a result's lists and texts, in bytes of JSON. Hosts cut what is longer without
	// showing where (Claude Code at 25,000 tokens); this is some 15,000 tokens of English, and 25,000 of the densest
	// scripts.
	maxResult = 60_000
	// reserved is the part of it, in bytes, for the fields that are not filled through room.
	reserved = 2_000
	// maxRefusal is the maximum size of an error's text in bytes: it may repeat what the caller sent, or list every
	// name that exists.
	maxRefusal = 4_000
)

// room is the number of bytes that are left for a result's lists. Tools fill the most useful list first.
type room int

// newRoom returns the room of an empty result.
func newRoom() room { return maxResult - reserved }

// take reports whether v fits as JSON, with a comma after it, and if so, subtracts it.
func (r *room) take(v any) bool {
	n := jsonSize(v) + len(",")
	if n > int(*r) {
		return false
	}
	*r -= room(n)
	return true
}

// fit returns as many of the items, from the first, as there is room for. It stops at the first that does not fit, so
// that a list never has a gap.
func fit[T any](r *room, items []T) []T {
	for i, item := range items {
		if !r.take(item) {
			return items[:i]
		}
	}
	return items
}

// jsonSize is the number of bytes of v as JSON. What cannot be encoded fits nowhere.
func jsonSize(v any) int {
	data, err := json.Marshal(v)
	if err != nil {
		return maxResult // encoding the result reports why
	}
	return len(data)
}

// clip cuts text to n bytes at most, between characters, and tells whether it did; then it ends in "…".
func clip(text string, n int) (string, bool) {
	if len(text) <= n {
		return text, false
	}
	n = max(0, n-len("…"))
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…", true
}

// elide cuts the middle out of a text of more than n bytes: an error names its subject at the beginning, and the next
// step at its end.
func elide(text string, n int) string {
	if len(text) <= n {
		return text
	}
	head, _ := clip(text, n/2)
	tail := text[len(text)-(n-len(head)):]
	for tail != "" && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	return head + tail
}
