package transcript

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
)

const (
	pump     = "5d0c7a52-8a0a-4c43-9a86-0f6a54f9c3a1"
	dinner   = "b6f8d9e4-2f52-4b0e-8d0e-6a5f7c1d2e33"
	bookClub = "0c1f5a8e-7d7b-4d39-8f43-1b7f0a9e5c10"
	hiking   = "9a3f7c52-55f1-4a1c-b7a0-3f2f4f6f7d21"
)

func open(t *testing.T, dir string) *Folder {
	t.Helper()
	f, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// sample is the transcripts of the sample workspace, written in the order of their sessions.
func sample(t *testing.T) *Folder {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../testdata/workspaces/kate-transcripts")); err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{pump, "groups/hiking/" + hiking, dinner, "groups/book-club/" + bookClub} {
		at := time.Date(2026, 2, 14, 12, i, 0, 0, time.UTC)
		if err := os.Chtimes(filepath.Join(dir, name+".jsonl"), at, at); err != nil {
			t.Fatal(err)
		}
	}
	return open(t, dir)
}

func folderOf(t *testing.T, files map[string]string) *Folder {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return open(t, dir)
}

func group(t *testing.T, name string) audience.Audience {
	t.Helper()
	a, err := audience.Group(name)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func ids(sessions []Session) []string {
	ids := []string{}
	for _, s := range sessions {
		ids = append(ids, s.SessionID)
	}
	return ids
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"", file} {
		if _, err := Open(dir, Options{}); err == nil {
			t.Errorf("opened %q", dir)
		}
	}
}

// A host makes the folder with its first session, which may be after the server's start.
func TestFolderAppears(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "later")
	v := open(t, dir).View(audience.DM())
	if got, err := v.ListSessions(t.Context(), 0); err != nil || got.Count != 0 {
		t.Errorf("without the folder: %+v, %v", got, err)
	}
	if _, err := v.ReadSession(t.Context(), "s", 0, 0, 0); !errors.Is(err, ErrNotFound) {
		t.Errorf("without the folder: %v", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "s.jsonl"), []byte(`{"type":"entry","role":"user","content":"hi"}`+"\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := v.ListSessions(t.Context(), 0); err != nil || got.Count != 1 {
		t.Errorf("with the folder: %+v, %v", got, err)
	}
}

