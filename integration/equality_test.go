package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Workspaces that differ only in what is private give a group the same session, byte for byte but for the
// ids and times that are made in it.
func TestPrivateContentMakesNoDifference(t *testing.T) {
	t.Parallel()
	base := &planted{
		workspace:   sample(t),
		transcripts: filepath.Join(t.TempDir(), "transcripts"),
		of:          map[string][]canary{},
	}
	public := []string{
		"The canary of a memory is kept by the aviary on Tuesdays.",
		"Kate answers the club's mail on weekdays.",
		"The chapel car park opens at eight.",
	}
	// What the group stores, and stores again.
	gate := []string{"The gate of the aviary is green.", "The gate of the aviary was painted in May."}
	dm := connect(t, launch{workspace: base.workspace})
	shared := ""
	for _, text := range public {
		shared = dm.store(text, map[string]any{"visibility": "shared"}).ID
	}
	dm.search(public[0], nil)
	skill := dm.ingestSkill("---\nname: canary-care\nintent: Look after the canary of a memory\n---\nFeed it.\n", "shared")
	dm.end()
	base.plantGroup(t, club)
	for _, private := range []string{
		"USER.md", "MEMORY.md", "TOOLS.md", "HEARTBEAT.md", "notes", "memory/2026-02-05-irrigation-pump.md",
		"memory/heartbeat-state.json",
		"memory/2026-02-13.md", "memory/2026-02-14.md", "memory/2026-02-13-group-hiking.md", ".yamo/private",
		".yamo/groups/" + hiking,
		// What a hook keeps of a session that ended goes after a while, which some of the runs below may reach.
		".yamo/groups/" + club + "/hooks",
		".yamo/locks/private.lock", ".yamo/locks/private.index.lock",
	} {
		remove(t, filepath.Join(base.workspace, private))
	}
	ids := append(base.ids, "mem_1700000000000_abcdef", skill)

	run := func(t *testing.T, change func(*testing.T, *planted)) (stdout, stderr string) {
		p := &planted{
			workspace:   filepath.Join(t.TempDir(), "kate"),
			transcripts: filepath.Join(t.TempDir(), "transcripts"),
			of:          map[string][]canary{},
		}
		copyFolder(t, base.workspace, p.workspace)
		copyFolder(t, base.transcripts, p.transcripts)
		change(t, p)
		p.ids = ids // the same guesses, whatever there is
		h := launch{workspace: p.workspace, transcripts: p.transcripts}
		looked := ""
		for _, args := range append(looks(), []string{"show", shared}, []string{"show", shared[len(shared)-6:], "--json"}) {
			looked += h.look(t, club, args...)
		}
		// Before anything logs an id of this run, whose digits change how much fits into a brief.
		hooks := &hookSession{tb: t, launch: launch{workspace: p.workspace, group: club}, id: "one", cwd: "/nowhere/club"}
		hooks.everything()
		// What the next hook of the group starts from. Their log has how long each took.
		kept := ""
		states := filepath.Join(p.workspace, ".yamo", "groups", club, "hooks")
		list, err := os.ReadDir(states)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range list {
			kept += file.Name() + "\n"
			if file.Name() == "hooks.ndjson" || !file.Type().IsRegular() {
				continue
			}
			state, err := os.ReadFile(filepath.Join(states, file.Name()))
			if err != nil {
				t.Fatal(err)
			}
			kept += string(state) + "\n"
		}
		if !strings.Contains(kept, `"ended"`) {
			t.Errorf("the hooks have kept no state: %s", kept)
		}
		s := connect(t, launch{workspace: p.workspace, group: club, transcripts: p.transcripts, apps: true})
		for _, text := range public {
			s.search(text, map[string]any{"format": "detailed", "include_lessons": true, "limit": 50})
		}
		call[map[string]any](s, "skills", map[string]any{"action": "list"})
		for _, text := range gate {
			s.store(text, map[string]any{"importance": .2, "rationale": "seen"})
			s.store(text, map[string]any{"importance": .4, "rationale": "seen again"})
		}
		// Tokens exist where there is private content only, so guessing them would differ in the requests.
		// TestGroupGetsNoCanary compares their answers with those for tokens of nothing.
		p.evidence = nil
		attack(s, p, 4)
		stdout, stderr = s.end()
		return normal(stdout + hooks.said + looked + kept), normalLog(t, stderr)
	}

	wantOut, wantErr := run(t, func(*testing.T, *planted) {})
	if len(wantOut) < 50_000 {
		t.Fatalf("the session has only %d bytes", len(wantOut))
	}
	variants := map[string]func(*testing.T, *planted){
		"the same again": func(*testing.T, *planted) {},
		"private content": func(t *testing.T, p *planted) {
			p.plantPrivate(t)
			p.plantGroup(t, hiking)
			for _, group := range []string{"", hiking} { // a shared skill, used in private
				s := connect(t, launch{workspace: p.workspace, group: group})
				call[map[string]any](s, "skills", map[string]any{"action": "feedback", "id": skill, "success": false})
				s.end()
			}
		},
		"private near-duplicates": func(t *testing.T, p *planted) {
			for _, group := range []string{"", hiking} {
				s := connect(t, launch{workspace: p.workspace, group: group})
				for i := range 40 {
					s.store(fmt.Sprintf("%s (%d)", public[i%3], i), map[string]any{"tags": []string{"canary"}, "session_id": "canary"})
				}
				for _, text := range public {
					s.store(text, nil)
					s.search(text, nil)
				}
				s.end()
			}
			write(t, filepath.Join(p.workspace, "MEMORY.md"), strings.Repeat("# Canary\n\nThe canary of a memory.\n", 4000))
		},
		// What was shared is also a private memory, which replaced others and has another importance.
		"private revisions of what is shared": func(t *testing.T, p *planted) {
			for _, group := range []string{"", hiking} {
				s := connect(t, launch{workspace: p.workspace, group: group})
				for _, text := range public {
					old := s.store("It used to be otherwise: "+text, nil)
					s.store(text, map[string]any{"supersedes": []string{old.ID}, "importance": 1, "tags": []string{"canary"}})
					s.store(strings.ToUpper(text), nil)
				}
				s.end()
			}
		},
		// What the group will store is also a private memory, with another reason, and one that was erased.
		"the group's words in private": func(t *testing.T, p *planted) {
			for _, group := range []string{"", hiking} {
				s := connect(t, launch{workspace: p.workspace, group: group})
				for _, text := range gate {
					s.store(text, map[string]any{"importance": .9, "rationale": "canary"})
					s.store(text, map[string]any{"importance": .8, "rationale": "another canary"})
				}
				s.end()
			}
			cmd := exec.Command(serverBinary(t), "forget", "painted", "--yes", "--workspace", p.workspace)
			cmd.Env = launch{workspace: p.workspace}.environment()
			if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "Erased 2") {
				t.Fatalf("%v: %s", err, out)
			}
		},
		"damaged and linked": func(t *testing.T, p *planted) {
			for name, target := range map[string]string{
				"MEMORY.md": "nowhere", "USER.md": "SOUL.md", "notes": "memory",
				"DREAMS.md": "/etc/passwd",
			} {
				if err := os.Symlink(target, filepath.Join(p.workspace, name)); err != nil {
					t.Fatal(err)
				}
			}
			write(t, filepath.Join(p.workspace, "TOOLS.md", "a-folder"), "")
			write(t, filepath.Join(p.workspace, "BOOTSTRAP.md"), "\xff\xfe\x00")
			write(t, filepath.Join(p.workspace, ".yamo", "private", "ledger.ndjson"), "{not a ledger\n")
			write(t, filepath.Join(p.workspace, ".yamo", "groups", hiking), "not a folder")
			write(t, filepath.Join(p.transcripts, "not-a-session.jsonl"), "\x00")
		},
	}
	for name, change := range variants {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gotOut, gotErr := run(t, change)
			compareLines(t, "stdout", wantOut, gotOut)
			compareLines(t, "stderr", wantErr, gotErr)
		})
	}
}

