package integration

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// docs/conformance.md has a row for every section of the workspace format, and what its rows name is there: each function,
// type or text in the file it links to, each test in its own.
func TestConformance(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(root, "docs", "conformance.md"))
	if err != nil {
		t.Fatal(err)
	}
	var rules []string
	tests := 0
	for line := range strings.Lines(string(data)) {
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") || strings.HasPrefix(line, "| Rule ") {
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 3 {
			t.Errorf("a row has %d cells: %s", len(cells), line)
			continue
		}
		rule := strings.TrimSpace(cells[0])
		rules = append(rules, rule)
		checkNames(t, rule, cells[1], `(?m)^(func (\([^)]*\) )?|type |var |const |\t)%s\b`)
		shown := checkNames(t, rule, cells[2], `(?m)^func %s\(`)
		if shown == 0 && !strings.Contains(cells[2], "**Missing") {
			t.Errorf("%s: no test shows it, and it is not marked as missing", rule)
		}
		tests += shown
	}
	for _, section := range []string{
		"§1 ", "§2.1 ", "§2.2 ", "§2.3 ", "§2.4 ", "§2.5 ", "§2.6 ", "§2.7 ", "§2.8 ", "§2.9 ", "§3.1 ", "§3.2 ", "§4.1 ", "§4.2 ", "§4.3 ", "§4.4 ",
		"§5.1 ", "§5.2 ", "§5.3 ", "§5.4 ", "§6.1 ", "§6.2 ", "§7 ",
		"Workspace files", "IDENTITY.md", "SOUL.md", "MEMORY.md", "USER.md", "AGENTS.md", "Transcripts", "`who_am_i`", "`what_do_i_know`", "`my_stats`", "`session_logs`", "Load flow",
		"Front matter", "`daily-log`", "`memory-flush`", "`session-save`", "`curated`", "File names", "Slugs", "Tags", "Wikilinks",
	} {
		if !slices.ContainsFunc(rules, func(rule string) bool { return strings.HasPrefix(rule, section) }) {
			t.Errorf("no row begins with %s", section)
		}
	}
	if len(rules) < 60 || tests < 100 {
		t.Errorf("only %d rows and %d tests were found", len(rules), tests)
	}
}

// checkNames checks the links of a cell, and returns how many there are. Each stands for a whole file, by the file's name, or
// for something in it that matches definition with its name.
func checkNames(t *testing.T, rule, cell, definition string) int {
	t.Helper()
	links := regexp.MustCompile(`\[([^\]]+)\]\(\.\./([^)]+)\)`).FindAllStringSubmatch(cell, -1)
	for _, link := range links {
		name, file := link[1], link[2]
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
		if err != nil {
			t.Errorf("%s: %v", rule, err)
		}
		if filepath.Base(file) != name && !regexp.MustCompile(strings.ReplaceAll(definition, "%s", regexp.QuoteMeta(name))).Match(text) {
			t.Errorf("%s: %s has no %s", rule, file, name)
		}
	}
	return len(links)
}
