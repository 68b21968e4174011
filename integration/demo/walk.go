package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-isatty"
)

// width is how wide the terminal is taken to be.
const width = 100

// walk is the demonstration: where it happens, who is connected, and what came of it so far.
type walk struct {
	ctx               context.Context
	server, workspace string
	out               *os.File

	dm, club *host
	parts    int
	checked  int
}

func (w *walk) close() error {
	var errs []error
	for _, h := range []*host{w.dm, w.club} {
		if h != nil {
			errs = append(errs, h.Close())
		}
	}
	w.dm, w.club = nil, nil
	return errors.Join(errs...)
}

// check is a claim. It is printed if it holds, and ends the walk if not.
func (w *walk) check(holds bool, claim string, args ...any) error {
	text := fmt.Sprintf(claim, args...)
	if !holds {
		return fmt.Errorf("this does not hold: %s", text)
	}
	w.checked++
	w.wrap("   ok ", "      ", text)
	return nil
}

// title begins a part.
func (w *walk) title(text string) {
	w.parts++
	if isatty.IsTerminal(w.out.Fd()) {
		text = "\x1b[1m" + text + "\x1b[0m"
	}
	fmt.Fprintf(w.out, "\n%d. %s\n\n", w.parts, text)
}

// say explains.
func (w *walk) say(text string, args ...any) { w.wrap("   ", "   ", fmt.Sprintf(text, args...)) }

// ask shows a request, reply what came back.
func (w *walk) ask(text string, args ...any)   { w.wrap(" > ", "   ", fmt.Sprintf(text, args...)) }
func (w *walk) reply(text string, args ...any) { w.wrap(" < ", "   ", fmt.Sprintf(text, args...)) }

// wrap prints text in lines of at most width characters.
func (w *walk) wrap(first, rest, text string) { wrap(w.out, first, rest, text) }

func wrap(out io.Writer, first, rest, text string) {
	line := first
	empty := true
	for word := range strings.FieldsSeq(text) {
		switch {
		case empty:
			line += word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width:
			fmt.Fprintln(out, line)
			line = rest + word
		default:
			line += " " + word
		}
		empty = false
	}
	fmt.Fprintln(out, line)
}

// show lists search results, score first.
func (w *walk) show(results []memory) {
	for _, m := range results {
		w.wrap(fmt.Sprintf(" < %.2f  ", m.Score), "         ", fmt.Sprintf("[%s] %s", m.Visibility, m.Content))
	}
}

var words = regexp.MustCompile(`\pL+`)

// common is a word that two texts share, "" for none.
func common(a, b string) string {
	in := map[string]bool{}
	for _, word := range words.FindAllString(strings.ToLower(a), -1) {
		in[word] = true
	}
	for _, word := range words.FindAllString(strings.ToLower(b), -1) {
		if in[word] {
			return word
		}
	}
	return ""
}
