package mesh

import (
	"context"
	"errors"
	"fmt"
)

// Rebuild deletes the vectors and tables of every compartment the audience may see and makes them again
// from the ledgers, with the model of o.Embedder. report, which may be nil, is called with the number of
// memories done before the first and after each batch. A compartment that fails does not keep the others
// from being done; the error joins what went wrong. Without a working embedder nothing is deleted.
//
// Other processes may go on: they search by keywords for what has no vector yet.
func (v *View) Rebuild(ctx context.Context, report func(compartment string, done, total int)) error {
	if report == nil {
		report = func(string, int, int) {}
	}
	if _, err := v.Embedder.Embed(ctx, []string{"ready"}); err != nil {
		return fmt.Errorf("rebuild the memory index: %w", err)
	}
	names, err := v.visible()
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range names {
		err := v.with(ctx, name, func(c *compartment) error {
			if err := c.Sync(ctx); err != nil || c.untouched() {
				return err
			}
			return c.index.Rebuild(ctx, func(done, total int) { report(string(name), done, total) })
		})
		if err != nil {
			errs = append(errs, fmt.Errorf("rebuild the %s index: %w", name, err))
		}
	}
	if err := v.files.rebuild(ctx, func(done, total int) { report("files", done, total) }); err != nil {
		errs = append(errs, fmt.Errorf("rebuild the index of files: %w", err))
	}
	return errors.Join(errs...)
}
