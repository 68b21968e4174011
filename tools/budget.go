package tools

import (
	"encoding/json"
	"unicode/utf8"
)

const (
	// maxResult is how many bytes of JSON the lists and texts of a result are filled to. Hosts cut what is longer without
	// saying where (Claude Code at 25,000 tokens); this is some 15,000 tokens of English, and 25,000 of the densest scripts.
	maxResult = 60_000
	// reserved is what the rest of a result may take beside them.
	reserved = 2_000
	// maxRefusal is how many bytes the text of an error has at most, which may repeat what the caller sent or name all there is.
	maxRefusal = 4_000
)

// room is the bytes that are left for a result's lists.
type room int

func newRoom() room { return maxResult - reserved }

// take reports whether v fits, and if so, gives it its place.
func (r *room) take(v any) bool {
	n := jsonSize(v) + len(",")
	if n > int(*r) {
		return false
	}
	*r -= room(n)
	return true
}

// fit is as many of the items, from the first, as there is room for.
func fit[T any](r *room, items []T) []T {
	for i, item := range items {
		if !r.take(item) {
			return items[:i]
		}
	}
	return items
}

// jsonSize is how many bytes v has as JSON.
func jsonSize(v any) int {
	data, err := json.Marshal(v)
	if err != nil {
		return maxResult // whoever encodes the result says why
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

// brief cuts the middle out of a text of more than n bytes: what an error is about stands at its beginning, what to do at
// its end.
func brief(text string, n int) string {
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
