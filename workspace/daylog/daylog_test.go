package daylog_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/workspace/daylog"
	"github.com/yamo-protocol/yamo-mcp/workspace/markdown"
)

// Of a long log the newest entries remain, below the heading of their session, in no more characters than allowed.
func TestNewest(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	log.WriteString("# Memory — 2026-02-14\n\n## Session [08:00]\n")
	for i := range 400 {
		fmt.Fprintf(&log, "\nEntry %d: something of medium length happened here.\n", i)
	}
	short := daylog.Newest(log.String(), 3000)
	if !strings.HasPrefix(short, "# Memory — 2026-02-14\n\n[…]\n\n## Session [08:00]\n\nEntry ") {
		t.Errorf("the log begins %.80q", short)
	}
	if !strings.Contains(short, "Entry 399:") || strings.Contains(short, "Entry 9:") {
		t.Errorf("the log keeps the wrong entries: %.200q", short)
	}
	for n := range 400 {
		if size := utf8.RuneCountInString(daylog.Newest(log.String(), n)); size > n {
			t.Errorf("up to %d characters: got %d", n, size)
		}
	}
}

func TestEscape(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"plain\ntext":                                "plain\ntext",
		"# a\n## Session [10:00]\n   ### b":          "\\# a\n\\## Session [10:00]\n   \\### b",
		"title\n===\ntitle\n---\n- - -":              "title\n\\===\ntitle\n\\---\n\\- - -",
		"- item\n-- x\n--- y":                        "- item\n-- x\n--- y",
		"[//]: # (anchor: x v1)\n[a]: b\n[ok](x)":    "\\[//]: # (anchor: x v1)\n\\[a]: b\n[ok](x)",
		"<!-- @anchor: x v1 -->\na <!-- b":           "\\<!-- @anchor: x v1 -->\na \\<!-- b",
		"<details>":                                  "\\<details>",
		"```sh\nx\n```\n## y":                        "```sh\nx\n```\n\\## y",
		"- x\n  ```\n  open":                         "- x\n  ```\n  open\n  ```",
		"    ```\n\t~~~\n```a`b":                     "    \\```\n\t\\~~~\n\\```a`b",
		"```\nopen":                                  "```\nopen\n```",
		"~~~~\n```\n~~~\n## x":                       "~~~~\n```\n~~~\n## x\n~~~~",
		"```\n## in code\n---\n<div>\n<!-- x\n```":   "```\n## in code\n---\n<div>\n<!-- x\n```",
		"1. Run:\n    ```sh\n    # build\n\n    ```": "1. Run:\n    ```sh\n    # build\n\n    ```",
		"    ```\n# a\n    ```":                      "    \\```\n\\# a\n    \\```",
		"    ```\n    x\n# a":                        "    \\```\n    x\n\\# a",
		"Run\n\n    # a\n    ---\n\n\t<b>\n\n## c":   "Run\n\n    # a\n    ---\n\n\t<b>\n\n\\## c",
		"Run\n    # a\n    ===":                      "Run\n    \\# a\n    \\===",
		"- Run\n\n    # a\n\nx\n\n    # b":           "- Run\n\n    \\# a\n\nx\n\n    # b",
		"1) Run\n   it\n\n    # a\n\n    # b":        "1) Run\n   it\n\n    \\# a\n\n    \\# b",
		"\n    <!-- x\n    [//]: # (a)\n    ```":     "\n    \\<!-- x\n    \\[//]: # (a)\n    \\```",
		"~~~\n## a\n~~~\n<!-- b\n## c":               "~~~\n## a\n~~~\n\\<!-- b\n\\## c",
		"a\r## b\u2028## c\r\n## d":                  "a\n\\## b\n\\## c\n\\## d",
		"\x1b[31mred\x00 \u202egnp":                  "red gnp",
		"\xff":                                       "\uFFFD",
	}
	for said, want := range tests {
		if got := daylog.Escape(text.Plain(said)); got != want {
			t.Errorf("%q becomes\n%q, want\n%q", said, got, want)
		}
	}
}

// indentedCode is a line that CommonMark takes for code, or for the code of a list item.
var indentedCode = regexp.MustCompile(`(?m)^( {4}| {0,3}\t).*$`)

func FuzzEscape(f *testing.F) {
	f.Add("# a\n\x00# b\r\n```\n~~~\n## Session [10:00]")
	f.Add("<\x00!-- x\n\u202e## y\n [//]: #")
	heading := regexp.MustCompile("(?m)^[ \t]*(#|<|\\[//\\]:|=+[ \t]*$|-+[ \t]*$)|(^|[^\\\\])<!--")
	f.Fuzz(func(t *testing.T, said string) {
		got := daylog.Escape(text.Plain(said))
		outside := strings.Join(slices.Collect(markdown.Lines(got)), "\n")
		// Indented code is none either.
		if at := heading.FindStringIndex(indentedCode.ReplaceAllString(outside, "")); at != nil {
			t.Fatalf("%q has structure at %v", outside, at)
		}
		last := ""
		for line := range markdown.Lines(got + "\n\nafter") {
			last = line
		}
		if last != "after" {
			t.Fatalf("%q swallows what follows", got)
		}
	})
}
