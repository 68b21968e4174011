package meshcmd

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/internal/config"
	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/foreign"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub"
)

const (
	importBatch = 256      // memories stored with one fsync
	importLine  = 16 << 20 // maximum bytes of an export's line, far above a memory's 1 MiB with metadata
)

// importation is the answer of import.
type importation struct {
	Memories   int               `json:"memories"`   // in the source
	Imported   int               `json:"imported"`   // new ones
	Unchanged  int               `json:"unchanged"`  // stored before
	Skipped    []skippedMemory   `json:"skipped"`    // in their order
	Notes      map[string]int    `json:"notes"`      // what was changed, and how often
	Redactions []scrub.Redaction `json:"redactions"` // by kind
	DryRun     bool              `json:"dry_run"`
	Indexed    bool              `json:"indexed"` // every memory is found by meaning
}

// skippedMemory is a memory that could not be imported.
type skippedMemory struct {
	Memory string `json:"memory"` // its id, or its line in an export
	Reason string `json:"reason"`
}

// newImport returns `yamo-mcp mesh import`. A memory that cannot be imported is reported and skipped; the others are
// imported, and the command succeeds.
func (m *command) newImport() *cobra.Command {
	var dryRun bool
	cmd := m.command(&cobra.Command{
		Use:   "import <path>",
		Short: "Import memories from another LanceDB database or from an export",
		Long: `Import memories from the LanceDB database of another implementation of RFC-0011 in schema V1 or V2
(the folder that contains memory_entries.lance), or from a file that export wrote. They are scrubbed
like everything that is stored, and keep their IDs and times if these are valid. All of them become
private memories, or with --group memories of that group, whatever their visibility was. A memory is
not imported twice: run the command again to continue after an interruption. The source is not
changed. Vectors are computed again; blocks and skills are not imported (use ingest-skill for
skills).`,
		Args: cli.PlainText("path"),
	}, func(ctx context.Context, memory *mesh.View, args []string) error {
		return m.importFrom(ctx, memory, args[0], dryRun)
	})
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "report what would be imported, without importing")
	return cmd
}

// importFrom imports in batches: each is durable when it is counted, so that an interruption loses none of them.
func (m *command) importFrom(ctx context.Context, memory *mesh.View, path string, dryRun bool) error {
	report := importation{
		Skipped: []skippedMemory{}, Notes: map[string]int{}, Redactions: []scrub.Redaction{}, DryRun: dryRun,
	}
	requests, err := report.read(ctx, path)
	if err != nil {
		return err
	}
	if report.Memories = len(requests) + len(report.Skipped); report.Memories == 0 {
		return fmt.Errorf("path %q: there is no memory in it; give a file that yamo-mcp mesh export wrote, "+
			"or the folder of a LanceDB database with memories", path)
	}
	bars := cli.NewProgress(m.Stderr)
	defer bars.End()
	size := importBatch
	if dryRun { // nothing is stored, so that a memory that occurs twice is only noticed within one batch
		size = max(1, len(requests))
	}
	done, ids := 0, map[string]string{} // the ids here, by those of the source
	for batch := range slices.Chunk(requests, size) {
		outcomes, err := memory.Import(ctx, batch, dryRun)
		if err != nil && ctx.Err() != nil {
			return fmt.Errorf("interrupted after %d of %d memories; run the command again to continue", done, len(requests))
		}
		if err != nil {
			return err
		}
		if err := report.count(batch, outcomes); err != nil {
			return err
		}
		counted := map[string]record.Accesses{}
		for i, o := range outcomes {
			if o.Err != nil {
				continue
			}
			ids[batch[i].ID] = o.ID
			if a := batch[i].Accesses; o.Created && a.Count > 0 {
				counted[o.ID] = a
			}
		}
		if !dryRun {
			if err := memory.AddAccesses(ctx, counted); err != nil {
				return err
			}
		}
		done += len(batch)
		bars.Show("import", done, len(requests))
	}
	if !dryRun {
		// At the end: what replaced a memory comes after it.
		if err := memory.Retire(ctx, retired(requests, ids)); err != nil {
			return err
		}
		if report.Indexed, err = m.settle(ctx, memory, bars); err != nil {
			return err
		}
	}
	bars.End()
	return m.Answer(report, report.String())
}

// retired returns the revisions of the imported memories that were not current in the source.
func retired(requests []record.Foreign, ids map[string]string) (list []record.Revision) {
	for _, m := range requests {
		if m.Past != nil && ids[m.ID] != "" {
			list = append(list, record.Revision{
				Old: ids[m.ID], New: ids[m.Past.New], At: m.Past.At.UTC().Truncate(time.Millisecond), Why: "imported",
			})
		}
	}
	return list
}

// read reads a database's folder or an export.
func (r *importation) read(ctx context.Context, path string) ([]record.Foreign, error) {
	// A folder is a database, a file an export: no flag is needed to tell them apart.
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("path %q: %w", path, config.WithoutPath(err))
	}
	if !info.IsDir() {
		return r.readExport(path)
	}
	requests, err := foreign.Memories(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("path %q: no memory_entries.lance in it; give the folder of a LanceDB database", path)
	}
	return requests, err
}

