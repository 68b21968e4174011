package where

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// event is a memory without a session.
func event(column string) any {
	return map[string]any{
		"id": "mem_1_abcdef", "memory_type": "event", "agent_id": "O'Neill", "importance_score": 0.5,
		"created_at": time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
	}[column]
}

func TestMatch(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]bool{
		"memory_type = 'event'":                                true,
		"MEMORY_TYPE='event'":                                  true,
		"memory_type != 'event'":                               false,
		"memory_type <> 'lesson'":                              true,
		"agent_id = 'O''Neill'":                                true,
		"importance_score >= 0.5":                              true,
		"importance_score > 0.5":                               false,
		"importance_score < -1":                                false,
		"importance_score <= 1":                                true,
		"created_at >= '2026-03-01'":                           true,
		"created_at < timestamp '2026-03-01 12:00:00'":         false,
		"created_at <= '2026-03-01T13:00:00+01:00'":            true,
		"memory_type IN ('a', 'event')":                        true,
		"memory_type NOT IN ('a', 'event')":                    false,
		"session_id IS NULL":                                   true,
		"session_id is not null":                               false,
		"session_id = 's'":                                     false,
		"NOT session_id = 's'":                                 false, // neither true nor false
		"session_id NOT IN ('s')":                              false,
		"session_id = 's' OR memory_type = 'event'":            true,
		"NOT (session_id = 's' AND memory_type = 'a')":         true,
		"memory_type='a' AND id='b' OR importance_score=0.5":   true, // AND binds tighter
		"memory_type='a' AND (id='b' OR importance_score=0.5)": false,
		"NOT memory_type='a' AND id='b'":                       false,
		"access_count IS NULL and source_skill_id is null":     true,
		"created_at BETWEEN '2026-03-01' AND '2026-03-02'":     true,
		"created_at not between '2026-03-01' and '2026-03-02'": false,
		"importance_score BETWEEN 0.5 AND 0.5 AND id = 'x'":    false, // the first AND belongs to BETWEEN
		"importance_score BETWEEN 1 AND 0":                     false,
		"access_count BETWEEN 0 AND 9":                         false, // unknown
		"NOT access_count BETWEEN 0 AND 9":                     false,
		"id LIKE 'mem!_%'":                                     false, // ! escapes nothing
		`id LIKE 'mem\_1%'`:                                    true,
		`id LIKE 'mem\_\%'`:                                    false,
		"id LIKE 'mem_1_abcdef'":                               true,
		"id LIKE 'MEM%'":                                       false,
		"id LIKE '%abc%'":                                      true,
		"id LIKE 'em%'":                                        false,
		"id LIKE '.*'":                                         false,
		"id LIKE ''":                                           false,
		"agent_id LIKE 'O''N_ill'":                             true,
		"agent_id NOT LIKE 'O%'":                               false,
		"session_id NOT LIKE 'x'":                              false, // unknown
		"updated_at IS NULL AND last_accessed IS NULL":         true,
	} {
		e, err := Parse(source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if got := e.Match(event); got != want {
			t.Errorf("%s: %v, want %v", source, got, want)
		}
	}
}

