package mesh

import "errors"

// ErrSuspended is in the error of a Completer whose answer will come with another call.
var ErrSuspended = errors.New("the language model has not answered yet")
