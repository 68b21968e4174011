package workspace

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/workspace/memfile"
)

// What Obsidian's documentation asks of a vault, for want of Obsidian itself. File names cannot have these characters
// on all its platforms, and with the others no link leads to them.
const obsidianForbids = `\/:*?"<>|#^[]`

var (
	obsidianTag    = regexp.MustCompile(`^[\p{L}\p{N}_/-]+$`)
	obsidianNumber = regexp.MustCompile(`^[\p{N}/]+$`) // a tag needs something else
	obsidianLink   = regexp.MustCompile(`\[\[([^\]|#]*)(#[^\]|]*)?(\|[^\]]*)?\]\]`)
)

// Every file that the program writes is one that Obsidian opens without complaint: its name, front matter that a YAML
// parser other than the writer's reads as properties of the right types, tags, and links that lead somewhere.
func TestObsidianOpensWhatIsWritten(t *testing.T) {
	t.Parallel()
	dirs := map[string]*Profile{
		"unborn": nil, "ready": {Name: "Ada: \"#1\"", Role: "a librarian", User: "Mira [M]", Timezone: "Asia/Tokyo"},
	}
	for name, profile := range dirs {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "vault")
			clock := WithClock(func() time.Time { return valentine })
			if _, _, err := Init(t.Context(), dir, profile, clock); err != nil {
				t.Fatal(err)
			}
			w := open(t, dir)
			writeEverything(t, w)
			checkVault(t, dir)
		})
	}
}

// writeEverything lets the program write a file of every kind, with texts that mean something to YAML, Markdown or
// Obsidian.
func writeEverything(t *testing.T, w *Workspace) {
	t.Helper()
	v := w.View(audience.DM())
	awkward := []string{
		"yes", "null", "~", "123 456", "1e5 0x1F", "2026-02-14", "a: b", "- a", "# a b", "'quoted' \"both\"", "{a} [b]",
		"*star &and", "%percent @at", "`tick` |pipe >gt", "!bang ?",
		"Über Größe", "漢字 テスト", "back\\slash", "trailing: ", "<<", "=", "emoji 🐙 here",
	}
	for _, text := range awkward {
		for _, kind := range []memfile.Type{memfile.DailyLog, memfile.SessionSave, memfile.MemoryFlush} {
			_, err := v.SaveMemory(t.Context(), Memory{
				Type: kind, Topic: text, SessionID: text, Source: text, Tags: []string{"project/größe", "y"}, Links: []string{
					"MEMORY#Key Decisions", "AGENTS|the rules",
				},
				Parts: []Part{{text, text + "\n\n---\n\n# " + text + "\n\nSee [[USER]] and [[MEMORY|" + "memory]].\n"}},
			})
			if err != nil {
				t.Errorf("%s %q: %v", kind, text, err)
			}
		}
		if _, err := v.Journal().Append(t.Context(), text, text+"\n---\n# "+text); err != nil {
			t.Errorf("log %q: %v", text, err)
		}
		if _, err := w.View(group(t, "a")).Journal().Append(t.Context(), text, text); err != nil {
			t.Errorf("group's log %q: %v", text, err)
		}
	}
	if _, err := v.SaveMemory(t.Context(),
		Memory{Type: memfile.Curated, Parts: []Part{{"Key Decisions", "- 2026-02-14: see [[AGENTS#Safety]]"}}}); err != nil {
		t.Error(err)
	}
	if _, err := v.CheckDone(t.Context(), "email"); err != nil {
		t.Error(err)
	}
}

// checkVault checks every note of a vault. What begins with a dot is none.
func checkVault(t *testing.T, dir string) {
	t.Helper()
	notes := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if strings.HasPrefix(entry.Name(), ".") {
			return fs.SkipDir
		}
		name, err := filepath.Rel(dir, path)
		if err != nil || entry.IsDir() {
			return err
		}
		if strings.ContainsAny(entry.Name(), obsidianForbids) || strings.HasSuffix(entry.Name(), " ") {
			t.Errorf("%s: the name", name)
		}
		if data, err := os.ReadFile(path); err != nil {
			t.Error(err)
		} else if strings.HasSuffix(name, ".md") {
			notes[filepath.ToSlash(name)] = string(data)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(notes) < 60 {
		t.Fatalf("only %d notes were written", len(notes))
	}
	properties := 0
	for name, text := range notes {
		if !utf8.ValidString(text) || strings.Contains(text, "\x00") {
			t.Errorf("%s is not text", name)
		}
		if rest, ok := strings.CutPrefix(text, "---\n"); ok {
			properties++
			matter, _, closed := strings.Cut(rest, "\n---\n")
			if !closed {
				t.Errorf("%s: front matter is not closed", name)
			}
			checkProperties(t, name, matter)
		}
		for _, m := range obsidianLink.FindAllStringSubmatch(text, -1) {
			target := m[1] + ".md"
			found := slices.ContainsFunc(sortedKeys(notes), func(note string) bool {
				return note == target || strings.HasSuffix(note, "/"+target)
			})
			if m[1] != "" && !found {
				t.Errorf("%s: %s leads nowhere", name, m[0])
			}
		}
	}
	if properties < 60 {
		t.Errorf("only %d notes have properties", properties)
	}
}

// checkProperties checks a note's front matter: text, lists of texts, tags as Obsidian has them.
func checkProperties(t *testing.T, name, matter string) {
	t.Helper()
	var properties map[string]any
	if err := yaml.Unmarshal([]byte(matter), &properties); err != nil || len(properties) == 0 {
		t.Errorf("%s: front matter is not YAML: %v\n%s", name, err, matter)
	}
	for key, value := range properties {
		switch value := value.(type) {
		case string:
			if key == "tags" || key == "links" {
				t.Errorf("%s: %s is not a list", name, key)
			}
		case []any:
			for _, item := range value {
				text, ok := item.(string)
				if !ok {
					t.Errorf("%s: %s has %v, a %T", name, key, item, item)
				}
				if key == "tags" && (!obsidianTag.MatchString(text) || obsidianNumber.MatchString(text)) {
					t.Errorf("%s: the tag %q", name, text)
				}
			}
		default:
			t.Errorf("%s: %s is %v, a %T and not text", name, key, value, value)
		}
	}
}

func sortedKeys(notes map[string]string) []string {
	keys := make([]string, 0, len(notes))
	for key := range notes {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
