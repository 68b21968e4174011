// Package progress carries how far a call has come, from whoever does the work to whoever shows it.
//
// The invariant: what is reported is counts and fixed words. It reaches the client beside the answer, so
// nothing that the audience may not see, and no content at all, is in it.
package progress

import "context"

// Func shows that done of total steps are done, and in a few fixed words what is being done. total is 0
// while it is not known. It returns at once and may be called by several goroutines.
type Func func(done, total int, doing string)

type key struct{}

// With returns a context whose work is shown by f.
func With(ctx context.Context, f Func) context.Context { return context.WithValue(ctx, key{}, f) }

// Report tells whoever shows ctx's progress, if anybody does.
func Report(ctx context.Context, done, total int, doing string) {
	if f, ok := ctx.Value(key{}).(Func); ok && f != nil {
		f(done, total, doing)
	}
}