func TestString(t *testing.T) {
	t.Parallel()
	e, err := Parse(" not(Agent_ID<>'a''; --' or created_at>'2026-01-02T03:04:05.6789Z' and importance_score in(-.5,1)) ")
	if err == nil {
		t.Fatalf("accepted a number without a digit before the point: %s", e)
	}
	e, err = Parse(" not(Agent_ID<>'a''; --' or created_at>'2026-01-02T03:04:05.6789Z' and importance_score in(-0.5,1)) ")
	if err != nil {
		t.Fatal(err)
	}
	want := "(NOT (agent_id != 'a''; --' OR " +
		"(created_at > timestamp '2026-01-02 03:04:05.678' AND importance_score IN (-0.5, 1))))"
	if e.String() != want {
		t.Errorf("got  %s\nwant %s", e, want)
	}
	if got := e.Columns(); !slices.Equal(got, []string{"agent_id", "created_at", "importance_score"}) {
		t.Errorf("columns %q", got)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"":                          "at character 1: expected a column, found the end of the filter",
		"color = 'red'":             `at character 1: unknown column "color"; use one of id, session_id,`,
		"vector = '1'":              `at character 1: unknown column "vector"`,
		"id = 5":                    "at character 6: expected a string in single quotes",
		"id == 'a'":                 "at character 5: expected a string in single quotes",
		"id = \"a\"":                "at character 6: unexpected character '\"'",
		"id = 'é":                   "at character 6: the string has no closing quote",
		"id = 'é' ; drop":           "at character 10: unexpected character ';'",
		"id = 'a' -- x":             "at character 10: unexpected character '-'",
		"id = 'a' OR 1 = 1":         "at character 13: expected a column",
		"id = 'a' 'b'":              "at character 10: expected AND, OR or the end of the filter, found a string",
		"(id = 'a'":                 `at character 10: expected ")", found the end of the filter`,
		"id = 'a')":                 "at character 9: expected AND, OR or the end of the filter",
		"id IN ()":                  "at character 8: expected a string in single quotes",
		"id IN ('a' 'b')":           `at character 12: expected "," or ")"`,
		"id IS 'a'":                 "at character 7: expected NULL",
		"id NOT = 'a'":              "at character 8: expected IN, BETWEEN or LIKE",
		"access_count LIKE 'a'":     "at character 14: LIKE is for text",
		"id BETWEEN 'a' OR 'b'":     "at character 16: expected AND",
		"id 'a'":                    "at character 4: expected =, !=, <, <=, >, >=, IN, BETWEEN, LIKE or IS",
		"importance_score > 1e9":    "at character 20: use a decimal number",
		"importance_score > 1.":     "at character 20: use a decimal number",
		"importance_score > '1'":    "at character 20: expected a number",
		"created_at > 'now'":        "at character 14: use a time such as",
		"created_at > '0001-01-01'": "at character 14: use a time such as",
		"created_at > 5":            "at character 14: expected a time in single quotes",
		"id = 'a\x00'":              "at character 8: NUL is not allowed",
		"id = '\xff'":               "at character 1: the filter is not valid UTF-8",
		"lower(id) = 'a'":           `at character 1: unknown column "lower"`,
		strings.Repeat("(", 60):     "at character 51: nested too deeply",
		"id = '" + strings.Repeat("a", 5000) + "'": "at character 1: the filter has 5007 bytes",
	} {
		_, err := Parse(source)
		if _, ok := errors.AsType[*Error](err); !ok || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", source, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"id = 'a'", "NOT (agent_id != 'a''' OR created_at > '2026-01-02')",
		"importance_score IN (-0.5, 1) AND session_id IS NOT NULL",
		"created_at <= timestamp '2026-01-02 03:04:05.678'", "id = 'é'' --", "((", "access_count NOT IN (1)",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		e, err := Parse(source)
		if err != nil {
			failed, ok := errors.AsType[*Error](err)
			if !ok {
				t.Fatalf("%q: error %v is not an *Error", source, err)
			}
			if failed.Position < 1 || failed.Position > utf8.RuneCountInString(source)+1 {
				t.Fatalf("%q: position %d is outside the filter", source, failed.Position)
			}
			return
		}
		if len(e.String()) > maxLength || strings.Count(e.String(), "(") > maxDepth {
			return // the canonical form may exceed the limits of Parse
		}
		reparsed, err := Parse(e.String())
		if err != nil {
			t.Fatalf("%q: canonical form %q: %v", source, e, err)
		}
		if reparsed.String() != e.String() {
			t.Fatalf("%q: canonical form %q is not stable: %q", source, e, reparsed)
		}
		if reparsed.Match(event) != e.Match(event) {
			t.Fatalf("%q: canonical form %q matches differently", source, e)
		}
	})
}
