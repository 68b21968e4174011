package workspace

import (
	"cmp"
	"iter"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/workspace/memfile"
)

// DatedFile is a memory file whose name begins with a date: a saved session, a flush, a topic of a day (seed 003), or a
// note of notes/ (seed 002).
type DatedFile struct {
	File
	Date string       // YYYY-MM-DD
	Type memfile.Type // of a file in memory/, from its name and front matter; "" for a note
}

// flushTime is the time in the name of a flush.
var flushTime = regexp.MustCompile(`^memory/[0-9]{4}-[0-9]{2}-[0-9]{2}-flush-([0-9]{6})\.md$`)

// DatedFiles yields the memory files and notes of the days from since (YYYY-MM-DD) on, except daily logs, newest first:
// by the date in their names, then by the time of their last change. Files that are refused are left out. In a group
// there are none.
func (v *View) DatedFiles(since string) iter.Seq[DatedFile] {
	return func(yield func(DatedFile) bool) {
		// SECURITY: only what a DM may list; list returns nothing for a group.
		days := map[string][]string{}
		for _, name := range slices.Concat(v.list(memoryFolder), v.list(notesFolder)) {
			base := path.Base(name)
			if path.Ext(name) != ".md" || !dated(base) || classify(v.who, name) != audience.Notes {
				continue
			}
			if date := base[:len(time.DateOnly)]; date >= since {
				days[date] = append(days[date], name)
			}
		}
		// A day's files are looked at only when the caller gets there: there may be thousands of days.
		for _, date := range slices.Backward(slices.Sorted(maps.Keys(days))) {
			for _, file := range v.ofDay(date, days[date]) {
				if !yield(file) {
					return
				}
			}
		}
	}
}

// ofDay describes the files called names, whose names begin with date, newest first.
func (v *View) ofDay(date string, names []string) (files []DatedFile) {
	for _, name := range names {
		if file, err := v.Stat(name); err == nil {
			files = append(files, DatedFile{File: file, Date: date, Type: v.typeOf(name)})
		}
	}
	slices.SortFunc(files, func(a, b DatedFile) int {
		return cmp.Or(b.Modified.Compare(a.Modified), cmp.Compare(b.Name, a.Name))
	})
	return files
}

// typeHead is how much of a memory file is read for its type, in characters.
const typeHead = 4_000

// typeOf returns the type of the memory file called name: that of its front matter or, without any, what its name
// shows.
func (v *View) typeOf(name string) memfile.Type {
	if !strings.HasPrefix(name, memoryFolder+"/") {
		return ""
	}
	if flushTime.MatchString(name) {
		return memfile.MemoryFlush
	}
	if head, _, err := v.text(name, typeHead); err == nil {
		if file, err := memfile.Parse([]byte(head)); err == nil && file.Matter.Type != "" {
			return file.Matter.Type
		}
	}
	return memfile.DailyLog
}

// LastSaves returns what the next session continues from, newest first: the last saved session or topic of a day, and
// the last flush, if it is not of an earlier day. In a group there are none.
func (v *View) LastSaves() (last []DatedFile) {
	saved, flushed := false, false
	for file := range v.DatedFiles("") {
		isFlush := file.Type == memfile.MemoryFlush
		switch {
		case saved && (flushed || file.Date < last[0].Date && file.Date < last[len(last)-1].Date):
			return last
		case file.Type == "", isFlush && flushed, !isFlush && saved:
			continue
		}
		saved, flushed = saved || !isFlush, flushed || isFlush
		last = append(last, file)
	}
	return last
}
