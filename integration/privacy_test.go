package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/testsize"
)

// A group that tries everything gets no canary: not in an answer, not in the log, not in a file that it
// or everybody shares.
func TestGroupGetsNoCanary(t *testing.T) {
	t.Parallel()
	p := plant(t)
	for _, attacker := range []struct {
		group, protocol, over string
		every                 int
	}{
		{club, legacy, "", 1},
		{hiking, modern, "", 1},
		{"default", oldest, "", 4},
		{"newcomers", legacy, "", 4},
		{club, legacy, overHTTP, 16},
		{hiking, modern, overHTTP, 16},
		{"newcomers", oldest, overSSE, 16},
	} {
		t.Run(attacker.over+" "+attacker.group, func(t *testing.T) {
			t.Parallel()
			h := launch{
				workspace:   p.workspace,
				group:       attacker.group,
				transcripts: p.transcripts,
				dir:         p.project,
				protocol:    attacker.protocol,
				over:        attacker.over,
				apps:        attacker.every == 1 || attacker.over != "",
				env:         []string{"YAMO_LOG_LEVEL=debug"},
			}
			var private *session // of a DM at the same server
			if attacker.over != "" {
				// One process serves the DM as well, which reads and finds everything first.
				h.at = startHTTP(t, h)
				h.token = h.at.NewToken("--connection", "group", "--group", attacker.group)
				dm := launch{workspace: p.workspace, over: attacker.over, at: h.at, token: h.at.NewToken("--connection", "dm")}
				private = connect(t, dm)
				readEverything(private)
				private.search("The canary of MEMORY.md is", nil)
				if stdout := private.said(); len(leaks(stdout, p.private)) == 0 {
					t.Fatal("the DM does not see any canary either")
				}
			}
			s := connect(t, h)
			attack(s, p, attacker.every)
			stdout, stderr := s.end()
			if private != nil {
				private.end()
				stderr = h.at.Stop()
			}
			memory := filepath.Join(p.workspace, ".yamo")
			places := map[string]string{
				"stdout":           stdout,
				"stderr":           stderr,
				"its own store":    filesBelow(t, filepath.Join(memory, "groups", attacker.group)),
				"the shared store": filesBelow(t, filepath.Join(memory, "shared")),
			}
			for place, text := range places {
				for _, leak := range leaks(text, p.hidden(attacker.group)) {
					t.Errorf("%s has %s", place, leak)
				}
			}
			for line := range strings.Lines(stdout + stderr) {
				if at := strings.Index(line, p.workspace); at >= 0 {
					t.Errorf("the group was told where the workspace is: …%s", brief(line[max(0, at-300):]))
				}
			}
			for _, id := range p.ids {
				if own := strings.Contains(filesBelow(t, filepath.Join(memory, "groups", attacker.group)), `"id":"`+id+`"`); own {
					continue
				}
				if strings.Contains(places["stdout"], `"id":"`+id+`"`) {
					t.Errorf("the group was given %s, which is not its own", id)
				}
			}
		})
	}
}

