package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/config"
	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/othertools"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub"
)

// takenOver is the answer of `yamo-mcp import` for the memories of another tool.
type takenOver struct {
	Source    string          `json:"source"`
	Path      string          `json:"path"`
	Import    string          `json:"import_id,omitempty"` // "" if nothing was stored
	DryRun    bool            `json:"dry_run"`
	Memories  int             `json:"memories"`  // that the tool has
	New       int             `json:"new"`       // stored, or of a dry run would be
	Unchanged int             `json:"unchanged"` // stored before
	Unknown   int             `json:"unknown"`   // entries of no known form, or without text
	Deleted   int             `json:"deleted"`   // entries that the tool has deleted or archived
	Redacted  int             `json:"redacted"`  // credentials and personal identifiers that were removed
	Refused   []refusedMemory `json:"refused"`
	First     string          `json:"first,omitempty"`
	Last      string          `json:"last,omitempty"`
	Samples   []string        `json:"samples,omitempty"` // of a dry run: how the newest of the new ones begin
}

// refusedMemory is an entry that could not be stored.
type refusedMemory struct {
	Origin string `json:"origin"` // its place in the tool's store
	Reason string `json:"reason"`
}

const (
	memoryBatch = 256 // memories stored with one fsync
	maxSamples  = 5
	maxSample   = 100 // characters
	maxRefused  = 20  // that are shown as text
)

// present reports whether there is a file or folder at a path.
func present(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// memories imports what another memory tool has kept at path, "" for its usual place.
func (c importing) memories(ctx context.Context, tool, path string, read othertools.Reader) error {
	if c.copy || c.distill {
		return cli.Misused("import: --copy and --distill are for conversations; %s has memories", tool)
	}
	if path == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return fmt.Errorf("import: %w", err)
		}
		if path = othertools.Place(tool, home, c.Getenv); path == "" {
			return cli.Misused("import: %s needs PATH: the file or folder that it keeps its memories in", tool)
		}
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	found, err := read(ctx, path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && present(path):
		return fmt.Errorf("import: %s has nothing that %s keeps its memories in; name that file or folder", path, tool)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("import: %s does not exist; name the file or folder that %s keeps its memories in", path, tool)
	case err != nil:
		return fmt.Errorf("import: %s: %w", path, err)
	}
	if len(found.Memories) == 0 {
		return fmt.Errorf("import: %s: nothing to import: it has %d deleted entries and %d without a text or a known form; "+
			"name the file or folder that %s keeps its memories in", path, found.Deleted, found.Unknown, tool)
	}
	id, err := record.NewID("import", time.Now(), rand.Reader)
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	for i := range found.Memories {
		found.Memories[i].Metadata[mesh.ImportKey] = id
	}
	result := takenOver{
		Source: tool, Path: path, DryRun: c.dryRun, Memories: len(found.Memories), Unknown: found.Unknown,
		Deleted: found.Deleted, Refused: []refusedMemory{},
	}
	err = c.WithMemory(audience.DM(), func(memory *mesh.View) error {
		return c.store(ctx, memory, &result, found.Memories)
	})
	if result.New > 0 && !c.dryRun {
		result.Import = id
	}
	if err != nil && result.Import != "" {
		return fmt.Errorf("import: %d memories were stored (import %s), then: %w; run the command again for the others",
			result.New, id, err)
	}
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	return c.Answer(result, result.String())
}

// store stores memories in batches: each is durable when it is counted.
func (c importing) store(ctx context.Context, memory *mesh.View, result *takenOver, list []record.Foreign) error {
	bars := cli.NewProgress(c.Stderr)
	defer bars.End()
	size := memoryBatch
	if c.dryRun { // nothing is stored, so that a memory that occurs twice is only noticed within one batch
		size = max(1, len(list))
	}
	done := 0
	for batch := range slices.Chunk(list, size) {
		outcomes, err := memory.Import(ctx, batch, c.dryRun)
		if err != nil {
			return err
		}
		for i, o := range outcomes {
			if err := result.count(batch[i], o); err != nil {
				return err
			}
		}
		done += len(batch)
		bars.Show("import", done, len(list))
	}
	if len(result.Samples) > maxSamples {
		result.Samples = result.Samples[len(result.Samples)-maxSamples:]
	}
	if !c.dryRun {
		return nil
	}
	clean, err := c.cleaner()
	if err != nil {
		return err
	}
	for i, sample := range result.Samples {
		// SECURITY: what is shown of it is redacted as what is stored is.
		day, said, _ := strings.Cut(sample, " ")
		said, _ = text.Fit(text.OneLine(text.Plain(clean(said))), maxSample)
		result.Samples[i] = day + " " + said
	}
	return nil
}

// cleaner returns the redaction of the settings.
func (c importing) cleaner() (func(string) string, error) {
	list, err := c.Config.Learning.Redact()
	if err != nil {
		return nil, err
	}
	s := scrub.New(scrub.Options{List: list})
	return func(said string) string { clean, _ := s.Redact(said); return clean }, nil
}

