package mesh

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh/learn"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// failure is metadata of which a lesson can be made.
func failure(pattern, scope string) map[string]any {
	return map[string]any{
		"status": "error", "error_pattern": pattern, "oversight": "nobody looked at the disk", "fix": "made room",
		"preventative_rule": "Check the free space before a backup", "severity": "high", "applicable_scope": scope,
	}
}

func without(m map[string]any, keys ...string) map[string]any {
	for _, key := range keys {
		delete(m, key)
	}
	return m
}

func runCycle(t testing.TB, v *View, dryRun bool) Cycle {
	t.Helper()
	cycle, err := v.RunCycle(t.Context(), dryRun)
	if err != nil {
		t.Fatal(err)
	}
	return cycle
}

// outcomes are the candidates in a line each.
func outcomes(c Cycle) (lines []string) {
	for _, one := range c.Candidates {
		lines = append(lines, strings.TrimSpace(fmt.Sprint(one.Outcome, " ", one.ErrorPattern, "/", one.Scope, " ",
			one.Because, " ", len(one.Memories), " ", strings.Join(one.Missing, ","))))
	}
	return lines
}

func TestCycle(t *testing.T) {
	t.Parallel()
	v, clock := clocked(t, t.TempDir(), audience.DM())
	at := func(ago time.Duration, q record.Memory) {
		clock.advance(-ago)
		keep(t, v, q)
		clock.advance(ago)
	}
	at(8*24*time.Hour, record.Memory{Content: "too old to be a repetition", Metadata: failure("seldom", "x")})
	at(6*24*time.Hour, record.Memory{
		Content:  "the first time",
		Metadata: without(failure("again", "scripts"), "status", "fix"),
	})
	at(30*time.Hour, record.Memory{Content: "an old error", Metadata: failure("yesterday", "x")})
	at(23*time.Hour, record.Memory{Content: "the backup failed", Metadata: failure("disk_full", "backups")})
	at(22*time.Hour, record.Memory{
		Content:  "the second time",
		Metadata: without(failure("again", ""), "status", "applicable_scope", "oversight"),
	})
	at(21*time.Hour, record.Memory{Content: "no status", Metadata: without(failure("calm", "x"), "status")})
	at(20*time.Hour, record.Memory{Content: "something broke", Metadata: map[string]any{"status": "Error"}})
	at(19*time.Hour, record.Memory{
		Content:  "severity is no word of ours",
		Metadata: map[string]any{"status": "error", "error_pattern": "odd", "severity": "awful", "confidence": "very"},
	})
	at(18*time.Hour, record.Memory{Tags: []string{"#Lesson_Learned_Candidate"}, Content: `The mail went to everybody.
Error pattern: reply_all
Oversight: the list was in the header
Fix: apologized
Rule: Read the recipients aloud
Severity: Medium
Scope: mail
Instead: answer one
Confidence: 0.9`})
	at(17*time.Hour, record.Memory{Content: "Renamed the wrong branch. #lesson_learned_candidate"})
	at(16*time.Hour, record.Memory{Content: "all is well", Metadata: map[string]any{"status": "ok"}})

	want := []string{
		"possible again/scripts [repeated] 2",
		"possible disk_full/backups [error] 1",
		"incomplete / [error] 1 error_pattern,oversight,fix,preventative_rule,severity,applicable_scope",
		"incomplete odd/ [error] 1 oversight,fix,preventative_rule,severity,applicable_scope,confidence",
		"possible reply_all/mail [candidate] 1",
		"incomplete / [candidate] 1 error_pattern,oversight,fix,preventative_rule,severity,applicable_scope",
	}
	dry := runCycle(t, v, true)
	switch diff := cmp.Diff(want, outcomes(dry)); {
	case diff != "":
		t.Fatalf("(-want +got):\n%s", diff)
	case dry.Scanned != 10:
		t.Fatalf("dry.Scanned = %v, want 10", dry.Scanned)
	case !dry.DryRun:
		t.Fatal("dry.DryRun is false")
	}
	if found, err := v.Lessons(t.Context(), LessonQuery{}); err != nil || len(found.Lessons) > 0 {
		t.Fatalf("a dry run left %v, %v", contents(found.Lessons), err)
	}
	for i := range want {
		want[i] = strings.Replace(want[i], "possible", "distilled", 1)
	}
	cycle := runCycle(t, v, false)
	if diff := cmp.Diff(want, outcomes(cycle)); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	lesson := func(pattern string) record.Lesson {
		t.Helper()
		for _, c := range cycle.Candidates {
			if c.ErrorPattern == pattern {
				hits, err := v.MemoriesByPattern(t.Context(), c.PatternID)
				switch {
				case err != nil:
					t.Fatal(err)
				case len(hits) != 1:
					t.Fatalf("len(hits) = %v, want 1", len(hits))
				case hits[0].Lesson.LessonID != c.LessonID:
					t.Fatalf("hits[0].Lesson.LessonID = %v, want %v", hits[0].Lesson.LessonID, c.LessonID)
				case !hits[0].HasTag(record.LessonTag):
					t.Fatal("hits[0].HasTag(record.LessonTag) is false")
				}
				if diff := cmp.Diff(c.Memories, hits[0].Lesson.Sources); diff != "" {
					t.Errorf("the sources of %s (-want +got):\n%s", pattern, diff)
				}
				return *hits[0].Lesson
			}
		}
		t.Fatalf("no candidate %s", pattern)
		return record.Lesson{}
	}
	ignored := cmpopts.IgnoreFields(record.Lesson{}, "LessonID", "PatternID", "WireFormat", "Sources")
	if diff := cmp.Diff(record.Lesson{
		Situation: "The mail went to everybody.", ErrorPattern: "reply_all", Oversight: "the list was in the header",
		Fix:              "apologized",
		PreventativeRule: "Read the recipients aloud", Severity: "medium", ApplicableScope: "mail",
		InverseLesson: "answer one", RuleConfidence: .9,
	}, lesson("reply_all"), ignored); diff != "" {
		t.Errorf("from a text (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(record.Lesson{
		Situation: "the second time", ErrorPattern: "again", Oversight: "nobody looked at the disk", Fix: "made room",
		PreventativeRule: "Check the free space before a backup", Severity: "high", ApplicableScope: "scripts",
		RuleConfidence: .7,
	}, lesson("again"), ignored); diff != "" {
		t.Errorf("from two memories (-want +got):\n%s", diff)
	}

	for i := range want {
		want[i] = strings.Replace(want[i], "distilled", "known", 1)
	}
	if diff := cmp.Diff(want, outcomes(runCycle(t, v, false))); diff != "" {
		t.Errorf("again (-want +got):\n%s", diff)
	}
	// A more certain candidate improves the lesson; one that names no scope is settled by a lesson of its pattern.
	better := failure("disk_full", "backups")
	better["confidence"] = .8
	at(0, record.Memory{Content: "the backup failed once more", Metadata: better})
	at(0, record.Memory{
		Content:  "mail again",
		Metadata: map[string]any{"status": "error", "errorPattern": "odd_one", "fix": 7},
	})
	if _, err := v.Distill(t.Context(), record.LessonRequest{
		Situation: "s", ErrorPattern: "odd_one", Oversight: "o", Fix: "f", PreventativeRule: "r", Severity: "low",
		ApplicableScope: "anywhere",
	}); err != nil {
		t.Fatal(err)
	}
	got := outcomes(runCycle(t, v, false))
	for _, line := range []string{"distilled disk_full/backups [error repeated] 2", "known odd_one/ [error] 1"} {
		if !strings.Contains(strings.Join(got, "\n")+"\n", line+"\n") {
			t.Errorf("no %q in\n%s", line, strings.Join(got, "\n"))
		}
	}
	switch hits, err := v.MemoriesByPattern(t.Context(), record.PatternID("disk_full", "backups")); {
	case err != nil:
		t.Fatal(err)
	case len(hits) != 2:
		t.Errorf("len(hits) = %v, want 2", len(hits))
	case hits[0].Lesson.Supersedes != hits[1].Lesson.LessonID:
		t.Errorf("hits[0].Lesson.Supersedes = %v, want %v", hits[0].Lesson.Supersedes, hits[1].Lesson.LessonID)
	}
	clock.advance(8 * 24 * time.Hour)
	if cycle := runCycle(t, v, false); cycle.Scanned != 0 || len(cycle.Candidates) != 0 {
		t.Errorf("a week later: %+v", cycle)
	}
}

