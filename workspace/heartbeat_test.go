package workspace

import (
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
)

func TestHeartbeat(t *testing.T) {
	t.Parallel()
	tasks, checks, err := kate(t).View(audience.DM()).Heartbeat()
	if err != nil {
		t.Fatal(err)
	}
	wantTasks := []Task{
		{Text: "Frost warning for tonight? If below 4 °C, remind Mira of the greenhouse door."},
		{Text: "Mail from the museum (Mondays)"},
		{Text: "Distil the week's daily logs into MEMORY.md (Sundays)"},
	}
	wantChecks := []Checked{
		{Check: "calendar", Last: time.Unix(1771052400, 0)},
		{Check: "email", Last: time.Unix(1771056000, 0)},
		{Check: "memory_maintenance", Last: time.Unix(1770548400, 0)},
		{Check: "weather"},
	}
	if diff := cmp.Diff(wantTasks, tasks); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(wantChecks, checks); diff != "" {
		t.Error(diff)
	}
	w := folderOf(t, map[string]string{"HEARTBEAT.md": "# H\n* [X] done\n+ plain\ntext\n```\n- code\n```\n"})
	if tasks, _, err = w.View(audience.DM()).Heartbeat(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Task{{Text: "done", Done: true}, {Text: "plain text"}}, tasks); diff != "" {
		t.Error(diff)
	}
	if tasks, checks, err = kate(t).View(group(t, "a")).Heartbeat(); len(tasks)+len(checks) > 0 || err != nil {
		t.Errorf("a group has %v, %v, %v", tasks, checks, err)
	}
}

func TestSetCheck(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ state, check, want string }{
		"no file":  {"", "email", "{\n  \"lastChecks\": {\n    \"email\": 7\n  }\n}\n"},
		"replaced": {`{"lastChecks": {"email": 1, "x": null}}`, "email", `{"lastChecks": {"email": 7, "x": null}}`},
		"null":     {`{"lastChecks":{"x":null}}`, "x", `{"lastChecks":{"x":7}}`},
		"added": {
			"{\n \"lastChecks\": {\n  \"x\": 1\n }\n}", "email", "{\n \"lastChecks\": {\n  \"x\": 1,\n  \"email\": 7\n }\n}",
		},
		"added on one line": {`{"lastChecks":{"x":1}}`, "email", `{"lastChecks":{"x":1, "email": 7}}`},
		"to none":           {`{"lastChecks": {}}`, "email", `{"lastChecks": {"email": 7}}`},
		"no lastChecks":     {`{"version": 2}`, "email", `{"version": 2, "lastChecks": {"email": 7}}`},
		"nothing at all":    {`{}`, "email", `{"lastChecks": {"email": 7}}`},
		"unknown survives": {
			`{ "b":[1e400,{"lastChecks":{"email":1}}],"lastChecks":{"email" : 1 , "é":2},"a":"\u00e9" }`, "é",
			`{ "b":[1e400,{"lastChecks":{"email":1}}],"lastChecks":{"email" : 1 , "é":7},"a":"\u00e9" }`,
		},
		"the last one holds": {`{"lastChecks":{"x":1,"x":2}}`, "x", `{"lastChecks":{"x":1,"x":7}}`},
		"quoted":             {`{"lastChecks":{"a\"b":1}}`, `a"b`, `{"lastChecks":{"a\"b":7}}`},
	}
	for name, test := range tests {
		got, err := setCheck([]byte(test.state), test.check, 7)
		if err != nil || string(got) != test.want {
			t.Errorf("%s: %s, %v; want %s", name, got, err, test.want)
		}
	}
	for _, state := range []string{"[]", "{", "x", `{"lastChecks": 3}`, `{"lastChecks": null}`, `{} {}`} {
		if got, err := setCheck([]byte(state), "x", 7); !errors.Is(err, ErrHeartbeatState) {
			t.Errorf("%s became %s, %v", state, got, err)
		}
	}
}

