package meshcmd

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/internal/config"
	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

const (
	ingestBatch = 64      // files stored with one fsync
	ingestBytes = 4 << 20 // of their texts at once, at most one file more
)

// ingestion is the answer of ingest-dir.
type ingestion struct {
	Files     int       `json:"files"`     // selected by the flags
	Ingested  int       `json:"ingested"`  // new memories
	Replaced  int       `json:"replaced"`  // of them, those that replaced an earlier version of the file
	Unchanged int       `json:"unchanged"` // whose text was a memory before
	Skipped   []skipped `json:"skipped"`   // by name
	Amended   []amended `json:"amended"`   // by name
	Other     int       `json:"other"`     // files of another extension
	Indexed   bool      `json:"indexed"`   // every memory is found by meaning

	Renamed []renamed  `json:"renamed"`
	Gone    []goneFile `json:"gone"`

	folder   string          // see folderID
	earlier  []record.Hit    // the folder's current memories before
	fresh    []newFile       // kept if there are earlier ones
	present  map[string]bool // ids of memories whose text a file still has
	replaced map[string]bool // ids of memories that a changed file replaced
	read     map[string]bool // files that were read, also those without text
}

// skipped is a file that was not stored.
type skipped struct {
	File   string `json:"file"`
	Reason string `json:"reason"`
}

// amended is a file with a new text whose earlier one a person had corrected or retired.
type amended struct {
	File string `json:"file"`
	ID   string `json:"id"` // of the new memory
	What string `json:"what"`
}

// newIngestDir returns `yamo-mcp mesh ingest-dir` (RFC-0011 §9). A file that cannot be stored is reported and skipped;
// the command succeeds.
func (m *command) newIngestDir() *cobra.Command {
	var extension, kind string
	var recursive bool
	cmd := m.command(&cobra.Command{
		Use:   "ingest-dir <path>",
		Short: "Store the text files of a folder as memories",
		Long: `Store each text file of a folder as one memory. Text that is a memory already is not stored twice:
run the command again to continue after an interruption. The memory of a file that has changed since
is superseded by the new one, also if the file was renamed and still has most of its words. A memory
whose text no file has any more stays and is named in the report. A file whose memory was corrected,
retired or erased is not stored again until it changes. Hidden files and folders, links, and files that
are not text are skipped.`,
		Args: cli.PlainText("path"),
	}, func(ctx context.Context, memory *mesh.View, args []string) error {
		return m.ingest(ctx, memory, args[0], extensions(extension), kind, recursive)
	})
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&extension, "extension", ".md,.markdown,.txt,.yamo", "extensions of the files, separated by commas")
	flags.StringVar(&kind, "type", "global", "type of the memories: "+strings.Join(record.Types, ", "))
	flags.BoolVar(&recursive, "recursive", false, "include the folders below")
	return cmd
}

// extensions reads --extension: with or without the dot, in any case.
func extensions(list string) []string {
	var set []string
	for e := range strings.SplitSeq(list, ",") {
		if e = strings.ToLower(strings.TrimLeft(strings.TrimSpace(e), "*.")); e != "" {
			set = append(set, "."+e)
		}
	}
	return set
}

