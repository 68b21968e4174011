// Package fault is the kind of error that the model or the person can correct.
//
// The invariant: a fault's text reaches the client word for word, so it names the field, says what is
// allowed and what to do next, and holds nothing the audience may not see. Every other error is
// answered with "internal error".
package fault

import (
	"errors"
	"fmt"
)

// Error is a problem that the caller can correct.
type Error struct{ text string }

// New returns an *Error with the formatted text. %w does not wrap: what stands behind a fault is spelt
// out in its text or not told.
func New(format string, args ...any) error {
	return &Error{text: fmt.Sprintf(format, args...)}
}

// Error is the text for the model or the person.
func (f *Error) Error() string { return f.text }

// As finds a fault in err's chain. The text around it (from wrapping) is not for the caller.
func As(err error) (*Error, bool) {
	return errors.AsType[*Error](err)
}
