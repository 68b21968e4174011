package workspace

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Task is a line of HEARTBEAT.md's checklist (RFC-0009 §2.7).
type Task struct {
	Text  string
	Done  bool // ticked, [x]
	Prose bool // a paragraph and no list item
	// Under is what the task is listed under, the nearest first: an item or paragraph that ends with a colon, then the
	// headings, except the file's title.
	Under []string
}

// Checked records when a periodic check was last done (RFC-0009 §2.9).
type Checked struct {
	Check   string
	Last    time.Time // zero: never
	Problem string    // why the recorded time cannot be used, "" if it can
}

// Errors of the heartbeat.
var (
	ErrCheckName      = errors.New("must be 1 to 64 printable characters, without leading or trailing spaces")
	ErrHeartbeatState = errors.New(`memory/heartbeat-state.json is not {"lastChecks": {name: Unix seconds or null}}; ` +
		`it was left as it is, correct it by hand`)
)

// Heartbeat returns HEARTBEAT.md's checklist in order (RFC-0009 §2.7), numbered items and paragraphs included, and the
// recorded checks sorted by name (§2.9). A missing file counts as empty. In a group both are always empty. The error
// is ErrHeartbeatState for a state file of another form; a single time that cannot be used is that check's Problem.
func (v *View) Heartbeat() ([]Task, []Checked, error) {
	text, _, err := v.text(HeartbeatFile, maxFileChars)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	tasks := tasksOf(text)
	data, err := v.Read(heartbeatState)
	if errors.Is(err, fs.ErrNotExist) {
		return tasks, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	var state struct {
		LastChecks map[string]json.RawMessage `json:"lastChecks"`
	}
	if err := json.Unmarshal(bytes.TrimPrefix(data, []byte("\uFEFF")), &state); err != nil {
		return nil, nil, ErrHeartbeatState
	}
	var checks []Checked
	for name, at := range state.LastChecks {
		check := Checked{Check: name}
		var ok bool
		if check.Last, ok = checkedAt(at); !ok {
			check.Problem = "its recorded time is not in Unix seconds; recording it again corrects that"
		}
		checks = append(checks, check)
	}
	slices.SortFunc(checks, func(a, b Checked) int { return cmp.Compare(a.Check, b.Check) })
	return tasks, checks, nil
}

// checkedAt reads a time of the state file, zero for null. RFC-0009 §2.9 has Unix seconds; other programs write
// milliseconds, fractions, or text, from which the time is still clear.
func checkedAt(value json.RawMessage) (at time.Time, ok bool) {
	if string(value) == "null" {
		return time.Time{}, true
	}
	var text string
	if json.Unmarshal(value, &text) == nil {
		if at, err := time.Parse(time.RFC3339, text); err == nil {
			return at, true
		}
		value = json.RawMessage(text)
	}
	seconds, err := strconv.ParseFloat(string(value), 64)
	if err != nil || seconds < 0 || math.IsNaN(seconds) {
		return time.Time{}, false
	}
	// Unix seconds have ten digits until the year 2286.
	for range 3 {
		if seconds >= 1e11 {
			seconds /= 1000
		}
	}
	if seconds >= 1e11 {
		return time.Time{}, false
	}
	return time.Unix(int64(seconds), 0), true
}

// CheckDone records in memory/heartbeat-state.json that check is done now, and returns that time, in seconds. No other
// byte of the file changes, because other programs keep their own fields there; a missing file is created. The error is
// ErrCheckName or ErrHeartbeatState, and then nothing was written.
func (v *View) CheckDone(ctx context.Context, check string) (time.Time, error) {
	if check == "" || strings.TrimSpace(check) != check || utf8.RuneCountInString(check) > 64 ||
		strings.ContainsFunc(check, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return time.Time{}, ErrCheckName
	}
	at := v.Now().Truncate(time.Second)
	for {
		base := ""
		data, err := v.Read(heartbeatState)
		switch {
		case err == nil:
			base = Hash(data)
		case !errors.Is(err, fs.ErrNotExist):
			return time.Time{}, err
		}
		if data, err = setCheck(data, check, at.Unix()); err != nil {
			return time.Time{}, err
		}
		_, err = v.write(ctx, heartbeatState, data, base, Note{Subject: heartbeatState + ": " + check + " done"})
		if _, ok := errors.AsType[*ConflictError](err); !ok {
			return at, err
		}
		// Another session was faster: start again from the file that it wrote, so that both checks are kept.
	}
}

// setCheck returns the JSON data with lastChecks[check] = at. It cuts the value into the bytes: decoding and encoding
// would reorder fields and round numbers that this program does not know.
func setCheck(data []byte, check string, at int64) ([]byte, error) {
	name, err := json.Marshal(check)
	if err != nil {
		return nil, fmt.Errorf("encode check: %w", err)
	}
	value := strconv.FormatInt(at, 10)
	if len(bytes.TrimSpace(data)) == 0 {
		return fmt.Appendf(nil, "{\n  \"lastChecks\": {\n    %s: %s\n  }\n}\n", name, value), nil
	}
	if !json.Valid(data) {
		return nil, ErrHeartbeatState
	}
	checks, ok := member(data, 0, "lastChecks")
	if !ok {
		return nil, ErrHeartbeatState
	}
	if checks.start == checks.end { // not there yet
		return insert(data, checks, `"lastChecks"`, "{"+string(name)+": "+value+"}"), nil
	}
	if data[checks.start] != '{' {
		return nil, ErrHeartbeatState
	}
	old, ok := member(data[:checks.end], checks.start, check)
	if !ok {
		return nil, ErrHeartbeatState
	}
	if old.start == old.end {
		return insert(data, old, string(name), value), nil
	}
	return slices.Concat(data[:old.start], []byte(value), data[old.end:]), nil
}

// span is a place in JSON text: the bytes of a value or, if start equals end, the place for another member of an
// object.
type span struct {
	start, end int
	blank      string // the white space between the object's brace and its first member
	empty      bool   // the object has no member
}

// member finds the last member called key of the object that begins at byte from of the valid JSON data, which is the
// one that decoders use. Without such a member, found is the place for it.
func member(data []byte, from int, key string) (found span, ok bool) {
	decoder := json.NewDecoder(bytes.NewReader(data[from:]))
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return span{}, false
	}
	brace := from + int(decoder.InputOffset())
	next := span{start: brace, end: brace, empty: true}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return span{}, false
		}
		if next.empty {
			rest := data[brace:]
			next.blank, next.empty = string(rest[:len(rest)-len(bytes.TrimLeft(rest, " \t\r\n"))]), false
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return span{}, false
		}
		next.end = from + int(decoder.InputOffset())
		next.start = next.end
		if name == key {
			found = span{start: next.end - len(value), end: next.end}
		}
	}
	if found.end > 0 {
		return found, true
	}
	return next, true
}

// insert adds a member at the place that member found, with the white space that the object's members have.
func insert(data []byte, at span, name, value string) []byte {
	text := name + ": " + value
	if !at.empty {
		text = "," + cmp.Or(at.blank, " ") + text
	}
	return slices.Concat(data[:at.start], []byte(text), data[at.end:])
}

// cutAny returns s without the first of prefixes it has.
func cutAny(s string, prefixes ...string) (rest string, ok bool) {
	for _, prefix := range prefixes {
		if rest, ok := strings.CutPrefix(s, prefix); ok {
			return rest, true
		}
	}
	return s, false
}