func FuzzSetCheck(f *testing.F) {
	f.Add(`{"lastChecks": {"email": 1, "x": null}, "a": [1, {"b": "}"}]}`, "email")
	f.Add("", "é")
	f.Fuzz(func(t *testing.T, state, check string) {
		got, err := setCheck([]byte(state), check, 7)
		if err != nil {
			return
		}
		var before, after map[string]any
		if err := json.Unmarshal(got, &after); err != nil {
			t.Fatalf("%q became %q: %v", state, got, err)
		}
		if json.Unmarshal([]byte(state), &before) != nil {
			before = map[string]any{}
		}
		checks, ok := before["lastChecks"].(map[string]any)
		if !ok {
			checks = map[string]any{}
		}
		key, err := json.Marshal(check) // as JSON has it, without invalid UTF-8
		if err != nil {
			t.Fatal(err)
		}
		var name string
		if err := json.Unmarshal(key, &name); err != nil {
			t.Fatal(err)
		}
		checks[name] = 7.0
		before["lastChecks"] = checks
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("%q, %q: %s", state, check, diff)
		}
	})
}

// Sessions that record at once keep each other's checks.
func TestCheckDoneAtOnce(t *testing.T) {
	t.Parallel()
	w := kate(t)
	v := w.View(audience.DM())
	names := []string{"a", "b", "c", "d", "e", "f"}
	var wg sync.WaitGroup
	for _, name := range names {
		wg.Go(func() {
			if at, err := v.CheckDone(t.Context(), name); err != nil || !at.Equal(valentine) {
				t.Errorf("%s: %v, %v", name, at, err)
			}
		})
	}
	wg.Wait()
	_, checks, err := v.Heartbeat()
	if err != nil || len(checks) != 4+len(names) {
		t.Errorf("%v, %v", checks, err)
	}
}

func TestCheckDoneRefuses(t *testing.T) {
	t.Parallel()
	w := folderOf(t, map[string]string{"memory/heartbeat-state.json": "[]"})
	for _, name := range []string{"", " a", "a\nb", string(make([]byte, 65))} {
		if _, err := w.View(audience.DM()).CheckDone(t.Context(), name); !errors.Is(err, ErrCheckName) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := w.View(audience.DM()).CheckDone(t.Context(), "x"); !errors.Is(err, ErrHeartbeatState) ||
		content(t, w, heartbeatState) != "[]" {
		t.Errorf("%v", err)
	}
	if _, err := kate(t).View(group(t, "a")).CheckDone(t.Context(), "x"); err == nil {
		t.Error("a group recorded a check")
	}
}

// Numbered items and paragraphs are tasks, and a time in another form hides no other check.
func TestHeartbeatForms(t *testing.T) {
	t.Parallel()
	w := folderOf(t, map[string]string{
		"HEARTBEAT.md": "# Heartbeat\n\nLook at the mail\nevery morning.\n\n" +
			"1. Weather\n2) [x] Calendar\n   of the family\n\n---\n<!-- x -->\n",
		"memory/heartbeat-state.json": `{"lastChecks": {"a": 1771056000, "b": 1771056000000, "c": "2026-02-14T08:00:00Z", ` +
			`"d": "soon", "e": 1771056000.5, "f": null, "g": [1], "h": "1771056000"}}`,
	})
	tasks, checks, err := w.View(audience.DM()).Heartbeat()
	if err != nil {
		t.Fatal(err)
	}
	want := []Task{
		{Text: "Look at the mail every morning.", Prose: true},
		{Text: "Weather"},
		{Text: "Calendar of the family", Done: true},
	}
	if diff := cmp.Diff(want, tasks); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	at := time.Unix(1771056000, 0)
	for i, check := range checks {
		bad := check.Check == "d" || check.Check == "g"
		if bad != (check.Problem != "") {
			t.Errorf("%s: problem %q", check.Check, check.Problem)
		}
		if usable := !bad && check.Check != "f"; usable != check.Last.Equal(at) {
			t.Errorf("%d: %s was done %v", i, check.Check, check.Last)
		}
	}
	if len(checks) != 8 {
		t.Errorf("%d checks", len(checks))
	}
}
