package workspace

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/workspace/plain"
)

// proseExtensions are those of files that a person may expect to be found by a search, in lower case.
var proseExtensions = []string{
	".adoc", ".markdown", ".md", ".mdown", ".mdx", ".mkd", ".org", ".rst", ".text", ".txt",
}

// unread reports what is in folder and below it and is neither read nor searched, with the reason: names that are not
// accepted, links and other irregular files, prose in another format than Markdown. Hidden files, drafts of dreaming
// and other formats are left out, which users do not expect to be read.
func (l *linter) unread(folder string) {
	entries, err := plain.List(l.root.root, folder)
	if err != nil || folder == dreamsFolder || folder == archiveFolder {
		return // of an error the callers of List have reported
	}
	for _, entry := range entries {
		name := folder + "/" + entry.Name()
		isProse := slices.Contains(proseExtensions, strings.ToLower(path.Ext(name)))
		reason := nameFault(name)
		switch {
		case strings.HasPrefix(entry.Name(), "."):
		case reason != "" && (isProse || entry.IsDir()):
			l.warn(name, 0, "RFC-0009 §5.4", "is not read or searched: %s; rename it", reason)
		case entry.IsDir():
			l.unread(name)
		case entry.Type()&fs.ModeSymlink != 0 && !isProse:
			l.warn(name, 0, "RFC-0009 §4.4", "is not read or searched: it is a symbolic link")
		case !isProse:
		case path.Ext(name) != ".md":
			l.warn(name, 0, "RFC-0009 §5.4", "is not read or searched: its name must end in .md")
		case classify(audience.DM(), name) == audience.Unknown:
			l.warn(name, 0, "RFC-0009 §5.4",
				"is not read or searched: its name can be taken for that of another file; rename it")
		case strings.Count(name, "/") > 1: // the others are checked as files of the format
			if reason := plain.Refusal(l.root.root, name); reason != "" {
				l.fail(name, 0, "RFC-0009 §4.4", "is not read: %s", reason)
			}
		}
	}
}
