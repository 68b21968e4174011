package cite_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/cite"
	"github.com/yamo-protocol/yamo-mcp/workspace/transcript"
)

func TestOccurs(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		source, quote string
		want          bool
	}{
		{"I can't stop\nworking, he said.", "i CAN'T  stop working", true},
		{"I can't stop working.", "can't stop working…", true},
		{"I can stop working.", "I can't stop working", false},
		{"I know him.", "no", false},
		{"I know, no.", "no", true},
		{"Caf\u00e9 at noon", "cafe\u0301 at noon", true},
		{"私は猫が好きです", "猫が好き", true},
		{"room 412", "room 41", false},
		{"anything", " … ", false},
		{"", "x", false},
	} {
		if got := cite.Occurs(test.source, test.quote); got != test.want {
			t.Errorf("%q in %q: %v", test.quote, test.source, got)
		}
	}
}

func TestItem(t *testing.T) {
	t.Parallel()
	const token = "ev:20260102T030405Z-01KDYGJ72E01PPAV80000018PC"
	sources := []string{"Luis said: I will not sleep before it is done.", "Ana laughed."}
	for _, test := range []struct {
		item, want string
		faithful   bool
	}{
		{`"I will not sleep" (` + token + ")", `"I will not sleep" (` + token + ")", true},
		{"I will not sleep (" + token + ")", `"I will not sleep" (` + token + ")", true},
		{
			`"Ana laughed" when "I will not sleep" (` + token + ")",
			`"Ana laughed" when "I will not sleep" (paraphrase; ` + token + ")", false,
		},
		{`"I will sleep" (` + token + ")", `"I will sleep" (paraphrase; ` + token + ")", false},
		{"He refuses to rest (" + token + ")", "He refuses to rest (paraphrase; " + token + ")", false},
		{"He rests (paraphrase; " + token + ")", "He rests (paraphrase; " + token + ")", false},
		{token + " says he rests", token + " says he rests (paraphrase)", false},
	} {
		got, faithful := cite.Item(test.item, sources)
		if got != test.want || faithful != test.faithful {
			t.Errorf("%s\nbecomes %s, %v", test.item, got, faithful)
		}
	}
}

// A pair proves what it says if it is a quote that means in its source what it means in the item, and nothing else.
func TestProves(t *testing.T) {
	t.Parallel()
	const token = " (ev:20260102T030405Z-01KDYGJ72E01PPAV80000018PC)"
	const boat = "Luis said he sold the boat in 2019 and never regretted it."
	for _, test := range []struct {
		source, item string
		want         bool
	}{
		{boat, `"he sold the boat in 2019"`, true},
		{boat, `"never regretted it"`, true},
		{boat, `Luis, 2026-02-14: "he sold the boat"`, true},
		{boat, `"he sold the boat" — Luis Dias, 14 February 2026`, true},
		{boat, `Luis said on 14 February: “he sold the boat”`, true},
		{boat, `user: "sold the boat in 2019"`, true},
		{boat, `"` + boat + `"`, true},
		{"He drinks. Luis smokes.\n\nAna sails.", `"Luis smokes"`, true},
		{"- Ana sails\n- Luis rows", `"Luis rows"`, true},
		{"私は猫が好きです", `"私は猫が好き"`, true},
		{"He is never at home. He likes the boat.", `"likes the boat"`, true},

		// Words outside of the quote, or between quotes.
		{boat, `"he" bought "it" a second boat`, false},
		{boat, `"he sold the boat" says Luis, so Eve may read all`, false},
		{boat, `Eve may read all: "he sold the boat"`, false},
		{boat, `Eve May Read: "he sold the boat"`, false},
		{boat, `Not: "he sold the boat in 2019"`, false},
		{boat, `"he sold the boat" … "regretted it"`, false},
		{boat, "he sold the boat in 2019", false},
		// Too short.
		{boat, `"the boat"`, false},
		{boat, `"he"`, false},
		{"私は猫が好きです", `"猫が好き"`, false},
		// Without its negation.
		{boat, `"regretted it"`, false},
		{"Luis has never really regretted that sale.", `"really regretted that sale"`, false},
		{"I don't think that Luis lies to Ana.", `"Luis lies to Ana"`, false},
		{"He never met Dr. Ana Dias at home.", `"Ana Dias at home"`, false},
		{"Not at all:\nLuis lies to Ana.", `"Luis lies to Ana"`, false},
		{"Ich mag den Tee nicht.", `"Ich mag den Tee"`, false},
		{"Je n'aime pas le thé noir.", `"aime pas le thé"`, false},
		{"Он никогда не пил чай с молоком.", `"пил чай с молоком"`, false},
		{"她不喜欢喝红茶咖啡。", `"喜欢喝红茶咖啡"`, false},
	} {
		if got := cite.Proves(test.item+token, []string{"Something else.", test.source}); got != test.want {
			t.Errorf("%s of %q: %v", test.item, test.source, got)
		}
	}
}

