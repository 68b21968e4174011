// Package progress reports the progress of a call from the code that does the work to the code that shows it.
//
// Invariant: reports contain only counts and fixed words, because they reach the client separately from the
// result. They contain no content.
package progress

import "context"

// Func shows that done of total steps are finished, and in a few fixed words what the work is. total is 0 while it
// is unknown. A Func returns at once and is safe for concurrent use.
type Func func(done, total int, doing string)

type key struct{}

// With returns a context whose progress f shows.
func With(ctx context.Context, f Func) context.Context { return context.WithValue(ctx, key{}, f) }

// Report passes progress to ctx's Func, if it has one.
func Report(ctx context.Context, done, total int, doing string) {
	if f, ok := ctx.Value(key{}).(Func); ok && f != nil {
		f(done, total, doing)
	}
}
