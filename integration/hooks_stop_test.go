package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/lockfile"
)

// A host that does not wait for Stop runs it beside the next prompt, after the session's end, or not at all, and may be
// killed itself. Whatever it does, each turn is in the daily log once and in order.
func TestStopIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]func(s *hookSession, stop func(prompt, answer string)){
		"Stop is ended before it has run, SessionEnd is not": func(s *hookSession, _ func(prompt, answer string)) {
			exchange(s, "1", "Where is the pump?", "In the shed.")
			exchange(s, "2", "Is it dry?", "It is wet.")
			s.run("SessionEnd", map[string]any{"reason": "other", "prompt_id": "2"})
		},
		"Stop is late": func(s *hookSession, stop func(prompt, answer string)) {
			exchange(s, "1", "Where is the pump?", "In the shed.")
			exchange(s, "2", "Is it dry?", "It is wet.")
			stop("1", "In the shed.")
			stop("2", "It is wet.")
			s.run("SessionEnd", map[string]any{"reason": "other", "prompt_id": "2"})
		},
		"Stop is late, and the log has more than the events": func(s *hookSession, stop func(prompt, answer string)) {
			exchange(s, "1", "Where is the pump?", "In the shed.")
			s.run("UserPromptSubmit", map[string]any{"prompt": "Is it dry?", "prompt_id": "2"})
			s.spoke("user", "Is it dry?")
			stop("1", "In the shed.")
			stop("2", "It is wet.") // before the host's log has it
			s.spoke("assistant", "It is wet.")
			s.run("SessionEnd", map[string]any{"reason": "other", "prompt_id": "2"})
		},
		"Stop comes in another order": func(s *hookSession, stop func(prompt, answer string)) {
			exchange(s, "1", "Where is the pump?", "In the shed.")
			exchange(s, "2", "Is it dry?", "It is wet.")
			stop("2", "It is wet.")
			stop("1", "In the shed.")
		},
		"Stop comes after the end": func(s *hookSession, stop func(prompt, answer string)) {
			exchange(s, "1", "Where is the pump?", "In the shed.")
			exchange(s, "2", "Is it dry?", "It is wet.")
			s.run("SessionEnd", map[string]any{"reason": "other", "prompt_id": "2"})
			stop("1", "In the shed.")
			stop("2", "It is wet.")
		},
		"the host is killed": func(s *hookSession, _ func(prompt, answer string)) {
			exchange(s, "1", "Where is the pump?", "In the shed.")
			exchange(s, "2", "Is it dry?", "It is wet.")
		},
		"the session is resumed": func(s *hookSession, stop func(prompt, answer string)) {
			exchange(s, "1", "Where is the pump?", "In the shed.")
			s.run("SessionStart", map[string]any{"source": "resume"})
			exchange(s, "2", "Is it dry?", "It is wet.")
			stop("2", "It is wet.")
			s.run("SessionEnd", map[string]any{"reason": "other", "prompt_id": "2"})
			s.run("SessionStart", map[string]any{"source": "resume"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			workspace := sample(t)
			s := &hookSession{
				tb: t, launch: launch{workspace: workspace}, id: "one", cwd: filepath.Join(t.TempDir(), "well"),
				transcript: filepath.Join(t.TempDir(), "one.jsonl"),
			}
			s.run("SessionStart", map[string]any{"source": "startup"})
			run(s, func(prompt, answer string) {
				s.run("Stop", map[string]any{"last_assistant_message": answer, "prompt_id": prompt})
			})
			next := &hookSession{
				tb: t, launch: launch{workspace: workspace}, id: "two", cwd: s.cwd,
				transcript: filepath.Join(t.TempDir(), "two.jsonl"),
			}
			start := next.run("SessionStart", map[string]any{"source": "startup"})
			if !strings.Contains(start, "It is wet.") {
				t.Errorf("the next session starts without the last answer:\n%s", start)
			}
			log := filesBelow(t, filepath.Join(workspace, "memory"))
			rest := log
			for _, turn := range []string{
				"- **User:** Where is the pump?", "- **Agent:** In the shed.", "- **User:** Is it dry?", "- **Agent:** It is wet.",
			} {
				if n := strings.Count(log, turn); n != 1 {
					t.Errorf("the daily log has %q %d times:\n%s", turn, n, log)
				}
				at := strings.Index(rest, turn)
				if at < 0 {
					t.Errorf("the daily log does not have %q in its place:\n%s", turn, log)
					continue
				}
				rest = rest[at:]
			}
			if !strings.Contains(log, "### Claude Code in well\n") {
				t.Errorf("the daily log does not name the host and the project:\n%s", log)
			}
		})
	}
}

