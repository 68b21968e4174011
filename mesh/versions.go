package mesh

import (
	"encoding/hex"
	"fmt"

	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

// file is where a memory comes from, the zero value if it is not known.
type file struct{ folder, path string }

// Keys of a memory's metadata.
const (
	FolderKey = "folder" // identifies the folder that a file was read from
	PathKey   = "path"   // of the file in that folder
)

// fileOf returns the file that a memory was imported from, as its metadata names it; the zero file for any other
// memory.
func fileOf(r *record.Record) file {
	folder, _ := r.Metadata[FolderKey].(string)
	path, _ := r.Metadata[PathKey].(string)
	if folder == "" || path == "" {
		return file{}
	}
	return file{folder, path}
}

// digestOf identifies the words that a memory was read from a file with, wherever that file is; "" if it was not read
// from one. The entry that erases the memory keeps it, so that the same text is not stored again.
func digestOf(r *record.Record) string {
	if fileOf(r) == (file{}) {
		return ""
	}
	key := r.Words()
	return hex.EncodeToString(key[:])
}

// corrected returns why the text of a file, which no current memory has, is not stored again, "" if it is: its memory
// was corrected, retired or erased, and the file still has what it had then. A text that only a later version of the
// file replaced is in the file again.
func (b *batch) corrected(s *store.Snapshot, r *record.Record) string {
	if at, ok := s.ErasedText(digestOf(r)); ok {
		return fmt.Sprintf("its memory was erased on %s; mesh store stores it again",
			at.In(b.zone).Format("2 January 2006"))
	}
	for old := range s.PastTwins(r) {
		past := s.Past(old.ID)
		next := s.Find(past.New)
		if why := b.byPerson(past, next); why != "" {
			return fmt.Sprintf("its memory %s was %s", old.ID, why)
		}
	}
	return ""
}

// byPerson tells when a person retired a memory that was read from a file or, with next, corrected it; "" if a later
// version of the file replaced it.
func (b *batch) byPerson(past *record.Revision, next *record.Record) string {
	on := past.At.In(b.zone).Format("2 January 2006")
	switch {
	case next == nil:
		return "retired on " + on
	case fileOf(next) == (file{}):
		return fmt.Sprintf("corrected on %s by %s", on, next.ID)
	}
	return ""
}

// amended returns, for files without a current memory, what became of the last one that they had, where that was a
// person's doing: their new text may repeat what was wrong.
func (b *batch) amended(s *store.Snapshot, current map[file]string) map[file]string {
	if !b.versions {
		return nil
	}
	last := map[file]string{}
	for old := range s.Memories() {
		f, past := fileOf(old), s.Past(old.ID)
		if f == (file{}) || past == nil || current[f] != "" {
			continue
		}
		delete(last, f)
		if why := b.byPerson(past, s.Find(past.New)); why != "" {
			last[f] = fmt.Sprintf("its earlier memory %s was %s", old.ID, why)
		}
	}
	return last
}

// files returns the ids of the current memories of files, the latest of each; nil if records replace none.
func (b *batch) files(s *store.Snapshot) map[file]string {
	if !b.versions {
		return nil
	}
	ids := map[file]string{}
	for r := range s.Current() {
		if f := fileOf(r); f != (file{}) {
			ids[f] = r.ID
		}
	}
	return ids
}

// present returns the files of the batch whose text a memory has, by its id: the one that it was read from, if that
// still has the text, or else the first.
func (b *batch) present(s *store.Snapshot) map[string]file {
	if !b.versions {
		return nil
	}
	at := map[string]file{}
	for i, r := range b.records {
		if b.outcomes[i].Err != nil {
			continue
		}
		kept := b.known(s, r)
		if kept == nil || fileOf(kept) == (file{}) { // it was not read from a file
			continue
		}
		if _, ok := at[kept.ID]; !ok || fileOf(r) == fileOf(kept) {
			at[kept.ID] = fileOf(r)
		}
	}
	return at
}

// updated drafts the update of a memory whose text another file has now, or that is of another type.
func updated(kept, r *record.Record, kind string) ledger.Draft {
	m, _ := overlay(kept.Memory, record.Memory{Type: kind, Source: r.Source, Metadata: r.Metadata})
	m.Type, m.Content = kind, ""
	return ledger.Draft{Op: store.OpUpdate, ID: kept.ID, Data: m}
}
