package redact

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseList(t *testing.T) {
	t.Parallel()
	list, err := ParseList("\ufeff# customers\r\nProject Falcon\r\n\nFalcon\n/EMP-[0-9]{6}/\nкосмос\n東京\nC++\n")
	if err != nil {
		t.Fatal(err)
	}
	r := New(nil).With(list)
	for in, want := range map[string]string{
		"PROJECT falcon begins":          "• begins",
		"a falcon, falcons and peregrin": "a •, falcons and peregrin",
		"EMP-123456 and EMP-12345":       "• and EMP-12345",
		"Космос, космоса":                "•, космоса",
		"私は東京に住む":                        "私は•に住む",
		"we write C++ here":              "we write • here",
		"Ｆａｌｃｏｎ":                         "•",
		"[REDACTED:email] falcon":        "[REDACTED:email] •",
		"nothing on the list":            "nothing on the list",
	} {
		got, _ := r.Redact(in)
		if diff := cmp.Diff(strings.ReplaceAll(want, "•", Placeholder(Listed)), got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", in, diff)
		}
		if again, more := r.Redact(got); again != got || len(more) > 0 {
			t.Errorf("redacting %q again: %q", got, again)
		}
	}
	if got, _ := r.Keeping(Email).Redact("a falcon"); got != "a "+Placeholder(Listed) {
		t.Errorf("with kept e-mail addresses: %q", got)
	}
}

func TestParseListErrors(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"ok\n/a(/": "line 2: not a regular expression", "/x*/": "line 1: the regular expression matches empty text",
		"x":                              "line 1: a single character is too short",
		strings.Repeat("word\n", 10_001): "the list has more than 10000 lines",
	} {
		if _, err := ParseList(in); err == nil || err.Error() != want {
			t.Errorf("%.20q: %v, want %s", in, err, want)
		}
	}
}