// ingest stores in batches: each is durable when it is counted, so that an interruption loses none of them.
func (m *command) ingest(ctx context.Context, memory *mesh.View,
	dir string, extensions []string, kind string, recursive bool,
) error {
	if len(extensions) == 0 {
		return errors.New("--extension: give one like .md")
	}
	// Checked before any file is read; otherwise each of them would be skipped with the same reason.
	if !slices.Contains(record.Types, kind) {
		return fmt.Errorf("--type: use one of %s", strings.Join(record.Types, ", "))
	}
	// SECURITY: no link inside the folder leads out of it.
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("folder %q: %w", dir, config.WithoutPath(err))
	}
	defer root.Close() //nolint:errcheck // it was only read
	report := ingestion{
		Skipped: []skipped{}, Amended: []amended{}, Renamed: []renamed{}, Gone: []goneFile{}, folder: folderID(dir),
		present: map[string]bool{}, replaced: map[string]bool{}, read: map[string]bool{},
	}
	files, err := report.list(root.FS(), extensions, recursive)
	if err != nil {
		return err
	}
	if err := report.before(ctx, memory); err != nil {
		return err
	}
	bars := cli.NewProgress(m.Stderr)
	defer bars.End()
	report.Files += len(files)
	for done := 0; done < len(files); {
		n, err := report.batch(ctx, memory, root, files[done:], kind)
		if err != nil && ctx.Err() != nil {
			return fmt.Errorf("interrupted after %d of %d files; run the command again to continue", done, len(files))
		}
		if err != nil {
			return err
		}
		done += n
		bars.Show("ingest", done, len(files))
	}
	if err := report.follow(ctx, memory, report.gone(root), time.Now()); err != nil {
		return err
	}
	if report.Indexed, err = m.settle(ctx, memory, bars); err != nil {
		return err
	}
	bars.End()
	slices.SortFunc(report.Skipped, func(a, b skipped) int { return strings.Compare(a.File, b.File) })
	return m.Answer(report, report.String())
}

// folderID identifies a folder in the metadata of its files without naming it: what is exported tells nothing about
// this machine.
func folderID(dir string) string {
	if whole, err := filepath.Abs(dir); err == nil {
		dir = whole
	}
	if target, err := filepath.EvalSymlinks(dir); err == nil {
		dir = target
	}
	sum := sha256.Sum256([]byte(dir))
	return hex.EncodeToString(sum[:8])
}

// settle indexes at the end of a command that has stored many memories. It waits, because the process would otherwise
// end before the vectors are computed. Without a model, a later command or server indexes them: that is a notice, not
// an error.
func (m *command) settle(ctx context.Context, memory *mesh.View, bars *cli.Progress) (indexed bool, err error) {
	err = m.index(ctx, memory, bars)
	switch {
	case ctx.Err() != nil:
		return false, errors.New("interrupted while indexing; everything is stored, " +
			"and the next command or server indexes the rest")
	case err != nil:
		m.notice("Not indexed yet: " + err.Error())
		return false, nil
	}
	return true, nil
}

// index computes the vectors that are missing, so that the memories can be found by meaning.
func (m *command) index(ctx context.Context, memory *mesh.View, bars *cli.Progress) error {
	most := 0
	err := memory.Maintenance().Settle(ctx, func(pending int) {
		// The number grows when another process stores memories meanwhile; the bar's total grows with it.
		most = max(most, pending)
		bars.Show("index", most-pending, most)
	})
	if errors.Is(err, embed.ErrNoAssets) {
		return embed.ErrNoAssets
	}
	return err
}

// list returns the names of the files to store, sorted.
func (r *ingestion) list(folder fs.FS, extensions []string, recursive bool) ([]string, error) {
	var files []string
	err := fs.WalkDir(folder, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		// Only the folder itself is worth an error; what cannot be read below it is reported and skipped.
		case err != nil && name == ".":
			return fmt.Errorf("read the folder: %w", config.WithoutPath(err))
		case err != nil:
			r.skip(name, config.WithoutPath(err).Error())
			return nil
		case name == ".":
			return nil
		// .git and .yamo: their contents are not what a person means by "my notes".
		case entry.IsDir() && strings.HasPrefix(entry.Name(), "."):
			if recursive {
				r.skip(name, "hidden folder")
			}
			return fs.SkipDir
		case entry.IsDir() && !recursive:
			return fs.SkipDir
		case entry.IsDir():
			return nil
		case !slices.Contains(extensions, strings.ToLower(path.Ext(name))):
			r.Other++
			return nil
		case strings.HasPrefix(entry.Name(), "."):
			r.Files++
			r.skip(name, "hidden file")
			return nil
		case !entry.Type().IsRegular():
			r.Files++
			r.skip(name, "not a regular file")
			return nil
		}
		files = append(files, name)
		return nil
	})
	return files, err
}

// skip notes that the file called name was not stored, and why.
func (r *ingestion) skip(name, reason string) { r.Skipped = append(r.Skipped, skipped{name, reason}) }