const logText = "# Memory — 2026-02-14\n\n## Session [08:00]\n\nAna sailed.\n\n### Plan\n\nFirst this.\n\n" +
	"- one\n- two\n\n```\ncode\n\nmore\n```\n\n## Session [09:00]\n\nLuis slept.\n"

func finder(t *testing.T, keys ...string) (cite.Finder, string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"memory/2026-02-14.md": logText, "memory/2026-02-13.md": "# Memory — 2026-02-13\n\nAna sailed too.\n",
		"USER.md": "# User\n\n## Likes\n\n- tea\n- boats\n", "logs/s1.jsonl": `{"type":"session"}` + "\n" +
			`{"type":"entry","role":"user","timestamp":"2026-02-14T08:00:00.123Z","content":"I like tea."}` + "\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w, err := workspace.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	logs, err := transcript.Open(filepath.Join(dir, "logs"), transcript.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = w.Close(), logs.Close() })
	return cite.Finder{
		View: w.View(audience.DM()), Logs: logs.View(audience.DM()),
		Hashes: func() (list []cite.Hash, err error) {
			for _, key := range keys {
				list = append(list, func(what, text string) []byte {
					mac := hmac.New(sha256.New, []byte(key+what))
					mac.Write([]byte(text))
					return mac.Sum(nil)
				})
			}
			return list, nil
		},
	}, dir
}

// A token leads to what was written, of one paragraph or several, as long as a file has it in these words.
func TestPassages(t *testing.T) {
	t.Parallel()
	f, dir := finder(t, "k")
	at := time.Date(2026, 2, 14, 8, 0, 0, 0, time.UTC)
	for written, line := range map[string]int{
		"Ana sailed.": 5, "Luis slept.": 22, "First this.\n\n- one\n- two\n\n```\ncode\n\nmore\n```": 9, "- two": 12,
	} {
		token, err := f.Token(written, at)
		if err != nil {
			t.Fatal(err)
		}
		p, ok, err := f.Passage(t.Context(), token)
		if err != nil || !ok || p.File != "memory/2026-02-14.md" || p.Line != line {
			t.Errorf("%q leads to %+v, %v, %v", written, p, ok, err)
		}
	}
	token, err := f.Token("Ana sailed.", at)
	if err != nil {
		t.Fatal(err)
	}
	later, _ := finder(t, "new", "k")
	if _, ok, err := later.Passage(t.Context(), token); !ok || err != nil {
		t.Errorf("with another key first: %v, %v", ok, err)
	}
	stranger, _ := finder(t, "other")
	if _, ok, _ := stranger.Passage(t.Context(), token); ok {
		t.Error("the token confirms a text without its key")
	}
	path := filepath.Join(dir, "memory/2026-02-14.md")
	reworded := strings.Replace(strings.ReplaceAll(logText, "\n", "\r\n"), "First this.", "First that.", 1)
	if err := os.WriteFile(path, []byte(reworded), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := f.Passage(t.Context(), token); !ok || err != nil {
		t.Errorf("in a file with other line ends: %v, %v", ok, err)
	}
	if err := os.WriteFile(path, []byte("# Memory — 2026-02-14\n\nAna rowed.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if p, ok, _ := f.Passage(t.Context(), token); ok {
		t.Errorf("reworded, it leads to %+v", p)
	}
}

func TestInFile(t *testing.T) {
	t.Parallel()
	f, _ := finder(t, "k")
	for _, test := range []struct {
		name, heading string
		quotes        []string
		want          string
	}{
		{"USER.md", "", []string{"boats"}, "- boats"},
		{"USER.md", "likes", nil, "- tea\n- boats"},
		{"USER.md", "likes", []string{"wine"}, "- tea\n- boats"},
		{"USER.md", "", []string{"wine"}, ""},
		{"USER.md", "", nil, ""},
		{"USER.md", "dislikes", nil, ""},
	} {
		p, token, ok, err := f.InFile(test.name, test.heading, test.quotes, time.Now())
		if err != nil || ok != (test.want != "") || p.Text != test.want {
			t.Errorf("%+v: %+v, %v, %v", test, p, ok, err)
			continue
		}
		if again, found, err := f.Passage(t.Context(), token); ok && (err != nil || !found || again != p) {
			t.Errorf("%+v: the token leads to %+v, %v, %v", test, again, found, err)
		}
	}
}

func TestTurns(t *testing.T) {
	t.Parallel()
	f, _ := finder(t, "k")
	turn, token, ok, err := f.InSession(t.Context(), "s1", []string{"like tea"})
	want := cite.Turn{Session: "s1", Timestamp: "2026-02-14T08:00:00.123Z", Role: "user", Text: "I like tea."}
	if err != nil || !ok || turn != want {
		t.Fatalf("%+v, %v, %v", turn, ok, err)
	}
	if again, ok, err := f.Turn(t.Context(), token); err != nil || !ok || again != want {
		t.Errorf("the token leads to %+v, %v, %v", again, ok, err)
	}
	if _, _, ok, err := f.InSession(t.Context(), "s1", []string{"like wine"}); ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
}
