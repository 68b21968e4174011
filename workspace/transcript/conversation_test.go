package transcript

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
)

// claudeTurn is a row as Claude Code writes it.
func claudeTurn(id, role, folder, content string) string {
	return fmt.Sprintf(`{"type":%[2]q,"uuid":%[1]q,"timestamp":"2026-03-01T10:00:00Z","cwd":%[3]q,"gitBranch":"main",`+
		`"message":{"role":%[2]q,"content":%[4]q}}`, id, role, folder, content)
}

// simpleStems is a simple keyword.Stems: lower case, without function words and some endings.
func simpleStems(text string) (stems []string) {
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r < 'a' || r > 'z' }) {
		switch word {
		case "the", "a", "we", "did", "do", "for", "which", "in", "to":
			continue
		}
		for _, ending := range []string{"ing", "ed", "s"} {
			if rest, ok := strings.CutSuffix(word, ending); ok && len(rest) > 2 {
				word = rest
				break
			}
		}
		stems = append(stems, word)
	}
	return stems
}

func folderWith(t *testing.T, o Options, files map[string]string) *View {
	t.Helper()
	dir := folderOf(t, files).dir
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name := range files {
		if err := os.Chtimes(filepath.Join(dir, name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	f, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f.View(audience.DM())
}

// A session says what it was about: its title, project and branch.
func TestSessionsAreDescribed(t *testing.T) {
	t.Parallel()
	v := folderWith(t, Options{}, map[string]string{
		"p/untitled.jsonl": claudeTurn("1", "user", "/home/ana/src/mare", "<system-reminder>x</system-reminder>Why do the "+
			"tests fail on Mondays and never on any other day of the week, and what can be done about it?"),
		"p/titled.jsonl": claudeTurn("1", "user", `C:\src\limpet`, "hello") + "\n" +
			`{"type":"custom-title","customTitle":"The limpet release","sessionId":"titled"}` + "\n" +
			strings.Replace(claudeTurn("2", "assistant", `C:\src\limpet`, "hi"), `"main"`, `"release"`, 1),
		"p/command.jsonl": claudeTurn("1", "user", "/x", "<command-name>/clear</command-name>") + "\n" +
			claudeTurn("2", "user", "/x", "begin here"),
		"p/agent-1.jsonl": strings.Replace(claudeTurn("1", "user", "/x", "look"), `"cwd"`, `"isSidechain":true,"cwd"`, 1),
	})
	got, err := v.ListSessions(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][3]string{}
	for _, s := range got.Sessions {
		found[s.SessionID] = [3]string{s.Title, s.Project, s.Branch}
	}
	want := map[string][3]string{
		"untitled": {"Why do the tests fail on Mondays and never on any other day of the week, and wh…", "mare", "main"},
		"titled":   {"The limpet release", "limpet", "release"},
		"command":  {"begin here", "x", "main"},
		"agent-1":  {"look", "x", "main"}, // of no known session
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// The current session is one of the session's own project, not the one that was written last.
func TestRecentOfThisProject(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"a/mare.jsonl":    claudeTurn("1", "user", "/src/mare", "in mare"),
		"b/limpet.jsonl":  claudeTurn("1", "user", "/src/limpet", "in limpet"),
		"b/agent-7.jsonl": strings.Replace(claudeTurn("1", "user", "/src/mare", "x"), `"cwd"`, `"isSidechain":true,"cwd"`, 1),
	}
	for current, want := range map[string]string{"mare": "mare", "limpet": "limpet", "": "limpet", "other": "limpet"} {
		v := folderWith(t, Options{Project: filepath.Base}, files)
		for name, at := range map[string]int{"a/mare": 1, "b/limpet": 2, "b/agent-7": 3} {
			when := time.Date(2026, 3, 1, 12, at, 0, 0, time.UTC)
			if err := os.Chtimes(filepath.Join(v.folder.dir, name+extension), when, when); err != nil {
				t.Fatal(err)
			}
		}
		got, err := v.Recent(t.Context(), "", current, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got.SessionID != want {
			t.Errorf("in project %q: session %s, want %s", current, got.SessionID, want)
		}
	}
}

// Turns are found by their words in any order and form, those with the rarer words first, and after those that contain
// the query as it is.
func TestSearchByWords(t *testing.T) {
	t.Parallel()
	turns := []string{
		"We will fix the login bug after lunch.",
		"The login page is blue.",
		"Bugs in the parser: none.",
		"login bug fix: done",
		"Store coordinates as latitude and longitude in one geohash column.",
		"The column is sorted.",
	}
	for i := range 30 {
		turns = append(turns, fmt.Sprintf("The page number %d of the column is printed.", i))
	}
	var log strings.Builder
	for i, turn := range turns {
		log.WriteString(claudeTurn(fmt.Sprint(i), "user", "/src/mare", turn) + "\n")
	}
	v := folderWith(t, Options{Stems: simpleStems}, map[string]string{"s.jsonl": log.String()})
	for query, want := range map[string][]string{
		"login bug fix": {turns[3], turns[0]},
		"which columns did we store the coordinate in": {turns[4]},
		"FIXING the bugs": {turns[3], turns[0]},
		"submarine bugs in the engine room of the ferry": {},
		"parser": {turns[2]},
	} {
		got, err := v.Search(t.Context(), query, "", 2, 0)
		if err != nil {
			t.Fatal(err)
		}
		previews := []string{}
		for _, hit := range got.Hits {
			previews = append(previews, hit.Preview)
		}
		if diff := cmp.Diff(want, previews); diff != "" {
			t.Errorf("%q (-want +got):\n%s", query, diff)
		}
	}
}

// A credential in a log is neither shown nor confirmed, wherever in a turn it is.
func TestCredentialsInLogs(t *testing.T) {
	t.Parallel()
	const secret = "sk-credential-0001"
	redact := func(text string) string { return strings.ReplaceAll(text, secret, "[REDACTED]") }
	v := folderWith(t, Options{Redact: redact, Stems: simpleStems}, map[string]string{
		"s.jsonl": claudeTurn("1", "user", "/x", "the key is "+secret) + "\n" +
			claudeTurn("2", "assistant", "/x", strings.Repeat("word ", 37)+"export KEY="+secret+" && deploy the pump") + "\n" +
			claudeTurn("3", "assistant", "/x", strings.Repeat("word ", 40_000)+secret+" after the long turn"),
	})
	shown := func(name string, err error, value any) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if text := fmt.Sprintf("%+v", value); strings.Contains(text, "credential") {
			t.Errorf("%s shows the credential: %.300s", name, text)
		}
	}
	for _, chars := range []int{0, 11, 200, 4000} {
		entries, err := v.ReadSession(t.Context(), "s", 0, 0, chars)
		shown("read_session", err, entries)
		recent, err := v.Recent(t.Context(), "", "", 0, chars)
		shown("recent", err, recent)
		for _, query := range []string{"the key", "pump", "deploying pumps", "after the long turn", "long turns after"} {
			hits, err := v.Search(t.Context(), query, "", 0, chars)
			if err == nil && hits.Count == 0 {
				t.Errorf("%q finds nothing", query)
			}
			shown("search", err, hits.Hits)
		}
	}
	sessions, err := v.ListSessions(t.Context(), 0)
	shown("list_sessions", err, sessions)
	hits, err := v.Search(t.Context(), secret, "", 0, 0)
	if err != nil || hits.Count != 0 {
		t.Errorf("the credential is found: %+v, %v", hits, err)
	}
}