// batch stores the first of files and returns the number of files that it has processed.
func (r *ingestion) batch(ctx context.Context, memory *mesh.View,
	root *os.Root, files []string, kind string,
) (int, error) {
	var requests []record.Memory
	n, size := 0, 0
	// Bounded by size too, because all texts of a batch are in memory at once.
	for n < len(files) && len(requests) < ingestBatch && size < ingestBytes {
		name := files[n]
		n++
		text, reason := readText(root, name)
		r.read[name] = reason == "" || reason == emptyFile
		if reason != "" {
			r.skip(name, reason)
			continue
		}
		size += len(text)
		requests = append(requests, record.Memory{
			Content: text, Type: kind, Source: path.Base(name),
			Metadata: map[string]any{mesh.PathKey: name, mesh.FolderKey: r.folder},
		})
	}
	outcomes, err := memory.StoreFiles(ctx, requests)
	if err != nil {
		return 0, err
	}
	for i, o := range outcomes {
		name := requests[i].Metadata[mesh.PathKey].(string)
		if o.Amended != "" {
			r.Amended = append(r.Amended, amended{name, o.ID, o.Amended})
		}
		switch f, refused := fault.As(o.Err); {
		case refused:
			r.read[name] = false
			r.skip(name, f.Error())
		case o.Err != nil:
			return 0, o.Err
		case o.Left != "":
			r.skip(name, o.Left)
		case o.Created && o.Replaced != "":
			r.Ingested++
			r.Replaced++
			r.replaced[o.Replaced] = true
		case o.Created:
			r.Ingested++
			if len(r.earlier) > 0 {
				r.fresh = append(r.fresh, newFile{o.ID, name, requests[i].Content})
			}
		default:
			r.Unchanged++
			r.present[o.ID] = true
		}
	}
	return n, nil
}

// emptyFile is the reason for skipping a file without text.
const emptyFile = "empty"

// readText reads a text file, or returns the reason for skipping it.
func readText(root *os.Root, name string) (text, reason string) {
	file, err := root.Open(name)
	if err != nil {
		return "", config.WithoutPath(err).Error()
	}
	defer file.Close() //nolint:errcheck // it was only read
	// The name was a regular file when the folder was listed; by now it may be something else.
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", "not a regular file"
	}
	// One byte more than allowed tells a file that is too large from one of exactly the maximum.
	data, err := io.ReadAll(io.LimitReader(file, record.MaxContent+1))
	switch text := string(data); {
	case err != nil:
		return "", config.WithoutPath(err).Error()
	case len(data) > record.MaxContent:
		return "", fmt.Sprintf("larger than %d bytes", record.MaxContent)
	case strings.TrimSpace(text) == "":
		return "", emptyFile
	case strings.ContainsRune(text, 0) || strings.ToValidUTF8(text, "") != text:
		return "", "not UTF-8 text"
	default:
		return text, ""
	}
}

// String formats the report.
func (r *ingestion) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "[MemoryMesh] Ingested %d of %d files, %d unchanged, %d skipped\n",
		r.Ingested, r.Files, r.Unchanged, r.Files-r.Ingested-r.Unchanged)
	if r.Files == 0 {
		b.WriteString("[MemoryMesh] The folder has no text files; --extension and --recursive select others\n")
	}
	if r.Replaced > 0 {
		fmt.Fprintf(&b, "[MemoryMesh] %d of them replaced an earlier version\n", r.Replaced)
	}
	b.WriteString(r.goneText())
	if r.Other > 0 {
		fmt.Fprintf(&b, "[MemoryMesh] Left out %s of other extensions\n", text.Count(r.Other, "file", "files"))
	}
	for _, a := range r.Amended {
		fmt.Fprintf(&b, "[MemoryMesh] %s has a new text, %s, but %s; retire the new one if it repeats what was wrong\n",
			a.File, a.ID, a.What)
	}
	for _, s := range r.Skipped {
		fmt.Fprintf(&b, "[MemoryMesh] Skipped %s: %s\n", s.File, s.Reason)
	}
	return b.String()
}