// count counts the outcome of a memory. An error that is not a fault concerns all of them.
func (r *takenOver) count(m record.Foreign, o mesh.Outcome) error {
	switch f, refused := fault.As(o.Err); {
	case refused:
		origin, _ := m.Metadata["origin"].(string)
		r.Refused = append(r.Refused, refusedMemory{text.Plain(origin), f.Error()})
		return nil
	case o.Err != nil:
		return o.Err
	case !o.Created:
		r.Unchanged++
		return nil
	}
	r.New++
	for _, found := range o.Redactions {
		r.Redacted += found.Count
	}
	day := m.CreatedAt.Format(time.DateOnly)
	if r.First == "" || day < r.First {
		r.First = day
	}
	r.Last = max(r.Last, day)
	if r.DryRun {
		r.Samples = append(r.Samples, day+" "+m.Content)
	}
	return nil
}

// String is the answer as text.
func (r takenOver) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s (%s)\n", r.Source, text.Count(r.Memories, "memory", "memories"), r.Path)
	verb := "stored"
	if r.DryRun {
		verb = "would be stored"
	}
	fmt.Fprintf(&b, "  %s: %d", verb, r.New)
	if r.First != "" {
		fmt.Fprintf(&b, ", of %s to %s", r.First, r.Last)
	}
	fmt.Fprintf(&b, "; there already: %d\n", r.Unchanged)
	for _, line := range []struct {
		n    int
		text string
	}{
		{r.Redacted, "credentials and personal identifiers removed"},
		{r.Deleted, "left out, because the tool has deleted or archived them"},
		{r.Unknown, "left out, because their form is not known or they have no text"},
		{len(r.Refused), "refused"},
	} {
		if line.n > 0 {
			fmt.Fprintf(&b, "  %s: %d\n", line.text, line.n)
		}
	}
	for _, refused := range r.Refused[:min(maxRefused, len(r.Refused))] {
		fmt.Fprintf(&b, "    %s: %s\n", refused.Origin, refused.Reason)
	}
	for _, sample := range r.Samples {
		fmt.Fprintf(&b, "    %s\n", sample)
	}
	switch {
	case r.DryRun:
		b.WriteString("nothing was stored: this was a dry run\n")
	case r.Import != "":
		fmt.Fprintf(&b, "  to delete them again: yamo-mcp import --undo %s\n", r.Import)
	}
	return b.String()
}

// pastImport is an import of memories.
type pastImport struct {
	ID       string `json:"import_id"`
	Source   string `json:"source"`
	Memories int    `json:"memories"` // that are still there
}

// undone is the answer of `yamo-mcp import --undo`.
type undone struct {
	Import  string       `json:"import_id,omitempty"`
	Deleted int          `json:"deleted"`
	Imports []pastImport `json:"imports"` // that can still be undone
}

// undoMemories deletes what an import brought, or lists the imports.
func (c importing) undoMemories(ctx context.Context) error {
	var result undone
	err := c.WithMemory(audience.DM(), func(memory *mesh.View) (err error) {
		if result.Imports, err = pastImports(ctx, memory); err != nil || c.undo == "list" {
			return err
		}
		known := func(p pastImport) bool { return p.ID == c.undo }
		if !slices.ContainsFunc(result.Imports, known) {
			return cli.Misused("import: no memory is of an import %q; import --undo list shows the imports", c.undo)
		}
		if result.Deleted, err = memory.UndoImport(ctx, c.undo); err != nil {
			return fmt.Errorf("import: %w", config.WithoutPath(err))
		}
		result.Import, result.Imports = c.undo, slices.DeleteFunc(result.Imports, known)
		return nil
	})
	if err != nil {
		return err
	}
	var b strings.Builder
	if result.Import != "" {
		fmt.Fprintf(&b, "deleted: %s of the import %s\n", text.Count(result.Deleted, "memory", "memories"), result.Import)
		return c.Answer(result, b.String())
	}
	for _, p := range result.Imports {
		fmt.Fprintf(&b, "%s  %s, %s\n", p.ID, p.Source, text.Count(p.Memories, "memory", "memories"))
	}
	if len(result.Imports) == 0 {
		b.WriteString("no memory was imported from another tool\n")
	}
	return c.Answer(result, b.String())
}

// pastImports returns the imports of which there is still a memory, in the order of their oldest ones.
func pastImports(ctx context.Context, memory *mesh.View) ([]pastImport, error) {
	hits, err := memory.All(ctx, 0)
	if err != nil {
		return nil, err
	}
	list := []pastImport{}
	for _, hit := range hits {
		id, _ := hit.Metadata[mesh.ImportKey].(string)
		if !hit.Imported || id == "" {
			continue
		}
		at := slices.IndexFunc(list, func(p pastImport) bool { return p.ID == id })
		if at < 0 {
			at = len(list)
			list = append(list, pastImport{ID: id, Source: hit.Source})
		}
		list[at].Memories++
	}
	return list, nil
}
