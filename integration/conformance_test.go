package integration

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// sections are what docs/conformance.md must have a row for, by the document's heading.
var sections = map[string][]string{
	"RFC-0009": {
		"§1 ", "§2.1 ", "§2.2 ", "§2.3 ", "§2.4 ", "§2.5 ", "§2.6 ", "§2.7 ", "§2.8 ", "§2.9 ", "§3.1 ", "§3.2 ",
		"§4.1 ", "§4.2 ", "§4.3 ", "§4.4 ", "§5.1 ", "§5.2 ", "§5.3 ", "§5.4 ", "§6.1 ", "§6.2 ", "§7 ",
	},
	"RFC-0011": {
		"§1.1 ",
		"§1.2 ",
		"§1.3 ",
		"§2.1 ",
		"§2.2 ",
		"§2.3 ",
		"§2.4 ",
		"§3.1 ",
		"§3.2 ",
		"§3.3 ",
		"§3.4 ",
		"§3.5 ",
		"§4.1 init",
		"§4.1 add",
		"§4.1 get by",
		"§4.1 getAll",
		"§4.1 delete",
		"§4.1 search",
		"§4.1 reflect",
		"§4.1 distillLesson",
		"§4.1 queryLessons",
		"§4.1 insertHeritage",
		"§4.1 getMemoriesByPattern",
		"§4.1 skills",
		"§4.1 stats",
		"§4.1 clearCache",
		"§4.2 options",
		"§4.2 SearchOptions",
		"§4.2 LessonContext",
		"§4.2 HeritageChain",
		"§4.3 ",
		"§5.1 ",
		"§5.2 ",
		"§5.3 ",
		"§6.1 ",
		"§6.2 ",
		"§6.3 ",
		"§7.1 ",
		"§7.2 ",
		"§7.3 ",
		"§8.1 ",
		"§8.2 ",
		"§8.3 ",
		"§9.1 ",
		"§9.2 ",
		"§9.3 ",
		"§10 ",
		"§11 ",
		"Security: PII",
		"Security: prototype",
		"Security: metadata",
		"Security: embedding cache",
		"Security: `--filter`",
		"Security: lessons",
		"Gap: `delete`",
		"Gap: `distillLesson`",
		"Gap: `queryLessons`",
		"Gap: `insertHeritage`",
		"Gap: the command `delete`",
		"Gap: the command `reflect`",
		"Gap: the command `get`",
		"Gap: the heartbeat",
		"Gap: the migration",
	},
	"Seed 002": {
		"Workspace files",
		"IDENTITY.md",
		"SOUL.md",
		"MEMORY.md",
		"USER.md",
		"AGENTS.md",
		"Transcripts",
		"`who_am_i`",
		"`what_do_i_know`",
		"`my_stats`",
		"`session_logs`",
		"Load flow",
	},
	"Seed 004": {
		"§1 ", "§2 ", "§3 ", "§4 allowed", "§4 prohibited", "§5 ", "§6 ", "§7 ", "§8 ", "§9 ", "§10 ", "§11 ",
		"§12 ", "§13 ",
	},
	"Seed 003": {
		"Front matter",
		"`daily-log`",
		"`memory-flush`",
		"`session-save`",
		"`curated`",
		"File names",
		"Slugs",
		"Tags",
		"Wikilinks",
	},
}

// docs/conformance.md has a row for every section of the documents, and what its rows name is there: each function,
// type or text in the file it links to, each test in its own.
func TestConformance(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join(root, "docs", "conformance.md"))
	if err != nil {
		t.Fatal(err)
	}
	document, rules := "", map[string][]string{}
	for line := range strings.Lines(string(data)) {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			document, _, _ = strings.Cut(strings.TrimSpace(heading), ",")
		}
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") || strings.HasPrefix(line, "| Rule ") {
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 3 {
			t.Errorf("a row has %d cells: %s", len(cells), line)
			continue
		}
		rule := strings.TrimSpace(cells[0])
		rules[document] = append(rules[document], rule)
		where := document + " " + rule
		checkNames(t, where, cells[1], `(?m)^(func (\([^)]*\) )?|type |var |const |\t)%s\b`)
		shown := checkNames(t, where, cells[2], `(?m)^func %s\(`)
		if shown == 0 && !strings.Contains(cells[2], "**Missing") {
			t.Errorf("%s: no test shows it, and it is not marked as missing", where)
		}
	}
	for document, wanted := range sections {
		for _, section := range wanted {
			if !slices.ContainsFunc(rules[document], func(rule string) bool { return strings.HasPrefix(rule, section) }) {
				t.Errorf("%s: no row begins with %s", document, section)
			}
		}
	}
}

// checkNames checks the links of a cell, and returns how many there are. Each means a whole file, by the file's
// name, or for something in it that matches definition with its name.
func checkNames(t *testing.T, rule, cell, definition string) int {
	t.Helper()
	links := regexp.MustCompile(`\[([^\]]+)\]\(\.\./([^)]+)\)`).FindAllStringSubmatch(cell, -1)
	for _, link := range links {
		name, file := link[1], link[2]
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
		if err != nil {
			t.Errorf("%s: %v", rule, err)
		}
		if filepath.Base(file) != name &&
			!regexp.MustCompile(strings.ReplaceAll(definition, "%s", regexp.QuoteMeta(name))).Match(text) {
			t.Errorf("%s: %s has no %s", rule, file, name)
		}
	}
	return len(links)
}