func TestListSessions(t *testing.T) {
	t.Parallel()
	f := sample(t)
	got, err := f.View(audience.DM()).ListSessions(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	session := func(id, title, group string, entries int, started, first, last string) Session {
		return Session{
			SessionID: id, Title: title, Group: group, AgentID: "kate", SourcePlugin: "telegram", EntryCount: entries,
			StartedAt: started, FirstTimestamp: first, LastTimestamp: last,
		}
	}
	want := Sessions{OK: true, Count: 4, Sessions: []Session{
		session(bookClub, "Kate, which book did we choose for March?", "book-club", 2,
			"2026-02-14T18:30:00Z", "2026-02-14T18:30:04Z", "2026-02-14T18:30:09Z"),
		session(dinner, "Inês comes on the 28th. What do we cook?", "", 2,
			"2026-02-14T09:45:00Z", "2026-02-14T09:45:02Z", "2026-02-14T09:45:20Z"),
		session(hiking, "Where do we start on Sunday?", "hiking", 2,
			"2026-02-13T12:00:00Z", "2026-02-13T12:00:07Z", "2026-02-13T12:00:15Z"),
		session(pump, "The pump has been running since noon. What happened?", "", 4,
			"2026-02-05T17:02:11Z", "2026-02-05T17:02:12Z", "2026-02-05T17:04:31Z"),
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	switch got, err = f.View(audience.DM()).ListSessions(t.Context(), 2); {
	case err != nil:
		t.Errorf("limited to 2: %v", err)
	case !got.Truncated:
		t.Error("limited to 2: got.Truncated = false")
	case got.Count != 2:
		t.Errorf("limited to 2: got.Count = %v, want 2", got.Count)
	}
}

// Each audience has its sessions; for a group the rest does not exist, for every action.
func TestVisibility(t *testing.T) {
	t.Parallel()
	f := sample(t)
	all := []string{pump, dinner, bookClub, hiking}
	visible := map[audience.Audience][]string{
		audience.DM():          {bookClub, dinner, hiking, pump},
		group(t, "book-club"):  {bookClub},
		group(t, "hiking"):     {hiking},
		group(t, "strangers"):  {},
		group(t, "book-club2"): {},
	}
	for who, want := range visible {
		v := f.View(who)
		sessions, err := v.ListSessions(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, ids(sessions.Sessions)); diff != "" {
			t.Errorf("%v lists (-want +got):\n%s", who, diff)
		}
		for _, id := range all {
			_, missing := v.ReadSession(t.Context(), "no-such-session", 0, 0, 0)
			_, readErr := v.ReadSession(t.Context(), id, 0, 0, 0)
			_, recentErr := v.Recent(t.Context(), id, "", 0, 0)
			_, searchErr := v.Search(t.Context(), "e", id, 0, 0)
			for _, err := range []error{readErr, recentErr, searchErr} {
				if may := cmp.Equal(want, []string{id}) || who.IsDM(); may != (err == nil) {
					t.Errorf("%v and session %s: %v", who, id, err)
				}
				if err != nil && err.Error() != missing.Error() {
					t.Errorf("%v and session %s: %v, want %v", who, id, err, missing)
				}
			}
		}
		hits, err := v.Search(t.Context(), "e", "", 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, hit := range hits.Hits {
			if !strings.Contains(strings.Join(want, " "), hit.SessionID) {
				t.Errorf("%v finds %+v", who, hit)
			}
		}
		if (hits.Count > 0) != (len(want) > 0) {
			t.Errorf("%v finds %d entries", who, hits.Count)
		}
	}
}

// Both the folder and the header have to name the group.
func TestGroupNeedsFolderAndHeader(t *testing.T) {
	t.Parallel()
	entry := `{"type":"entry","timestamp":"2026-01-01T00:00:00Z","role":"user","content":"secret"}` + "\n"
	headers := map[string]string{
		"right":       `{"type":"session","id":"x","connection":"group","group":"a"}`,
		"other group": `{"type":"session","id":"x","connection":"group","group":"b"}`,
		"other case":  `{"type":"session","id":"x","connection":"group","group":"A"}`,
		"dm":          `{"type":"session","id":"x","connection":"dm","group":"a"}`,
		"no group":    `{"type":"session","id":"x","connection":"group"}`,
		"bare":        `{"type":"session","id":"x"}`,
		"entry":       `{"type":"entry","connection":"group","group":"a","role":"user","content":"x"}`,
		"torn":        `{"type":"session","id":"x","connection":"group","group":"a"`,
		"empty line":  ``,
		"second line": "\n" + `{"type":"session","id":"x","connection":"group","group":"a"}`,
		"too long":    `{"type":"session","connection":"group","group":"a","x":"` + strings.Repeat("x", maxLine) + `"}`,
	}
	for name, header := range headers {
		for _, folder := range []string{"groups/a/", "groups/b/", "", "a/", "groups/"} {
			f := folderOf(t, map[string]string{folder + "s1.jsonl": header + "\n" + entry, folder + "empty.jsonl": ""})
			want := name == "right" && folder == "groups/a/"
			v := f.View(group(t, "a"))
			got, err := v.ReadSession(t.Context(), "s1", 0, 0, 0)
			if (err == nil) != want || err != nil && !errors.Is(err, ErrNotFound) {
				t.Errorf("%s in %q: %v, want it to be found: %t", name, folder, err, want)
			}
			if err != nil && len(got.Entries) > 0 {
				t.Errorf("%s in %q: %+v with the error %v", name, folder, got, err)
			}
			switch sessions, err := v.ListSessions(t.Context(), 0); {
			case err != nil:
				t.Errorf("%s in %q: %v", name, folder, err)
			case (sessions.Count == 1) != want:
				t.Errorf("%s in %q: sessions.Count == 1 = %v, want %v", name, folder, sessions.Count == 1, want)
			case sessions.Count > 1:
				t.Errorf("%s in %q: sessions.Count = %v", name, folder, sessions.Count)
			}
			if _, err := v.ReadSession(t.Context(), "empty", 0, 0, 0); !errors.Is(err, ErrNotFound) {
				t.Errorf("empty log in %q: %v", folder, err)
			}
		}
	}
}

func TestReadSessionAndRecent(t *testing.T) {
	t.Parallel()
	v := sample(t).View(audience.DM())
	got, err := v.ReadSession(t.Context(), pump, 0, 2, 30)
	if err != nil {
		t.Fatal(err)
	}
	want := []Entry{
		{
			Timestamp: "2026-02-05T17:02:12Z", Role: "user", Content: "The pump has been running sin…", Truncated: true,
			MessageID: "m1", SourcePlugin: "telegram", SenderID: "mira",
		},
		{Timestamp: "2026-02-05T17:02:40Z", Role: "assistant", Content: "The irrigation script asks fo…", Truncated: true},
	}
	switch diff := cmp.Diff(want, got.Entries); {
	case diff != "":
		t.Errorf("-want +got:\n%s", diff)
	case !got.OK:
		t.Error("got.OK = false")
	case got.TotalEntries != 4:
		t.Errorf("got.TotalEntries = %v, want 4", got.TotalEntries)
	case got.Returned != 2:
		t.Errorf("got.Returned = %v, want 2", got.Returned)
	case !got.Truncated:
		t.Error("got.Truncated = false")
	case got.SessionID != pump:
		t.Errorf("got.SessionID = %q, want %q", got.SessionID, pump)
	case got.Header.AgentID != "kate":
		t.Errorf("got.Header.AgentID = %q, want %q", got.Header.AgentID, "kate")
	}
	switch got, err = v.Recent(t.Context(), pump, "", 1, 0); {
	case err != nil:
		t.Errorf("last entry: %v", err)
	case len(got.Entries) != 1:
		t.Errorf("last entry: len(got.Entries) = %v, want 1", len(got.Entries))
	case got.Entries[0].Content != "Done, and written down as a lesson.":
		t.Errorf("last entry: got.Entries[0].Content = %q, want %q", got.Entries[0].Content,
			"Done, and written down as a lesson.")
	case !got.Truncated:
		t.Error("last entry: got.Truncated = false")
	}
	switch got, err = v.Recent(t.Context(), pump, "", 3, 0); {
	case err != nil:
		t.Errorf("last three: %v", err)
	case len(got.Entries) != 3:
		t.Errorf("last three: len(got.Entries) = %v, want 3", len(got.Entries))
	case got.Entries[0].Role != "assistant":
		t.Errorf("last three: got.Entries[0].Role = %q, want %q", got.Entries[0].Role, "assistant")
	case got.Entries[2].Role != "assistant":
		t.Errorf("last three: got.Entries[2].Role = %q, want %q", got.Entries[2].Role, "assistant")
	}
	switch got, err = v.Recent(t.Context(), "", "", 0, 0); {
	case err != nil:
		t.Errorf("current session: %v", err)
	case got.SessionID != dinner:
		t.Errorf("current session: got.SessionID = %q, want %q", got.SessionID, dinner)
	case got.Truncated:
		t.Error("current session: got.Truncated = true")
	case got.Returned != 2:
		t.Errorf("current session: got.Returned = %v, want 2", got.Returned)
	}
}

func TestRecentOfNothing(t *testing.T) {
	t.Parallel()
	f := folderOf(t, map[string]string{"private.jsonl": "{}\n"})
	if _, err := f.View(group(t, "a")).Recent(t.Context(), "", "", 0, 0); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v", err)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	for i := range 510 {
		length := 8
		if i%10 == 0 || i == 509 { // those that the checks below look at
			length = 4050
		}
		fmt.Fprintf(&log, `{"type":"entry","timestamp":"2026-01-01T00:00:00Z","role":"user","content":"%04d %s"}`+
			"\n", i, strings.Repeat("é", length))
	}
	v := folderOf(t, map[string]string{"s.jsonl": log.String()}).View(audience.DM())
	for _, test := range []struct{ limit, chars, entries, length int }{
		{0, 0, 50, 200}, {-1, 10, 50, 10}, {1 << 40, 1 << 40, 500, 4000}, {1, 1, 1, 1},
	} {
		first, err := v.ReadSession(t.Context(), "s", 0, test.limit, test.chars)
		if err != nil {
			t.Fatal(err)
		}
		last, err := v.Recent(t.Context(), "s", "", test.limit, test.chars)
		if err != nil {
			t.Fatal(err)
		}
		hits, err := v.Search(t.Context(), "É", "", test.limit, test.chars)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{len(first.Entries), len(last.Entries), len(hits.Hits)} {
			if n != test.entries {
				t.Errorf("limit %d gives %d entries, want %d", test.limit, n, test.entries)
			}
		}
		for _, text := range []string{first.Entries[0].Content, last.Entries[0].Content, hits.Hits[0].Preview} {
			if n := utf8.RuneCountInString(text); n != test.length {
				t.Errorf("max_chars %d gives %d characters, want %d", test.chars, n, test.length)
			}
		}
		if test.chars > 9 {
			if want := fmt.Sprintf("%04d ", 510-test.entries); !strings.HasPrefix(last.Entries[0].Content, want) {
				t.Errorf("the last %d begin with %.10q, want %q", test.entries, last.Entries[0].Content, want)
			}
		}
	}
}

func TestSessionIDs(t *testing.T) {
	t.Parallel()
	f := sample(t)
	for _, id := range []string{
		"../" + pump, "groups/book-club/" + bookClub, "/etc/passwd", ".hidden", "..", ".", "a/b", `a\b`, "a b", "a\x00",
		"a\n", "%2e%2e", "é",
		strings.Repeat("a", 129), pump + ".jsonl/..",
	} {
		for _, who := range []audience.Audience{audience.DM(), group(t, "book-club")} {
			if _, err := f.View(who).ReadSession(t.Context(), id, 0, 0, 0); !errors.Is(err, ErrInvalidID) {
				t.Errorf("%v reads %q: %v", who, id, err)
			}
		}
	}
}
