package memfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var at = time.Date(2026, 2, 14, 14, 30, 22, 0, time.UTC)

// The files of the seed are valid as they are.
func TestSeedFiles(t *testing.T) {
	t.Parallel()
	tests := map[string]Matter{
		"memory/2026-02-14-api-design-review.md": {
			Date: "2026-02-14", SessionID: "sess_abc123", Source: "claude-code", Slug: "api-design-review", Type: DailyLog,
			Tags: []string{"memory/daily", "session/claude-code"},
		},
		"memory/2026-02-14-flush-143022.md": {
			Date: "2026-02-14", Type: MemoryFlush, Source: "auto-compaction", Tags: []string{"memory/flush", "memory/auto"},
		},
		"memory/2026-02-14-auth-middleware.md": {
			Date: "2026-02-14", SessionID: "sess_def456", Source: "claude-code", Type: SessionSave,
			Tags: []string{"memory/session", "session/claude-code"}, Links: []string{"[[memory/2026-02-13-setup]]"},
		},
		"MEMORY.md": {
			Type: longTerm, Scope: "long-term", Updated: "2026-02-14", Tags: []string{"memory/curated", "agent/core"},
		},
	}
	for name, want := range tests {
		data, err := os.ReadFile(filepath.Join("testdata", filepath.Base(name)))
		if err != nil {
			t.Fatal(err)
		}
		file, err := Parse(data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(want, file.Matter); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if wrong := file.Check(name); len(wrong) != 0 {
			t.Errorf("%s: %q", name, wrong)
		}
		again, err := file.Format()
		if err != nil {
			t.Fatal(err)
		}
		if back, err := Parse(again); err != nil || !cmp.Equal(back, file) {
			t.Errorf("%s does not come back: %v\n%s", name, err, again)
		}
	}
}

func TestFormat(t *testing.T) {
	t.Parallel()
	file := File{
		Matter{
			Date: "2026-02-14", SessionID: "007", Type: SessionSave, Tags: []string{"memory/session", "yes"},
			Links: []string{"[[a#b|c]]"},
		},
		"\n# x\n",
	}
	want := "---\ndate: \"2026-02-14\"\nsession_id: \"007\"\ntype: session-save\ntags:\n  - memory/session\n" +
		"  - \"yes\"\nlinks:\n  - \"[[a#b|c]]\"\n---\n\n# x\n"
	got, err := file.Format()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, strings.ReplaceAll(string(got), "'", `"`)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no front matter": "# x\n",
		"not YAML":        "---\na: [\n---\n",
		"wrong types":     "---\ntags:\n  a: b\n---\n",
		"not text":        "---\na: \xff\n---\n",
		"too long":        "---\n# " + strings.Repeat("x", maxMatter) + "\n---\n",
	} {
		if file, err := Parse([]byte(text)); err == nil || strings.ContainsAny(err.Error(), "\x1b\n") {
			t.Errorf("%s: %+v, %v", name, file, err)
		}
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	good := Matter{Date: "2026-02-14", Slug: "api-design", Type: DailyLog, Tags: []string{"memory/daily"}}
	edit := func(change func(*Matter)) Matter {
		m := good
		change(&m)
		return m
	}
	tests := []struct {
		matter Matter
		name   string
		want   string // beginnings of the sentences, by ;
	}{
		{good, "memory/2026-02-14-api-design.md", ""},
		{edit(func(m *Matter) { m.Date = "" }), "memory/2026-02-14-api-design.md", "date is missing"},
		{
			edit(func(m *Matter) { m.Date = "14.2.2026" }), "memory/2026-02-14-api-design.md",
			`date is "14.2.2026";date is 14.2.2026, but`,
		},
		{edit(func(m *Matter) { m.Date = "2026-02-13" }), "memory/2026-02-14-api-design.md", "date is 2026-02-13, but"},
		{edit(func(m *Matter) { m.Tags = nil }), "memory/2026-02-14-api-design.md", "tags are missing"},
		{
			edit(func(m *Matter) { m.Tags = []string{"a b", "/a", "a//b", "#a", "2026", "é/ü_1"} }),
			"memory/2026-02-14-api-design.md",
			`tags has "a b";tags has "/a";tags has "a//b";tags has "#a";tags has "2026"`,
		},
		{edit(func(m *Matter) { m.Type = "other" }), "memory/2026-02-14-api-design.md", `type is "other"`},
		{edit(func(m *Matter) { m.Type = MemoryFlush }), "memory/2026-02-14-api-design.md", "type is memory-flush, but"},
		{edit(func(m *Matter) { m.Slug = "" }), "memory/2026-02-14-flush-143022.md", "type is daily-log, but"},
		{edit(func(m *Matter) { m.Slug = "other-slug" }), "memory/2026-02-14-api-design.md", `slug is "other-slug"`},
		{edit(func(m *Matter) { m.Slug = "" }), "memory/2026-02-14-one.md", `slug "one" is not`},
		{edit(func(m *Matter) { m.Slug = "" }), "memory/2026-02-14-group-a.md", `slug "group-a" is not`},
		{good, "memory/api-design.md", "name is api-design.md"},
		{
			edit(func(m *Matter) { m.Links = []string{"[[a]]", "a", "[[a]] b", "[[a|b#c]]"} }),
			"memory/2026-02-14-api-design.md", `links has "a";links has "[[a]] b"`,
		},
		{Matter{Type: Curated, Tags: []string{"a"}, Updated: "x"}, "MEMORY.md", `updated is "x"`},
	}
	for _, test := range tests {
		got := File{Matter: test.matter}.Check(test.name)
		want := strings.FieldsFunc(test.want, func(r rune) bool { return r == ';' })
		ok := len(got) == len(want)
		for i := range min(len(got), len(want)) {
			ok = ok && strings.HasPrefix(got[i], want[i])
		}
		if !ok {
			t.Errorf("%s with %+v:\n%q\nwant\n%q", test.name, test.matter, got, want)
		}
	}
}

func TestSlug(t *testing.T) {
	t.Parallel()
	for topic, want := range map[string]string{
		"API design review":           "api-design-review",
		"  Über Café's façade!  ":     "uber-cafes-facade",
		"one two three four five six": "one-two-three-four-five",
		"Refactoring":                 "refactoring-143022",
		"":                            "session-143022",
		"漢字":                          "漢字-143022",
		"日本語の設計":                      "日本語の設計-143022",
		"Проверка Йода и тестов":                "проверка-йода-и-тестов",
		"인증 미들웨어":                               "인증-미들웨어",
		"प्रलेख की समीक्षा":                     "प्रलेख-की-समीक्षा",
		"ＧＲＯＵＰ chat":                            "about-group-chat",
		"🐙 !?":                                  "topic-95c7da73",
		strings.Repeat("語", 300):                strings.Repeat("語", 24) + "-143022",
		"../../etc/passwd":                      "etc-passwd",
		"group therapy":                         "about-group-therapy",
		"Group":                                 "about-group",
		"flush 123456":                          "about-flush-123456",
		strings.Repeat("x", 100) + " two":       strings.Repeat("x", 24) + "-two",
		"group one two three four five six too": "about-group-one-two-three",
	} {
		if got := Slug(topic, at); got != want || !ValidSlug(got) {
			t.Errorf("Slug(%q) = %q, want %q", topic, got, want)
		}
	}
}

func TestName(t *testing.T) {
	t.Parallel()
	for kind, want := range map[Type]string{
		DailyLog: "memory/2026-02-14-api-design.md", SessionSave: "memory/2026-02-14-api-design.md",
		MemoryFlush: "memory/2026-02-14-flush-143022.md", Curated: "MEMORY.md",
	} {
		if got := Name(kind, at, "api-design"); got != want {
			t.Errorf("%s is called %s, want %s", kind, got, want)
		}
	}
}

func TestLinks(t *testing.T) {
	t.Parallel()
	got := Links("See [[memory/2026-02-13-api-design]] and [[MEMORY#Key Decisions|decisions]], ![[a.md]],\n" +
		"[[#Here]] [[ b | c ]] [[]] [[x\ny]] [no] [[a[b]]\n```\n[[code]]\n```\n````\n```\n[[code in four]]\n````\n[[end]]")
	want := []Link{
		{Target: "memory/2026-02-13-api-design"},
		{Target: "MEMORY", Heading: "Key Decisions", Alias: "decisions"},
		{Target: "a"},
		{Heading: "Here"},
		{Target: "b", Alias: "c"},
		{Target: "end"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got[0].Name() != "memory/2026-02-13-api-design.md" || got[3].Name() != "" {
		t.Errorf("names %q, %q", got[0].Name(), got[3].Name())
	}
}

// What Format writes comes back, whatever the values are.
func FuzzRoundTrip(f *testing.F) {
	f.Add("2026-02-14", "s", "a: b", "- x", "[[a]]", "body\n---\n")
	f.Add("null", "1e3", "#c", "'q\"", "&a *b", "\r\n")
	f.Add("~", "0x1", "\t", "a\nb", "!!int 3", "")
	f.Fuzz(func(t *testing.T, date, session, source, tag, link, body string) {
		for _, s := range []string{date, session, source, tag, link, body} {
			if strings.ToValidUTF8(s, "") != s || strings.ContainsFunc(s, func(r rune) bool {
				return r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfeff
			}) && s != body {
				return // values are single lines of text
			}
		}
		file := File{Matter{Date: date, SessionID: session, Source: source, Tags: []string{tag}, Links: []string{link}}, body}
		data, err := file.Format()
		if err != nil {
			t.Fatal(err)
		}
		back, err := Parse(data)
		if err != nil {
			t.Fatalf("%v\n%s", err, data)
		}
		if diff := cmp.Diff(file, back); diff != "" {
			t.Fatalf("(-want +got):\n%s\n%s", diff, data)
		}
	})
}
