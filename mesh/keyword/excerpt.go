package keyword

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Excerpt returns the part of text, of up to n characters, that contains the most different words of the query: the
// first of several such parts, and the beginning of text if it contains none. "…" marks an end where text continues.
// The result reports whether text was cut. A text of up to n characters is returned whole.
func Excerpt(text, query string, n int) (string, bool) {
	if utf8.RuneCountInString(text) <= n {
		return text, false
	}
	q := Parse(query)
	type piece struct {
		at, runes int
		words     []string
	}
	// A window of whole pieces slides over the text. Counting words for each position of it again would make the
	// search quadratic in the length of the text.
	var window []piece
	within := map[string]int{} // in how many pieces of the window a word of the query is
	runes, at, start, most := 0, 0, 0, 0
	for text := range pieces(text) {
		p := piece{at, utf8.RuneCountInString(text), q.In(text)}
		at += len(text)
		window, runes = append(window, p), runes+p.runes
		for _, w := range p.words {
			within[w]++
		}
		for ; runes > n && len(window) > 1; window = window[1:] {
			runes -= window[0].runes
			for _, w := range window[0].words {
				if within[w]--; within[w] == 0 {
					delete(within, w)
				}
			}
		}
		if len(within) > most {
			start, most = window[0].at, len(within)
		}
	}
	before := ""
	if start > 0 {
		before = "…"
	}
	rest := []rune(strings.TrimLeftFunc(text[start:], unicode.IsSpace))
	if len(rest) <= n {
		return before + string(rest), true
	}
	return before + string(rest[:n]) + "…", true
}

// A piece of a text ends where a line or a sentence does, or else between two words after pieceWords characters, or
// after pieceMost characters.
const (
	pieceWords = 100
	pieceMost  = 200
)

// pieces yields a text in pieces, nothing left out.
func pieces(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		start, runes := 0, 0
		var last, before rune
		for i, r := range text {
			ends := last == '\n' || strings.ContainsRune("。！？", last) || runes >= pieceMost ||
				unicode.IsSpace(last) && (runes >= pieceWords || strings.ContainsRune(".!?", before))
			if runes > 0 && ends {
				if !yield(text[start:i]) {
					return
				}
				start, runes = i, 0
			}
			before, last, runes = last, r, runes+1
		}
		if start < len(text) {
			yield(text[start:])
		}
	}
}