// compareLines names the first line that differs.
func compareLines(t *testing.T, what, want, got string) {
	t.Helper()
	if want == got {
		return
	}
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	if len(w) != len(g) {
		t.Errorf("%s has %d lines, not %d", what, len(g), len(w))
	}
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			t.Errorf("%s, line %d (-want +got):\n%s", what, i+1, cmp.Diff(strings.Split(w[i], ","), strings.Split(g[i], ",")))
			return
		}
	}
}

var (
	madeID = regexp.MustCompile(`(mem|lesson|pattern|skill|reflect)_\d{13}_[0-9a-f]{6}\b`)
	// Sessions that begin in one minute share a heading in the log, so that it, its size and its line numbers depend on
	// the clock.
	heading = regexp.MustCompile(`(\\+n|\n)*## Session \[\d\d:\d\d\]`)
	logLine = regexp.MustCompile(`(-group-[a-z-]+\.md(?:\] \[|\\?",\s*\\?"place\\?":\s*\\?")line )\d+`)
	logSize = regexp.MustCompile(`("What this group logged on [^"]*",\s*"mimeType":"text/markdown",\s*"size":)\d+`)
	// Whether vectors or words find what is similar depends on how fast the model is; a group sees its own only, which
	// TestSimilarStaysWithItsGroup of mesh shows.
	similar  = regexp.MustCompile(`,\\?"similar\\?":\[[^\]]*\]`)
	madeTime = regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z?|\b\d\d:\d\d\b`)
)

// normal replaces ids by their order of appearance, and times.
func normal(text string) string {
	seen := map[string]string{}
	text = madeID.ReplaceAllStringFunc(text, func(id string) string {
		if seen[id] == "" {
			seen[id] = fmt.Sprintf("id-%d", len(seen)+1)
		}
		return seen[id]
	})
	text = logLine.ReplaceAllString(heading.ReplaceAllString(text, ""), "${1}LINE")
	text = similar.ReplaceAllString(logSize.ReplaceAllString(text, "${1}SIZE"), "")
	return madeTime.ReplaceAllString(text, "TIME")
}

// normalLog is a log without its times.
func normalLog(t *testing.T, log string) string {
	t.Helper()
	var lines []string
	for line := range strings.Lines(log) {
		var entry map[string]any
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Errorf("a line of the log is no JSON: %s", line)
			continue
		}
		delete(entry, "time")
		data, err := json.Marshal(entry)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(data))
	}
	return normal(strings.Join(lines, "\n"))
}
