// Package fault is the type of errors that the model or the person can correct.
//
// Invariant: the client gets a fault's text verbatim. So the text names the field, the allowed values and the
// next step, and contains nothing that the audience may not see. For every other error the client gets only
// "internal error".
package fault

import (
	"errors"
	"fmt"
)

// Error is a problem that the caller can correct.
type Error struct{ text string }

// New returns an *Error with the formatted text. %w does not wrap: the cause of a fault is spelt out in its text
// or omitted.
func New(format string, args ...any) error {
	return &Error{text: fmt.Sprintf(format, args...)}
}

// Error returns the text for the model or the person.
func (f *Error) Error() string { return f.text }

// As returns the fault in err's chain, if there is one. Text added by wrapping is not for the client.
func As(err error) (*Error, bool) {
	return errors.AsType[*Error](err)
}
