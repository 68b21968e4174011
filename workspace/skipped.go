package workspace

import (
	"cmp"
	"io/fs"
	"path"
	"slices"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
	"github.com/yamo-protocol/yamo-mcp/workspace/plain"
)

// Skipped is a file or folder of the format that exists but is not read, or not as a whole.
type Skipped struct {
	Name   string `json:"name"` // relative to the workspace
	Reason string `json:"reason"`
}

// Skipped returns the files and folders of the format that the audience would be offered if they were not refused:
// links, files with a second name, folders with the name of a file. They are sorted by name. Of memory/ and notes/ it
// opens no file, so a hard link there is reported for the files of Files only.
func (v *View) Skipped() []Skipped {
	var names []string
	if v.who.IsDM() {
		for name := range rootFiles {
			names = append(names, name)
		}
	} else {
		// SECURITY: exact names that a group may read anyway; no folder is listed for it.
		names = []string{SoulFile, IdentityFile, AgentsFile}
	}
	today, yesterday := v.Days()
	names = append(names, dailyLog(v.who, today), dailyLog(v.who, yesterday))
	var skipped []Skipped
	if v.who.IsDM() {
		for _, folder := range []string{memoryFolder, notesFolder, grammar.Folder} {
			if reason := plain.FolderRefusal(v.ws.root, folder); reason != "" {
				skipped = append(skipped, Skipped{folder + "/", reason})
			}
		}
		names = append(names, v.listed(today, yesterday)...)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		// SECURITY: the access check. Denied names never reach the file system.
		if !v.who.May(audience.Read, classify(v.who, name)) {
			continue
		}
		reason := plain.Refusal(v.ws.root, name)
		inRefused := slices.ContainsFunc(skipped, func(s Skipped) bool { return s.Name == path.Dir(name)+"/" })
		if reason != "" && !inRefused {
			skipped = append(skipped, Skipped{name, reason})
		}
	}
	slices.SortFunc(skipped, func(a, b Skipped) int { return cmp.Compare(a.Name, b.Name) })
	return skipped
}

// listed returns the names in memory/ and notes/ that may be refused: those of the given days, and whatever the folder
// shows to be no regular file.
func (v *View) listed(days ...string) (names []string) {
	for _, folder := range []string{memoryFolder, notesFolder} {
		entries, err := plain.List(v.ws.root, folder)
		if err != nil {
			continue // reported by Skipped, or missing
		}
		for _, entry := range entries {
			base := entry.Name()
			ofDay := slices.ContainsFunc(days, func(day string) bool { return dated(base) && base[:len(day)] == day })
			if path.Ext(base) == ".md" && (ofDay || entry.Type() != fs.FileMode(0)) {
				names = append(names, folder+"/"+base)
			}
		}
	}
	return names
}

// RefusedError means that a file cannot be used because of what it is on disk. It is an fs.ErrNotExist as well, as a
// refused file is to most callers a missing one.
type RefusedError struct {
	Name   string // relative to the workspace
	Reason string
}

// Error names the file and the reason.
func (e *RefusedError) Error() string { return e.Name + " is not used: " + e.Reason }

// Is reports that the error counts as fs.ErrNotExist.
func (e *RefusedError) Is(target error) bool { return target == fs.ErrNotExist }