// What an operator looks at as a group has no canary of others: each command for a person, run for a group.
func TestCommandsForAGroupShowNoCanary(t *testing.T) {
	t.Parallel()
	p := plant(t)
	look := func(args ...string) string {
		cmd := exec.Command(serverBinary(t), append(args, "--workspace", p.workspace)...)
		cmd.Env = append(os.Environ(), "YAMO_TRANSCRIPTS="+p.transcripts, "HOME="+t.TempDir())
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	commands := [][]string{
		{"search", "the canary of MEMORY.md is", "--limit", "50", "--min-confidence", "unlikely"},
		{"list", "--limit", "50"},
		{"timeline", "--limit", "1000"},
		{"stats"},
		{"sessions"},
		{"sessions", "--search", "canary"},
		{"__complete", "show", "--group", hiking, ""},
		{"__complete", "list", "--group", hiking, "--tag", ""},
		{"__complete", "list", "--group", hiking, "--project", ""},
		{"__complete", "list", "--group", hiking, "--session", ""},
		{"__complete", "sessions", "--group", hiking, ""},
	}
	shown := ""
	for _, args := range commands[:6] {
		shown += look(args...)
	}
	if len(leaks(shown, p.private)) == 0 {
		t.Fatal("the operator does not see any canary either")
	}
	for _, args := range commands {
		if args[0] == "__complete" {
			// The command line that is completed names the workspace before the word at the cursor.
			last := len(args) - 1
			args = append(append(slices.Clone(args[:last]), "--workspace", p.workspace), args[last])
			cmd := exec.Command(serverBinary(t), args...)
			cmd.Env = append(os.Environ(), "YAMO_TRANSCRIPTS="+p.transcripts)
			out, _ := cmd.Output()
			shown = string(out)
		} else {
			shown = look(append(slices.Clone(args), "--group", hiking)...)
		}
		for _, leak := range leaks(shown, p.hidden(hiking)) {
			t.Errorf("%q shows %s", args, leak)
		}
	}
}

// attack does what a curious or hostile client can do over the protocol. Of the values that it tries, it
// takes one in every so many.
func attack(s *session, p *planted, every int) {
	s.tb.Helper()
	every *= testsize.Pick(4, 1)
	readEverything(s)
	guesses := append(hostile(), p.ids...)
	guessURIs(s, every)
	guessEvidence(s, p.evidence)
	guessCompletions(s)
	guessMethods(s)
	fuzzPrompts(s, guesses)
	fuzzTools(s, guesses, every)
	for _, line := range []string{
		"", "nonsense", "[]", "{}", "null", `{"jsonrpc":"2.0"}`, `{"jsonrpc":"1.0","method":"ping"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`,
	} {
		s.send(line)
	}
	readEverything(s)
}

// hostile are texts that mean something to one layer or another, and questions by the canaries' names,
// which everybody knows.
func hostile() []string {
	return []string{
		"The canary of MEMORY.md is",
		"The canary of a memory is",
		"The canary of a rule is",
		"canary",
		"what is the canary of the session id",
		"Mira's allergy",
		"*",
		"%",
		"_",
		"' OR 1=1 --",
		`" OR ""="`,
		"1) OR (1=1",
		"id IS NOT NULL",
		"x\x00y",
		"\u202e\u200b",
		"ﬀ",
		"../../.yamo/private/ledger.ndjson",
		"MEMORY.md",
		"/etc/passwd",
		"private",
		"shared",
		"group:hiking",
		"group:book-club",
		"dm",
		"{{.}}",
		"$(id)",
		"%s%n",
		strings.Repeat("canary ", 400),
		"2026-02-14",
		"since last week",
		"0000-01-01",
		"true",
		"-1",
		"null",
	}
}

// privateNames are files that no group may see; absentName is one that no workspace has. To a group both are
// the same.
var (
	privateNames = []string{
		"MEMORY.md",
		"USER.md",
		"TOOLS.md",
		"HEARTBEAT.md",
		"DREAMS.md",
		"notes/plans.md",
		"memory/2026-02-13.md",
		"memory/2026-02-14.md",
		"memory/2025-12-01.md",
		"memory/archive",
		"memory/2026-02-05-irrigation-pump.md",
		"memory/heartbeat-state.json",
		"memory/2026-02-13-group-hiking-x.md",
		".yamo/key",
		".yamo/replaced/20260101T000000Z-00000000-SOUL.md",
		".yamo/private/ledger.ndjson",
		".yamo/config.toml",
		".yamo",
		"memory",
		"notes",
		"",
	}
	absentName = "ABSENT.md"
)

// spellings are URIs that may be taken for that of a file.
func spellings(name string) []string {
	encoded := ""
	for i := range len(name) {
		encoded += fmt.Sprintf("%%%02X", name[i])
	}
	const root = "yamo://workspace/"
	last := ""
	if name != "" {
		last = name[len(name)-1:]
	}
	return []string{
		root + name,
		root + strings.ToLower(name),
		root + strings.ToUpper(name),
		root + encoded,
		root + "./" + name,
		root + "/" + name,
		root + "memory/../" + name,
		root + "%2e%2e/workspace/" + name,
		root + "SOUL.md/../" + name,
		root + name + ".",
		root + name + "/",
		root + name + "%00",
		root + name + "%00.md",
		root + name + "#x",
		root + name + "?x=1",
		root + name + " ",
		root + name + "::$DATA",
		root + strings.ReplaceAll(name, "/", "%2F"),
		root + strings.ReplaceAll(name, "/", `\`),
		root + strings.ReplaceAll(name, "E", "Е"),
		root + strings.ReplaceAll(name, "M", "Ｍ"),
		root + strings.TrimSuffix(name, last) + fmt.Sprintf("%%25%02X", last),
		"YAMO://WORKSPACE/" + name,
		"yamo://workspace:80/" + name,
		"yamo://user@workspace/" + name,
		"yamo:/workspace/" + name,
		"yamo://other/" + name,
		"yamo://" + name,
		"file:///" + name,
		"file://./" + name,
		name,
		"/" + name,
		"../" + name,
	}
}

// guessURIs asks for every private file in every spelling. The answer must be that for a file that does
// not exist, byte for byte.
func guessURIs(s *session, every int) {
	s.tb.Helper()
	for _, method := range []string{"resources/read", "resources/subscribe", "resources/unsubscribe"} {
		for _, name := range privateNames {
			absent := spellings(absentName)
			for i, uri := range spellings(name) {
				if uri == "" || i > 0 && i%every != 0 {
					continue // without a URI it is another request
				}
				got := s.request(method, map[string]any{"uri": uri})
				want := s.request(method, map[string]any{"uri": absent[i]})
				if g, w := withoutURI(got, uri), withoutURI(want, absent[i]); g != w {
					s.tb.Errorf("%s %q is answered %s\nand %q, which does not exist, %s", method, uri, g, absent[i], w)
				}
			}
		}
	}
}

// guessEvidence asks for what private tokens lead to. The answer must be that for a token of nothing.
func guessEvidence(s *session, tokens []string) {
	s.tb.Helper()
	const absent = "yamo://evidence/ev:20260102T044827Z-01KDYGJ72E0000000000000000"
	want := withoutURI(s.request("resources/read", map[string]any{"uri": absent}), absent)
	for _, token := range tokens {
		uri := "yamo://evidence/" + token
		if got := withoutURI(s.request("resources/read", map[string]any{"uri": uri}), uri); got != want {
			s.tb.Errorf("%s is answered %s\nand a token of nothing %s", uri, got, want)
		}
	}
}

// withoutURI is an answer without its id and without the URI that was asked for.
func withoutURI(m message, uri string) string {
	escaped, err := json.Marshal(uri)
	if err != nil {
		return err.Error()
	}
	line := strings.Replace(m.line, `"id":`+string(m.ID), `"id":0`, 1)
	return strings.ReplaceAll(line, "'"+string(escaped[1:len(escaped)-1])+"'", "'URI'")
}

func guessCompletions(s *session) {
	s.tb.Helper()
	for _, ref := range []map[string]any{
		{"type": "ref/resource", "uri": "yamo://workspace/memory/{date}.md"},
		{"type": "ref/resource", "uri": "yamo://workspace/memory/{date}-group-" + s.launch.group + ".md"},
		{"type": "ref/resource", "uri": "yamo://workspace/memory/{date}-group-" + hiking + ".md"},
		{"type": "ref/resource", "uri": "yamo://workspace/{name}"},
		{"type": "ref/resource", "uri": "yamo://workspace/memory/{file}.md"},
		{"type": "ref/prompt", "name": "startup"},
		{"type": "ref/prompt", "name": "bootstrap"},
		{"type": "ref/prompt", "name": "recall"},
		{"type": "ref/prompt", "name": "distill"},
		{"type": "ref/prompt", "name": "session_save"},
		{"type": "ref/prompt", "name": "heartbeat"},
		{"type": "ref/tool", "name": "memory_search"},
	} {
		for _, argument := range []string{"date", "file", "name", "session_id", "uri", "topic", "pattern", "check"} {
			for _, value := range []string{"", "2026", "M", "../"} {
				s.request("completion/complete",
					map[string]any{"ref": ref, "argument": map[string]any{"name": argument, "value": value}})
			}
		}
	}
}

func guessMethods(s *session) {
	s.tb.Helper()
	for _, method := range []string{
		"ping", "initialize", "server/discover", "logging/setLevel", "roots/list", "sampling/createMessage",
		"elicitation/create", "tasks/list", "tasks/get", "tasks/result",
		"workspace/read", "resources/private", "tools/list/all", "admin", "", "rpc.discover", "prompts/list/dm",
		"memory_search",
	} {
		for _, params := range []map[string]any{
			{},
			{
				"connection": "dm", "audience": "dm", "group": hiking, "level": "debug", "cursor": "MEMORY.md",
				"uri": "yamo://workspace/MEMORY.md", "taskId": "1",
			},
			{
				"protocolVersion": legacy, "capabilities": map[string]any{"connection": "dm"},
				"clientInfo": map[string]any{"name": "dm", "version": "1", "connection": "dm"},
			},
		} {
			s.request(method, params)
		}
	}
	for _, list := range []string{"tools/list", "resources/list", "resources/templates/list", "prompts/list"} {
		for _, cursor := range []string{"", "MEMORY.md", "TUVNT1JZLm1k", "AA==", "-1"} {
			s.request(list, map[string]any{"cursor": cursor, "connection": "dm"})
		}
	}
}

func fuzzPrompts(s *session, guesses []string) {
	s.tb.Helper()
	var listed struct {
		Prompts []struct {
			Name      string
			Arguments []struct{ Name string }
		}
	}
	s.request("prompts/list", nil).decode(s.tb, &listed)
	for _, name := range []string{"bootstrap", "curate", "heartbeat", "MEMORY.md"} {
		s.request("prompts/get", map[string]any{"name": name})
	}
	for _, prompt := range listed.Prompts {
		names := []string{"connection", "audience"}
		for _, argument := range prompt.Arguments {
			names = append(names, argument.Name)
		}
		for _, name := range names {
			for _, guess := range guesses {
				s.request("prompts/get", map[string]any{"name": prompt.Name, "arguments": map[string]any{name: guess}})
			}
		}
	}
}
