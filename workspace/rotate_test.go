package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
)

// old is a workspace with logs of several ages.
func old(t *testing.T) *Workspace {
	t.Helper()
	return folderOf(t, map[string]string{
		"memory/2026-02-14.md":         "today",
		"memory/2026-02-11.md":         "three days",
		"memory/2026-02-08.md":         "six days",
		"memory/2026-02-07.md":         "seven days",
		"memory/2026-01-15.md":         "thirty days",
		"memory/2026-01-14.md":         "older " + strings.Repeat("and older ", 1000),
		"memory/2025-12-01.md":         "oldest",
		"memory/2025-12-01-group-a.md": "the group's",
		"memory/2025-12-01-a-topic.md": "a topic of the day",
		"memory/2026-03-01.md":         "to come",
	})
}

func TestLogs(t *testing.T) {
	t.Parallel()
	w := old(t)
	v := w.View(audience.DM())
	if err := v.ArchiveLog(t.Context(), "memory/2025-12-01.md", false); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, log := range v.Logs(ReviewAge) {
		got = append(got, log.Name)
		switch {
		case log.Archived != (log.Name == "memory/2025-12-01.md"):
			t.Errorf("log.Archived = %v, want %v", log.Archived, !log.Archived)
		case log.Days <= ReviewAge:
			t.Errorf("log.Days = %v", log.Days)
		case log.Size == 0:
			t.Error("log.Size = 0")
		}
	}
	want := []string{
		"memory/2025-12-01-a-topic.md", "memory/2025-12-01-group-a.md", "memory/2025-12-01.md", "memory/2026-01-14.md",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if logs := w.View(group(t, "a")).Logs(-100); len(logs) > 0 {
		t.Errorf("a group lists %v", logs)
	}
}

// The notes of a day are rotated like its log, and one does not take the other's place in the archive.
func TestNotesRotate(t *testing.T) {
	t.Parallel()
	w := old(t)
	const note, log = "notes/2026-01-14.md", "memory/2026-01-14.md"
	said := content(t, w, log)
	for name, text := range map[string]string{note: "a note", "notes/plans.md": "no date"} {
		path := filepath.Join(w.dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	v := w.View(audience.DM())
	listed := func() (names []string) {
		for _, l := range v.Logs(ReviewAge) {
			if strings.HasPrefix(l.Name, "notes/") {
				names = append(names, fmt.Sprint(l.Name, " ", l.Archived))
			}
		}
		return names
	}
	if diff := cmp.Diff([]string{note + " false"}, listed()); diff != "" {
		t.Error(diff)
	}
	for _, name := range []string{log, note} {
		if err := v.ArchiveLog(t.Context(), name, false); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{note + " true"}, listed()); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]string{note: "a note", log: said} {
		if data, err := v.Read(name); err != nil || string(data) != want {
			t.Errorf("%s: %.20q, %v", name, data, err)
		}
	}
	if !slices.ContainsFunc(v.Searched(), func(f File) bool { return f.Name == note }) {
		t.Error("it is not searched")
	}
	for _, name := range []string{note, "memory/archive/notes-2026-01-14.md.gz"} {
		if _, err := w.View(group(t, "a")).Read(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a group reads %s: %v", name, err)
		}
	}
	if err := v.DeleteLog(t.Context(), note, false); err != nil {
		t.Error(err)
	}
	if _, err := v.Read(note); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after its deletion: %v", err)
	}
	if data, err := v.Read(log); err != nil || string(data) != said {
		t.Errorf("the log, after the deletion of the note: %.20q, %v", data, err)
	}
}

// An archived log is read, described, listed and searched as before.
func TestArchivedLogIsStillThere(t *testing.T) {
	t.Parallel()
	w := old(t)
	const name, groups = "memory/2026-01-14.md", "memory/2025-12-01-group-a.md"
	before := content(t, w, name)
	v := w.View(audience.DM())
	dates := v.LogDates()
	for _, name := range []string{name, groups, name} { // twice is no error
		if err := v.ArchiveLog(t.Context(), name, false); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(filepath.Join(w.dir, name)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still in memory/: %v", err)
	}
	info, err := os.Stat(filepath.Join(w.dir, "memory/archive/2026-01-14.md.gz"))
	switch {
	case err != nil:
		t.Errorf("archive: %v", err)
	case info.Mode() != 0o600:
		t.Errorf("archive: info.Mode() = %v, want %v", info.Mode(), 0o600)
	case info.Size() > int64(len(before)/10):
		t.Errorf("archive: info.Size() = %v", info.Size())
	}
	data, err := v.Read(name)
	if err != nil || string(data) != before {
		t.Errorf("read %.20q, %v", data, err)
	}
	switch file, err := v.Stat(name); {
	case err != nil:
		t.Error(err)
	case file.Size != int64(len(before)):
		t.Errorf("file.Size = %v, want %v", file.Size, int64(len(before)))
	case file.Class != audience.DailyLog:
		t.Errorf("file.Class = %v, want %v", file.Class, audience.DailyLog)
	}
	if diff := cmp.Diff(dates, v.LogDates()); diff != "" {
		t.Errorf("dates: %s", diff)
	}
	if !slices.ContainsFunc(v.Searched(), func(f File) bool { return f.Name == name }) {
		t.Error("it is not searched")
	}
	if data, err := w.View(group(t, "a")).Read(groups); err != nil || string(data) != "the group's" {
		t.Errorf("the group reads %q, %v", data, err)
	}
	for _, private := range []string{name, "memory/archive/2026-01-14.md.gz", "memory/archive/2026-01-14.md"} {
		if _, err := w.View(group(t, "a")).Read(private); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the group reads %s: %v", private, err)
		}
	}
	if _, err := w.View(group(t, "b")).Read(groups); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("another group reads it: %v", err)
	}
}

