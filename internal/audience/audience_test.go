package audience

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		connection, group string
		want              string // Audience.String, "" for an error
		notice            bool
	}{
		{"dm", "", "dm", false},
		{"group", "", "group:default", false},
		{"group", "default", "group:default", false},
		{"group", "book-club", "group:book-club", false},
		{"dm", "book-club", "group:book-club", true},
		{"dm", "default", "group:default", true},
		{"", "", "group:default", true},
		{"", "book-club", "group:book-club", true},
		{"DM", "", "group:default", true},
		{"dm ", "", "group:default", true},
		{" dm", "", "group:default", true},
		{"dm\n", "", "group:default", true},
		{"dm\x00", "", "group:default", true},
		{"ｄｍ", "", "group:default", true},
		{"main", "", "group:default", true},
		{"private", "", "group:default", true},
		{"true", "", "group:default", true},
		{"group", "../private", "", false},
		{"group", "A", "", false},
		{"group", "-a", "", false},
		{"group", "a/b", "", false},
		{"group", "a b", "", false},
		{"group", "a\n", "", false},
		{"group", strings.Repeat("a", 65), "", false},
		{"dm", "../private", "", false},
	}
	for _, test := range tests {
		a, notice, err := Parse(test.connection, test.group)
		if test.want == "" {
			if err == nil || a.IsDM() {
				t.Errorf("Parse(%q, %q) = %v, want an error", test.connection, test.group, a)
			}
			continue
		}
		if err != nil {
			t.Errorf("Parse(%q, %q): %v", test.connection, test.group, err)
		}
		if a.String() != test.want {
			t.Errorf("Parse(%q, %q) = %v, want %s", test.connection, test.group, a, test.want)
		}
		if a.IsDM() != (test.want == "dm") {
			t.Errorf("Parse(%q, %q).IsDM() = %v", test.connection, test.group, a.IsDM())
		}
		if (notice != "") != test.notice {
			t.Errorf("Parse(%q, %q): notice %q, want one: %v", test.connection, test.group, notice, test.notice)
		}
		if strings.Contains(notice, "\n") {
			t.Errorf("notice of more than a line: %q", notice)
		}
	}
}

func TestZeroValueIsTheDefaultGroup(t *testing.T) {
	t.Parallel()
	named, err := Group(DefaultGroup)
	if err != nil {
		t.Fatal(err)
	}
	type told struct {
		DM                bool
		Group, Connection string
	}
	seen := func(a Audience) told { return told{a.IsDM(), a.Group(), a.Connection()} }
	zero := Audience{}
	if diff := cmp.Diff(told{false, DefaultGroup, "group"}, seen(zero)); diff != "" {
		t.Errorf("zero value (-want +got):\n%s", diff)
	}
	if zero != named {
		t.Errorf("zero value is %v, named default %v", zero, named)
	}
	if diff := cmp.Diff(told{true, "", "dm"}, seen(DM())); diff != "" {
		t.Errorf("DM (-want +got):\n%s", diff)
	}
}

// The whole matrix, written out a second time: RFC-0009 §3.1 and §3.2, seed 002's loader, the design's table.
func TestMay(t *testing.T) {
	t.Parallel()
	want := map[Class][2]string{ // DM, group: read, write, append, create, delete
		Unknown:   {"", ""},
		Soul:      {"rc", "r"},
		Identity:  {"rc", "r"},
		Agents:    {"rw", "r"},
		Tools:     {"rw", ""},
		Heartbeat: {"rw", ""},
		User:      {"rw", ""},
		Memory:    {"rw", ""},
		Dreams:    {"rw", ""},
		Notes:     {"rwd", ""},
		Bootstrap: {"rd", ""},
		DailyLog:  {"rad", ""},
		GroupLog:  {"", "ra"},
		OtherLog:  {"rd", ""},
		Profile:   {"rw", ""},
	}
	a, err := Group("a")
	if err != nil {
		t.Fatal(err)
	}
	letters := map[Operation]string{Read: "r", Write: "w", Append: "a", Create: "c", Delete: "d"}
	for class := Unknown - 1; class <= Profile+1; class++ {
		for i, who := range []Audience{DM(), a, {}} {
			for op := range Operation(64) {
				allowed := op != 0 && op < 32
				for bit, letter := range letters {
					if op&bit != 0 && !strings.Contains(want[class][min(i, 1)], letter) {
						allowed = false
					}
				}
				if got := who.May(op, class); got != allowed {
					t.Errorf("%v may %b with %v (%d): %t, want %t", who, op, class, class, got, allowed)
				}
			}
		}
	}
	if len(want) != len(classNames) {
		t.Errorf("%d classes, %d names", len(want), len(classNames))
	}
}

// No other spelling of dm, and no group's name, yields a direct conversation.
func FuzzParse(f *testing.F) {
	f.Add("dm", "")
	f.Add("Dm", "")
	f.Add("group", "a")
	f.Fuzz(func(t *testing.T, connection, group string) {
		a, _, err := Parse(connection, group)
		if a.IsDM() != (connection == "dm" && group == "" && err == nil) {
			t.Fatalf("Parse(%q, %q) = %v, %v", connection, group, a, err)
		}
	})
}
