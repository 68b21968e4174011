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
	importLine  = 16 << 20 // bytes of an export's line
)

// importation is the answer of import.
type importation struct {
	Memories   int               `json:"memories"`   // that there are
	Imported   int               `json:"imported"`   // new ones
	Unchanged  int               `json:"unchanged"`  // there already
	Skipped    []skippedMemory   `json:"skipped"`    // in their order
	Notes      map[string]int    `json:"notes"`      // what was changed, and how often
	Redactions []scrub.Redaction `json:"redactions"` // by kind
	DryRun     bool              `json:"dry_run"`
	Indexed    bool              `json:"indexed"` // every memory is found by meaning
}

type skippedMemory struct {
	Memory string `json:"memory"` // its id, or its line in an export
	Reason string `json:"reason"`
}

func (m *command) newImport() *cobra.Command {
	var dryRun bool
	cmd := m.command(&cobra.Command{
		Use:   "import <path>",
		Short: "Take memories over from another LanceDB database or from an export",
		Long: `Take memories over: from the folder of a LanceDB database of another implementation of RFC-0011, in schema V1 or V2 (the
folder with memory_entries.lance in it), or from a file that export wrote. They are scrubbed like everything that is
stored, and keep their ids and times where these are valid. All go into the private memory, or with --group into that
group's, whosever they were. What is there already is not taken twice, so that after an interrupt the same command goes
on. The source is not changed. Vectors are made anew; blocks and skills stay behind (ingest-skill takes skills).`,
		Args: cli.PlainText("path"),
	}, func(ctx context.Context, memory *mesh.View, args []string) error {
		return m.importFrom(ctx, memory, args[0], dryRun)
	})
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "say what would be done, and write nothing")
	return cmd
}

func (m *command) importFrom(ctx context.Context, memory *mesh.View, path string, dryRun bool) error {
	report := importation{Skipped: []skippedMemory{}, Notes: map[string]int{}, Redactions: []scrub.Redaction{}, DryRun: dryRun}
	requests, err := report.read(ctx, path)
	if err != nil {
		return err
	}
	report.Memories = len(requests) + len(report.Skipped)
	bars := cli.NewProgress(m.Stderr)
	defer bars.End()
	size := importBatch
	if dryRun { // what is there twice is found within one batch
		size = max(1, len(requests))
	}
	done := 0
	for batch := range slices.Chunk(requests, size) {
		outcomes, err := memory.Import(ctx, batch, dryRun)
		if err != nil && ctx.Err() != nil {
			return fmt.Errorf("interrupted after %d of %d memories; the same command goes on from there", done, len(requests))
		}
		if err != nil {
			return err
		}
		if err := report.count(batch, outcomes); err != nil {
			return err
		}
		done += len(batch)
		bars.Show("import", done, len(requests))
	}
	if !dryRun {
		if report.Indexed, err = m.settle(ctx, memory, bars); err != nil {
			return err
		}
	}
	bars.End()
	return m.Answer(report, report.String())
}

// read reads a database's folder or an export.
func (r *importation) read(ctx context.Context, path string) ([]record.Foreign, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("path %q: %w", path, config.WithoutPath(err))
	}
	if !info.IsDir() {
		return r.readExport(path)
	}
	requests, err := foreign.Memories(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("path %q: there is no memory_entries.lance in it; give the folder of a LanceDB database", path)
	}
	return requests, err
}

func (r *importation) readExport(path string) ([]record.Foreign, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("path %q: %w", path, config.WithoutPath(err))
	}
	defer file.Close() //nolint:errcheck // it was only read
	var requests []record.Foreign
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, importLine)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var exported match
		if err := json.Unmarshal(lines.Bytes(), &exported); err != nil || exported.Record == nil {
			r.Skipped = append(r.Skipped, skippedMemory{fmt.Sprintf("line %d", n), "no memory as export writes it"})
			continue
		}
		requests = append(requests, exported.toImport())
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("path %q: %w", path, config.WithoutPath(err))
	}
	return requests, nil
}

// toImport is an exported memory, to be imported.
func (e match) toImport() record.Foreign {
	m := record.Foreign{Record: *e.Record}
	m.Heritage = e.Heritage
	if m.Reflection != nil {
		m.Notes = []string{"which memories the reflection was drawn from was left out"}
	}
	return m
}

// count adds what became of a batch.
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

// String is the report for people.
func (r *importation) String() string {
	var b strings.Builder
	verb := "Imported"
	if r.DryRun {
		verb = "Would import"
	}
	fmt.Fprintf(&b, "[MemoryMesh] %s %d of %d memories, %d unchanged, %d skipped\n", verb, r.Imported, r.Memories, r.Unchanged, len(r.Skipped))
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

func (m *command) newExport() *cobra.Command {
	return m.command(&cobra.Command{
		Use:   "export",
		Short: "Write every memory as a line of JSON, for import elsewhere",
		Long: `Write every memory of the private memory, of the shared one and of every group as a line of JSON, oldest first; with
--connection or --group those that a session of that audience sees. import reads it. What it writes is as private
as what it reads.`,
	}, func(ctx context.Context, memory *mesh.View, _ []string) error {
		hits, err := memory.All(ctx, 0)
		if err != nil {
			return err
		}
		out := bufio.NewWriter(m.Stdout)
		encoder := json.NewEncoder(out)
		encoder.SetEscapeHTML(false)
		for _, h := range hits {
			if err := encoder.Encode(newMatch(h, nil)); err != nil {
				return err
			}
		}
		return out.Flush()
	})
}

// migration is the answer of migrate.
type migration struct {
	Migrated bool `json:"migrated"` // false: the database was V2 already
	Memories int  `json:"memories"`
}

func (m *command) newMigrate() *cobra.Command {
	return m.command(&cobra.Command{
		Use:   "migrate <path>",
		Short: "Take another program's LanceDB database from schema V1 to V2, where it is",
		Long: `Take the LanceDB database in a folder from schema V1 to V2 (RFC-0011 §11), for the program that it belongs to: this
one's own are V2, and import needs no migration. The old table stays as memory_entries_v1_backup; after 30 days the
same command deletes it. It may be interrupted and given again. No other program may write to it meanwhile.`,
		Args: cli.PlainText("path"),
	}, func(ctx context.Context, _ *mesh.View, args []string) error {
		changed, rows, err := foreign.Migrate(ctx, args[0], time.Now())
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("path %q: there is no memory_entries.lance in it; give the folder of a LanceDB database", args[0])
		}
		if err != nil {
			return err
		}
		text := fmt.Sprintf("[MemoryMesh] Migrated %d memories to schema V2; memory_entries_v1_backup is kept for 30 days\n", rows)
		if !changed {
			text = fmt.Sprintf("[MemoryMesh] The schema is V2 already, with %d memories\n", rows)
		}
		return m.Answer(migration{changed, rows}, text)
	})
}