func TestCycleKeepsScopesApart(t *testing.T) {
	t.Parallel()
	v := open(t, t.TempDir(), audience.DM(), new(words))
	keep(t, v, record.Memory{Content: "one", Metadata: failure("timeout", "mail")})
	keep(t, v, record.Memory{Content: "two", Metadata: failure("timeout", "web")})
	if diff := cmp.Diff([]string{"distilled timeout/mail [error] 1", "distilled timeout/web [error] 1"},
		outcomes(runCycle(t, v, false))); diff != "" {
		t.Error(diff)
	}
	long := failure("long", "x")
	long["fix"] = strings.Repeat("x", record.MaxField+1)
	keep(t, v, record.Memory{Content: strings.Repeat("three ", record.MaxField), Metadata: long})
	cycle := runCycle(t, v, false)
	if last := cycle.Candidates[2]; last.Outcome != OutcomeRefused || !strings.Contains(last.Reason, "fix:") {
		t.Errorf("what is too long: %+v", last)
	}
}

// What a group said becomes a lesson of that group, and of no other audience.
func TestCycleStaysWithItsAudience(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	dm, red, blue := open(t, dir, audience.DM(), new(words)), open(t, dir, group(t, "red"), new(words)),
		open(t, dir, group(t, "blue"), new(words))
	keep(t, dm, record.Memory{Content: "private", Metadata: failure("private", "x")})
	keep(t, dm, record.Memory{Content: "shared", Metadata: failure("shared", "x")}, record.Shared)
	keep(t, red, record.Memory{Content: "red", Metadata: failure("red", "x")})
	if _, err := red.Distill(t.Context(), record.LessonRequest{
		Situation: "s", ErrorPattern: "private", Oversight: "o", Fix: "f", PreventativeRule: "planted", Severity: "low",
		ApplicableScope: "x", Confidence: new(float64(1)),
	}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		view *View
		want []string
	}{
		{dm, []string{"distilled private/x [error] 1", "distilled shared/x [error] 1"}},
		// red's lesson does not interfere
		{red, []string{"distilled shared/x [error] 1", "distilled red/x [error] 1"}},
		{blue, []string{"distilled shared/x [error] 1"}},
	} {
		if diff := cmp.Diff(c.want, outcomes(runCycle(t, c.view, false))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.view.home(), diff)
		}
	}
	for name, want := range map[string]int{"private": 2, "shared": 0, "groups/red": 3, "groups/blue": 1} {
		data, err := os.ReadFile(filepath.Join(dir, ".yamo", name, "ledger.ndjson"))
		if n := strings.Count(string(data), `"op":"lesson"`); err != nil || n != want {
			t.Errorf("%s has %d lessons (%v), want %d", name, n, err, want)
		}
	}
}

func TestSayingOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		content  string
		metadata string
		want     learn.Saying
	}{
		{"just a text: with a colon", "", learn.Saying{"situation": "just a text: with a colon"}},
		{
			"- **Fix:** rebooted\n* Preventative-Rule : do not", "",
			learn.Saying{
				"fix": "rebooted", "preventative_rule": "do not",
				"situation": "- **Fix:** rebooted * Preventative-Rule : do not",
			},
		},
		{"context:\n  original_context;the deploy;\n  error_pattern;p1;\n  severity;critical;\noutput:\n  " +
			"rule_confidence;0.8;\nmeta:\n  applicability_scope;here;", "", learn.Saying{
			"situation": "the deploy", "error_pattern": "p1", "severity": "critical", "confidence": "0.8",
			"applicable_scope": "here",
		}},
		{"x\nFix: from the text", `{"fix":"from metadata","errorCode":"E  7","confidence":0.25,` +
			`"constraint":["no text"],"inverseLesson":""}`, learn.Saying{
			"situation": "x", "fix": "from metadata", "error_pattern": "E 7", "confidence": "0.25",
		}},
	} {
		r := &record.Record{Memory: record.Memory{Content: c.content}}
		if c.metadata != "" {
			if err := json.Unmarshal([]byte(c.metadata), &r.Metadata); err != nil {
				t.Fatal(err)
			}
		}
		got := learn.SayingOf(r)
		if got["severity"] == "" {
			delete(got, "severity")
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.content, diff)
		}
	}
}

func TestTwoProcessesRunTheCycleAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := open(t, dir, audience.DM(), new(words))
	for i := range 20 {
		keep(t, v, record.Memory{Content: fmt.Sprintf("failure %d", i), Metadata: failure(fmt.Sprint("pattern_", i), "x")})
	}
	results := make(chan error)
	for range 2 {
		cmd := command(t, "cycle", dir)
		go func() { results <- cmd.Run() }()
	}
	for range 2 {
		if err := <-results; err != nil {
			t.Fatal(err)
		}
	}
	cycle := runCycle(t, v, false)
	for _, c := range cycle.Candidates {
		hits, err := v.MemoriesByPattern(t.Context(), c.PatternID)
		switch {
		case c.Outcome != OutcomeKnown:
			t.Errorf("c.Outcome = %v, want %v", c.Outcome, OutcomeKnown)
		case err != nil:
			t.Fatal(err)
		case len(hits) != 1:
			t.Errorf("len(hits) = %v, want 1", len(hits))
		}
	}
	if len(cycle.Candidates) != 20 {
		t.Errorf("%d candidates", len(cycle.Candidates))
	}
}
