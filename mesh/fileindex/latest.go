package fileindex

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

const (
	// saveDays is how much older than the newest log a saved session may be to come first.
	saveDays = 2
	// entriesOfLog is how many passages of a log count as its end.
	entriesOfLog = 3
)

// Latest returns up to n passages of what the audience did last, for a question such as "where did we leave off?": of
// the newest saved session, if it is recent, and then of the newest notes and the ends of the newest logs. Files
// without a date in their names and those of other groups are left out, as are those for whose passages admit is false.
func (x *Index) Latest(n int, admit func(*record.Record) bool) []record.Hit {
	if x == nil {
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	var files []projected
	for _, file := range x.files {
		// SECURITY: what another group logged is found by its words only, and marked.
		if isDated(file.info.Name) && file.info.Group == x.Visibility.Group() {
			files = append(files, file)
		}
	}
	slices.SortFunc(files, func(a, b projected) int {
		return cmp.Or(b.info.Time.Compare(a.info.Time), b.info.Modified.Compare(a.info.Modified),
			strings.Compare(a.info.Name, b.info.Name))
	})
	save := slices.IndexFunc(files, func(f projected) bool { return inMemory(f.info) && !isLog(f.info) })
	if save > 0 && files[0].info.Time.Sub(files[save].info.Time) <= saveDays*24*time.Hour {
		files = slices.Insert(slices.Delete(slices.Clone(files), save, save+1), 0, files[save])
	}
	s := x.store.Snapshot()
	defer s.Release()
	var hits []record.Hit
	for _, file := range files {
		ids := file.ids
		if isLog(file.info) {
			ids = slices.Clone(ids[max(0, len(ids)-entriesOfLog):])
			slices.Reverse(ids) // the newest entry first
		}
		for _, id := range ids {
			r := s.Find(id)
			if len(hits) == n {
				return hits
			}
			if r != nil && admit(r) {
				hits = append(hits, s.Hit(r))
			}
		}
	}
	return hits
}

// isDated reports whether a file's name begins with a day.
func isDated(name string) bool {
	base := path.Base(name)
	_, err := time.Parse(time.DateOnly, base[:min(len(base), len(time.DateOnly))])
	return err == nil
}

// isLog reports whether a file is a daily log: its name is a day, or a day and the group.
func isLog(info Info) bool {
	rest := strings.TrimSuffix(path.Base(info.Name), ".md")[len(time.DateOnly):]
	return inMemory(info) && (rest == "" || info.Group != "")
}

func inMemory(info Info) bool { return path.Dir(info.Name) == "memory" }