func TestRotationNeedsConsent(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name                          string
		archive, archiveWith, deleted error
	}{
		{"memory/2026-02-14.md", ErrCurrent, ErrCurrent, ErrProtected},
		{"memory/2026-02-08.md", ErrProtected, nil, ErrProtected},
		{"memory/2026-03-01.md", ErrProtected, nil, ErrProtected},
		{"memory/2026-02-07.md", nil, nil, nil},
		{"memory/2025-12-01-group-a.md", nil, nil, nil},
		{"memory/2025-12-01-a-topic.md", nil, nil, nil},
		{"notes/free.md", fs.ErrNotExist, fs.ErrNotExist, fs.ErrNotExist},
		{"memory/2025-12-02.md", fs.ErrNotExist, fs.ErrNotExist, fs.ErrNotExist},
		{"MEMORY.md", fs.ErrNotExist, fs.ErrNotExist, fs.ErrNotExist},
	}
	for _, test := range tests {
		w := old(t)
		v, g := w.View(audience.DM()), w.View(group(t, "a"))
		for _, err := range []error{g.ArchiveLog(t.Context(), test.name, true), g.DeleteLog(t.Context(), test.name, true)} {
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: a group: %v", test.name, err)
			}
		}
		if err := v.DeleteLog(t.Context(), test.name, false); !errors.Is(err, test.deleted) {
			t.Errorf("%s: delete: %v", test.name, err)
		}
		w = old(t)
		v = w.View(audience.DM())
		if err := v.ArchiveLog(t.Context(), test.name, false); !errors.Is(err, test.archive) {
			t.Errorf("%s: archive: %v", test.name, err)
		}
		if err := v.ArchiveLog(t.Context(), test.name, true); !errors.Is(err, test.archiveWith) {
			t.Errorf("%s: archive with consent: %v", test.name, err)
		}
		if _, err := v.Stat(test.name); err != nil {
			continue // it never was there
		}
		if err := v.DeleteLog(t.Context(), test.name, true); errors.Is(test.deleted, fs.ErrNotExist) != (err != nil) {
			t.Errorf("%s: delete with consent: %v", test.name, err)
		}
		if _, err := v.Stat(test.name); errors.Is(test.deleted, fs.ErrNotExist) == (err != nil) {
			t.Errorf("%s: after it was deleted: %v", test.name, err)
		}
	}
}

// A crash between writing the archive and removing the log is made good by the next archiving; a log that only has the
// name of the archived one is not lost.
func TestArchiveAgain(t *testing.T) {
	t.Parallel()
	w := old(t)
	v := w.View(audience.DM())
	const name = "memory/2025-12-01.md"
	packed, err := pack([]byte("old"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, w, "memory/archive/2025-12-01.md.gz", string(packed))
	if err := v.ArchiveLog(t.Context(), name, false); err != nil {
		t.Fatal(err)
	}
	if data, err := v.Read(name); err != nil || string(data) != "oldest" {
		t.Errorf("%q, %v", data, err)
	}
	write(t, w, name, "another")
	if err := v.ArchiveLog(t.Context(), name, false); !errors.Is(err, ErrArchive) || content(t, w, name) != "another" {
		t.Error(err)
	}
	write(t, w, "memory/archive/2026-01-15.md.gz", "damaged")
	if err := v.ArchiveLog(t.Context(), "memory/2026-01-15.md", false); !errors.Is(err, ErrArchive) {
		t.Errorf("over a damaged archive: %v", err)
	}
	if err := os.Remove(filepath.Join(w.dir, "memory/2026-01-15.md")); err != nil {
		t.Fatal(err)
	}
	if data, err := v.Read("memory/2026-01-15.md"); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a damaged archive reads %q, %v", data, err)
	}
}

// What a session adds while its log is put away is in the archive or in the log, and not lost.
func TestArchiveWhileSessionsWrite(t *testing.T) {
	t.Parallel()
	w := old(t)
	now := valentine.AddDate(0, -1, 0)
	writer, err := Open(w.dir, WithClock(func() time.Time { return now })) // a machine whose clock is a month late
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := writer.Close(); err != nil {
			t.Error(err)
		}
	}()
	const entries = 50
	var wg sync.WaitGroup
	wg.Go(func() {
		journal := writer.View(audience.DM()).Journal()
		for i := range entries {
			if _, err := journal.Append(t.Context(), "", "entry "+string(rune('A'+i))+"."); err != nil {
				t.Error(err)
			}
		}
	})
	const name = "memory/2026-01-14.md"
	v := w.View(audience.DM())
	var kept strings.Builder
	for range 20 {
		if err := v.ArchiveLog(t.Context(), name, false); err != nil && !errors.Is(err, ErrArchive) &&
			!errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	}
	wg.Wait()
	for _, file := range []string{name, archiveName(name)} {
		data, err := os.ReadFile(filepath.Join(w.dir, file))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil && strings.HasSuffix(file, archived) {
			data, _, err = unpack(data, MaxFileSize)
		}
		if err != nil {
			t.Fatal(err)
		}
		kept.Write(data)
	}
	for i := range entries {
		if entry := "entry " + string(rune('A'+i)) + "."; strings.Count(kept.String(), entry) != 1 {
			t.Errorf("%q is there %d times", entry, strings.Count(kept.String(), entry))
		}
	}
}