// A Stop that finds the record locked does not hold the host for long where a later hook finds in the host's log what
// was said. Where there is no such log it waits: nothing else has the answer.
func TestStopFindsTheRecordLocked(t *testing.T) {
	t.Parallel()
	for name, keeps := range map[string]bool{"the host keeps a log": true, "the host keeps none": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			workspace := sample(t)
			s := &hookSession{tb: t, launch: launch{workspace: workspace}, id: "one", cwd: filepath.Join(t.TempDir(), "well")}
			if keeps {
				s.transcript = filepath.Join(t.TempDir(), "one.jsonl")
			}
			s.run("SessionStart", map[string]any{"source": "startup"})
			s.run("UserPromptSubmit", map[string]any{"prompt": "Where is the pump?", "prompt_id": "1"})
			if keeps {
				s.spoke("user", "Where is the pump?")
				s.spoke("assistant", "In the shed.")
			}
			release, err := lockfile.Exclusive(t.Context(), filepath.Join(workspace, ".yamo", "private", "hooks", "hooks.lock"))
			if err != nil {
				t.Fatal(err)
			}
			const held = 6 * time.Second // the limits are 2 and 10 seconds
			time.AfterFunc(held, func() { _ = release() })
			s.late = keeps
			start := time.Now()
			s.run("Stop", map[string]any{"last_assistant_message": "In the shed.", "prompt_id": "1"})
			if took := time.Since(start); (took < held) != keeps {
				t.Errorf("Stop took %s", took)
			}
			s.late = false
			time.Sleep(time.Until(start.Add(held + time.Second)))
			s.run("SessionEnd", map[string]any{"reason": "other", "prompt_id": "1"})
			log := filesBelow(t, filepath.Join(workspace, "memory"))
			for _, turn := range []string{"- **User:** Where is the pump?", "- **Agent:** In the shed."} {
				if n := strings.Count(log, turn); n != 1 {
					t.Errorf("the daily log has %q %d times:\n%s", turn, n, log)
				}
			}
		})
	}
}

// exchange is a prompt and its answer, of which the host runs no hook but the prompt's.
func exchange(s *hookSession, id, prompt, answer string) {
	s.run("UserPromptSubmit", map[string]any{"prompt": prompt, "prompt_id": id})
	s.spoke("user", prompt)
	s.spoke("assistant", answer)
}

// What is recorded of an earlier day has its time.
func TestUnfinishedSessionOfYesterday(t *testing.T) {
	t.Parallel()
	workspace := sample(t)
	one := &hookSession{
		tb: t, launch: launch{workspace: workspace}, id: "one", cwd: filepath.Join(t.TempDir(), "well"),
		transcript: filepath.Join(t.TempDir(), "one.jsonl"),
	}
	one.run("SessionStart", map[string]any{"source": "startup"})
	write(t, one.transcript, `{"type":"user","uuid":"a","timestamp":"2026-01-31T12:00:00Z",`+
		`"message":{"role":"user","content":"Close the valve."}}`+"\n"+
		`{"type":"assistant","uuid":"b","timestamp":"2026-01-31T12:00:05Z","message":{"role":"assistant",`+
		`"content":[{"type":"text","text":"It is closed."}]}}`+"\n"+`{"type":"assistant","uuid":"c","mess`)
	group := &hookSession{
		tb: t, launch: launch{workspace: workspace, group: club}, id: "of-the-club", cwd: one.cwd,
	}
	if start := group.run("SessionStart", map[string]any{"source": "startup"}); strings.Contains(start, "closed") {
		t.Errorf("a group's session starts with what was said in a DM:\n%s", start)
	}
	if _, err := os.Stat(filepath.Join(workspace, ".yamo", "groups", club, "hooks")); err != nil {
		t.Fatal(err)
	}
	two := &hookSession{tb: t, launch: launch{workspace: workspace}, id: "two", cwd: one.cwd}
	if start := two.run("SessionStart", map[string]any{"source": "startup"}); !strings.Contains(start, "It is closed.") {
		t.Errorf("the next session starts without the last answer:\n%s", start)
	}
	log := filesBelow(t, filepath.Join(workspace, "memory"))
	if !strings.Contains(log, "### Claude Code in well, said on 2026-01-31 ") {
		t.Errorf("the log does not tell when it was said:\n%s", log)
	}
}
