package mesh

import (
	"encoding/hex"
	"fmt"
	"maps"
	"time"

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
		return fmt.Sprintf("its memory was erased on %s; mesh store stores it again", b.day(at))
	}
	for old := range s.PastTwins(r) {
		if why := b.byPerson(s, old.ID); why != "" {
			return fmt.Sprintf("its memory %s was %s", old.ID, why)
		}
	}
	return ""
}

// amended returns what became of a file's last memory, which is past, where that was a person's doing: the new text of
// the file may repeat what was wrong. It returns "" if there is none, or a later version of the file replaced it.
func (b *batch) amended(s *store.Snapshot, last string) string {
	if last == "" {
		return ""
	}
	why := b.byPerson(s, last)
	if why == "" {
		return ""
	}
	return fmt.Sprintf("its earlier memory %s was %s", last, why)
}

// byPerson tells when a person retired or corrected a past memory that was read from a file; "" if a later version of
// the file replaced it.
func (b *batch) byPerson(s *store.Snapshot, id string) string {
	past := s.Past(id)
	switch next := s.Find(past.New); {
	case next == nil:
		return "retired on " + b.day(past.At)
	case fileOf(next) == (file{}):
		return fmt.Sprintf("corrected on %s by %s", b.day(past.At), next.ID)
	}
	return ""
}

// day returns the day of a time as a report names it.
func (b *batch) day(at time.Time) string { return at.In(b.zone).Format("2 January 2006") }

// files returns the ids of the latest memories of files: of those that have a current one, and of those that have only
// past ones; nil if records replace none.
func (b *batch) files(s *store.Snapshot) (current, past map[file]string) {
	if !b.versions {
		return nil, nil
	}
	current, past = map[file]string{}, map[file]string{}
	for r := range s.Memories() {
		switch f := fileOf(r); {
		case f == (file{}):
		case s.Past(r.ID) == nil:
			current[f] = r.ID
		default:
			past[f] = r.ID
		}
	}
	maps.DeleteFunc(past, func(f file, _ string) bool { return current[f] != "" })
	return current, past
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