// readExport reads a file that export wrote. Lines that are not memories are skipped with their number.
func (r *importation) readExport(path string) ([]record.Foreign, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("path %q: %w", path, config.WithoutPath(err))
	}
	defer file.Close() //nolint:errcheck // it was only read
	var requests []record.Foreign
	lines := bufio.NewScanner(file)
	// bufio.Scanner's own limit is 64 KiB; an exported memory may have 1 MiB.
	lines.Buffer(nil, importLine)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var exported match
		reason := ""
		if err := json.Unmarshal(lines.Bytes(), &exported); err != nil || exported.Record == nil {
			reason = "not a memory that export wrote"
		} else if strings.TrimSpace(exported.Content) == "" {
			reason = "a memory without content"
		}
		if reason != "" {
			r.Skipped = append(r.Skipped, skippedMemory{fmt.Sprintf("line %d", n), reason})
			continue
		}
		requests = append(requests, exported.toImport())
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("path %q: %w", path, config.WithoutPath(err))
	}
	if len(requests) == 0 && len(r.Skipped) > 0 {
		return nil, fmt.Errorf("path %q: none of its %d lines is a memory that export wrote; %s: %s",
			path, len(r.Skipped), r.Skipped[0].Memory, r.Skipped[0].Reason)
	}
	return requests, nil
}

// toImport converts an exported memory to one that can be imported.
func (e match) toImport() record.Foreign {
	m := record.Foreign{Record: *e.Record}
	m.Heritage = e.Heritage
	if e.SupersededAt != nil {
		m.Past = &record.Revision{Old: m.ID, New: e.SupersededBy, At: *e.SupersededAt}
	}
	// The IDs of its sources may name other memories here, or none.
	if m.Reflection != nil {
		m.Notes = []string{"the reflection's sources were left out"}
	}
	return m
}

// count adds the outcomes of a batch to the report. An error that is not a fault concerns all memories and ends the
// import.
func (r *importation) count(batch []record.Foreign, outcomes []mesh.Outcome) error {
	for i, o := range outcomes {
		switch f, refused := fault.As(o.Err); {
		case refused:
			r.Skipped = append(r.Skipped, skippedMemory{batch[i].ID, f.Error()})
			continue
		case o.Err != nil:
			return o.Err
		case !o.Created:
			r.Unchanged++
			continue
		}
		r.Imported++
		for _, note := range o.Notes {
			r.Notes[note]++
		}
		for _, found := range o.Redactions {
			at := slices.IndexFunc(r.Redactions, func(have scrub.Redaction) bool { return have.Kind == found.Kind })
			if at < 0 {
				at, r.Redactions = len(r.Redactions), append(r.Redactions, scrub.Redaction{Kind: found.Kind})
			}
			r.Redactions[at].Count += found.Count
		}
	}
	return nil
}

// String formats the report.
func (r *importation) String() string {
	var b strings.Builder
	verb := "Imported"
	if r.DryRun {
		verb = "Would import"
	}
	fmt.Fprintf(&b, "[MemoryMesh] %s %d of %d memories, %d unchanged, %d skipped\n",
		verb, r.Imported, r.Memories, r.Unchanged, len(r.Skipped))
	for _, found := range r.Redactions {
		fmt.Fprintf(&b, "[MemoryMesh] Redacted %d x %s\n", found.Count, found.Kind)
	}
	for _, note := range slices.Sorted(maps.Keys(r.Notes)) {
		fmt.Fprintf(&b, "[MemoryMesh] Of %d: %s\n", r.Notes[note], note)
	}
	for _, s := range r.Skipped {
		fmt.Fprintf(&b, "[MemoryMesh] Skipped %s: %s\n", s.Memory, s.Reason)
	}
	return b.String()
}

// newExport returns `yamo-mcp mesh export`. The lines are those of search and get, which import reads.
func (m *command) newExport() *cobra.Command {
	return m.command(&cobra.Command{
		Use:   "export",
		Short: "Export every memory as a line of JSON",
		Long: `Print every memory as a line of JSON, oldest first: private, shared and of every group; with
--connection or --group the memories that a session of that audience sees. import reads this format.
The output is as private as the memories are.`,
	}, func(ctx context.Context, memory *mesh.View, _ []string) error {
		hits, err := memory.All(ctx, 0)
		if err != nil {
			return err
		}
		out := bufio.NewWriter(m.Stdout)
		encoder := json.NewEncoder(out)
		// As in every answer: an export is compared and read by people.
		encoder.SetEscapeHTML(false)
		for _, h := range hits {
			if err := encoder.Encode(newMatch(h, nil, nil)); err != nil {
				return err
			}
		}
		return out.Flush()
	})
}

// migration is the answer of migrate.
type migration struct {
	Migrated bool `json:"migrated"` // false: the database had V2 already
	Memories int  `json:"memories"`
}

// newMigrate returns `yamo-mcp mesh migrate` (RFC-0011 §11). It changes a database of another program only, so unlike
// the other mesh commands it needs no workspace.
func (m *command) newMigrate() *cobra.Command {
	return &cobra.Command{
		Use:   "migrate <path>",
		Short: "Migrate another program's LanceDB database from schema V1 to V2, in place",
		Long: `Migrate the LanceDB database in a folder from schema V1 to V2 (RFC-0011 §11), for the program that
owns it. Workspaces of yamo-mcp have V2 already, and import does not need a migration. The old table
is kept as memory_entries_v1_backup; after 30 days the same command deletes it. If it is
interrupted, run it again. Other programs must not write to the database during the migration.`,
		Args: cli.PlainText("path"),
		RunE: func(cmd *cobra.Command, args []string) error {
			changed, rows, err := foreign.Migrate(cmd.Context(), args[0], time.Now())
			if errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("path %q: no memory_entries.lance in it; give the folder of a LanceDB database", args[0])
			}
			if err != nil {
				return err
			}
			text := fmt.Sprintf("[MemoryMesh] The schema is V2 already, with %d memories\n", rows)
			if changed {
				text = fmt.Sprintf("[MemoryMesh] Migrated %d memories to schema V2; "+
					"memory_entries_v1_backup is kept for 30 days\n", rows)
			}
			return m.Answer(migration{changed, rows}, text)
		},
	}
}
