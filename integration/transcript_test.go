package integration

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"gotest.tools/v3/golden"
)

// Whole dialogues, in each revision of the protocol, as a DM and as a group, say the same over every transport.
// -update rewrites the server's side from what it sends over stdio. META in a client's line is replaced by what every
// request of 2026-07-28 carries.
func TestTranscripts(t *testing.T) {
	t.Parallel()
	for _, revision := range []string{oldest, legacy, "2025-11-25", modern} {
		file := filepath.Join("testdata", "transcripts", revision+".txtar")
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, group := range []string{"", hiking} {
			part := "dm"
			if group != "" {
				part = "group"
			}
			at := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == part })
			for _, transport := range []string{"", overHTTP, overSSE} {
				if transport == overSSE && revision == modern {
					continue // no such file any more
				}
				t.Run(strings.Join([]string{revision, part, cmp.Or(transport, "stdio")}, "/"), func(t *testing.T) {
					got := replay(t, open(t, transport, revision, group), string(archive.Files[0].Data))
					if golden.FlagUpdate() && transport == "" {
						archive.Files[at].Data = []byte(got)
						if err := os.WriteFile(file, txtar.Format(archive), 0o600); err != nil {
							t.Fatal(err)
						}
					}
					if diff := gocmp.Diff(strings.Split(string(archive.Files[at].Data), "\n"), strings.Split(got, "\n")); diff != "" {
						t.Errorf("%s, %s (-want +got):\n%s", file, part, diff)
					}
				})
			}
		}
	}
}

// open begins a session of a server over a fresh workspace, on a machine without a model, where scores are the same
// everywhere.
func open(t *testing.T, transport, revision, group string) *session {
	t.Helper()
	h := launch{
		workspace: sample(t),
		group:     group,
		cache:     t.TempDir(),
		protocol:  revision,
		over:      transport,
		unspoken:  true,
	}
	if transport != "" {
		h.at = startHTTP(t, h)
		token := []string{"--connection", "dm"}
		if group != "" {
			token = []string{"--connection", "group", "--group", group}
		}
		h.token = h.at.NewToken(token...)
	}
	return connect(t, h)
}

// replay is the server's side of a dialogue.
func replay(t *testing.T, s *session, client string) string {
	t.Helper()
	var answers strings.Builder
	for line := range strings.Lines(client) {
		line = strings.ReplaceAll(
			strings.TrimSpace(line),
			"META",
			`"_meta":{"io.modelcontextprotocol/protocolVersion":"`+modern+
				`","io.modelcontextprotocol/clientInfo":{"name":"host","version":"1"},`+
				`"io.modelcontextprotocol/clientCapabilities":{}}`,
		)
		if answer := s.say(line); answer != "" {
			answers.WriteString(answer + "\n")
		}
	}
	return portable(t, answers.String())
}

var (
	schemas  = regexp.MustCompile(`"(?:input|output)Schema":`)
	anywhere = regexp.MustCompile(`(workspace_dir\\?":\\?")[^"\\]*`)
	version  = regexp.MustCompile(`("name":"yamo-mcp","version":)"[^"]*"`)
	stamp    = regexp.MustCompile(`\b20\d\d-\d\d-\d\d, (private|shared|group)`)
	today    = regexp.MustCompile(`[A-Z][a-z]+day, 20\d\d-\d\d-\d\d, TIME \([^)]*\)`)
	listed   = regexp.MustCompile(`(id-\d+) 20\d\d-\d\d-\d\d `)
	since    = regexp.MustCompile(`\b(\d+ days ago|yesterday|today)\)`)
	event    = regexp.MustCompile(`(?:ev:\d{8}T\d{6}Z-)?\b0[0-9A-HJKMNP-TV-Z]{25}\b`)
	digest   = regexp.MustCompile(`\b[0-9a-f]{64}\b`)
)

// portable is text without what is another on every machine and every day. Of the tools, which docs/tools.md has,
// names remain.
func portable(t *testing.T, text string) string {
	t.Helper()
	var out strings.Builder
	for line := range strings.Lines(text) {
		if schemas.MatchString(line) {
			line = namesAlone(t, line)
		}
		out.WriteString(line)
	}
	text = normal(out.String())
	text = anywhere.ReplaceAllString(text, "${1}WORKSPACE")
	text = since.ReplaceAllString(today.ReplaceAllString(text, "NOW"), "SOME DAYS AGO)")
	for day := -1; day <= 1; day++ { // somewhere it is yesterday or tomorrow
		text = strings.ReplaceAll(text, "- "+time.Now().AddDate(0, 0, day).Format(time.DateOnly)+": ", "- DAY: ")
	}
	text = listed.ReplaceAllString(stamp.ReplaceAllString(text, "DAY, $1"), "$1 DAY ")
	text = digest.ReplaceAllString(event.ReplaceAllString(text, "EVENT"), "DIGEST")
	return version.ReplaceAllString(text, `$1"VERSION"`)
}

// namesAlone is the answer to tools/list with the names instead of the tools.
func namesAlone(t *testing.T, line string) string {
	t.Helper()
	var answer struct {
		Result struct{ Tools []json.RawMessage }
	}
	if err := json.Unmarshal([]byte(line), &answer); err != nil {
		t.Fatal(err)
	}
	for _, tool := range answer.Result.Tools {
		var named struct{ Name string }
		if err := json.Unmarshal(tool, &named); err != nil {
			t.Fatal(err)
		}
		line = strings.Replace(line, string(tool), fmt.Sprintf("%q", named.Name), 1)
	}
	return line
}

// idOf is the id of a message as JSON, "" if it has none.
func idOf(line string) string {
	var m struct{ ID json.RawMessage }
	if json.Unmarshal([]byte(line), &m) != nil {
		return ""
	}
	return string(m.ID)
}

// say sends a message and returns the answer, "" to a notification.
func (s *session) say(line string) string {
	s.tb.Helper()
	id := idOf(line)
	if id == "" {
		s.send(line)
		return ""
	}
	answer := make(chan message, 1)
	s.mu.Lock()
	s.waiting[id] = answer
	s.mu.Unlock()
	s.send(line)
	select {
	case m := <-answer:
		return m.line
	case <-s.ended:
	case <-time.After(patience):
	}
	s.tb.Fatalf("no answer to %s", line)
	return ""
}
