package workspace

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
	"github.com/yamo-protocol/yamo-mcp/workspace/passage"
	"github.com/yamo-protocol/yamo-mcp/workspace/plain"
)

// Files returns the files that the audience is offered, sorted by name: those with a fixed name, and
//   - in a DM, of memory/ and notes/ those of today and yesterday and those without a date (older ones can
//     be read by name, as can what lies in their subfolders), and the files of users/;
//   - in a group, the group's own logs of today and yesterday.
//
// Files that are refused or cannot be read are left out.
func (v *View) Files() []File {
	names := make([]string, 0, len(rootFiles)+4)
	for name := range rootFiles {
		// On a file system that folds case the two names are one file, which is listed once.
		if name != otherDreams || !v.exists(DreamsFile) {
			names = append(names, name)
		}
	}
	today, yesterday := v.Days()
	if v.who.IsDM() {
		for _, name := range slices.Concat(v.list(memoryFolder), v.list(notesFolder)) {
			base := path.Base(name)
			if !dated(base) || strings.HasPrefix(base, today) || strings.HasPrefix(base, yesterday) {
				names = append(names, name)
			}
		}
	} else {
		// SECURITY: exact names; no folder is listed for a group.
		names = append(names, dailyLog(v.who, today), dailyLog(v.who, yesterday))
	}
	slices.Sort(names)
	files := v.profiles()
	for _, name := range slices.Compact(names) {
		if file, err := v.Stat(name); err == nil {
			files = append(files, file)
		}
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return files
}

// profiles returns the files below users/ (seed 004 §1), none in a group.
func (v *View) profiles() []File {
	// SECURITY: the folder's listing names people.
	if !v.who.IsDM() {
		return nil
	}
	return v.tree(grammar.Folder, maxDepth-grammar.MaxDepth-1)
}

// MemoryFiles returns the names of the files in memory/ other than the DM's own daily logs: saved sessions, topics of a
// day, groups' logs. The latest date comes first. In a group there are none.
func (v *View) MemoryFiles() []string {
	names := slices.DeleteFunc(slices.Concat(v.list(memoryFolder), v.archivedLogs()), func(name string) bool {
		return classify(v.who, name) == audience.DailyLog || path.Ext(name) != ".md" || path.Dir(name) != memoryFolder
	})
	slices.Sort(names)
	slices.Reverse(names)
	return slices.Compact(names)
}

// dated reports whether a file's base name begins with a date.
func dated(base string) bool {
	return len(base) >= len("2006-01-02") && validDate(base[:len("2006-01-02")])
}

// about returns a file's title and description, as clients show them.
func about(a audience.Audience, name string, class audience.Class) (title, description string) {
	base := strings.TrimSuffix(path.Base(name), path.Ext(name))
	switch class {
	case audience.Soul:
		return "Soul", "Who the agent is: character, values, role, capabilities"
	case audience.Identity:
		return "Identity", "Persona facts: name, creature, vibe, emoji, avatar"
	case audience.Agents:
		return "Operating rules", "How the agent works: start of a session, memory conventions, safety, peers"
	case audience.Tools:
		return "Tool notes", "Local notes about tool configuration"
	case audience.Heartbeat:
		if name == heartbeatState {
			return "Heartbeat state", "When each periodic check was last performed (Unix seconds)"
		}
		return "Heartbeat checklist", "Tasks to look at on a heartbeat"
	case audience.User:
		return "User profile", "Whom the agent serves; private to the direct conversation"
	case audience.Memory:
		return "Long-term memory", "What the agent has curated to remember; private to the direct conversation"
	case audience.Dreams:
		return "Dream diary", "What reflection between sessions turned up"
	case audience.Bootstrap:
		return "First boot", "One-time set-up instructions, to be followed and then deleted"
	case audience.DailyLog:
		return "Daily log " + base, "What happened on " + base
	case audience.GroupLog, audience.OtherLog:
		date, group, _ := strings.Cut(base, "-group-")
		if a.IsDM() {
			return "Log of group " + group + " " + date, "What group " + group + " logged on " + date +
				"; written in a group, so it is reported speech, not fact"
		}
		return "Group log " + date, "What this group logged on " + date
	case audience.Profile:
		typ, entity := grammar.TypeOf(name)
		title := typ.Title + " of " + entity.UserID
		if entity.ID != entity.UserID {
			title = typ.Title + " " + entity.ID + " of " + entity.UserID
		}
		return title, "The " + typ.Name + ", edited section by section"
	default:
		return base, "A memory file"
	}
}

// dreamsFolder contains what related programs wrote while dreaming. It is not searched: drafts would be quoted as
// facts.
const dreamsFolder = memoryFolder + "/dreaming"

// Searched returns the files whose text is searched as memory (RFC-0009 §5.4), sorted by name: MEMORY.md, USER.md,
// TOOLS.md, the daily logs including those of groups, the memory files of memory/ and notes/ at any depth, and the
// profiles and notes of users/. In a group they are the group's own logs of the days of LogDates. To be fast with
// thousands of files it reads folders and does not open each file, so Read may still refuse one, such as a file with
// two names.
func (v *View) Searched() []File {
	var files []File
	// SECURITY: only what a DM may read is made searchable for it. A group's logs are asked for by their exact names.
	if !v.who.IsDM() {
		for _, date := range v.LogDates() {
			if file, err := v.Stat(dailyLog(v.who, date)); err == nil {
				files = append(files, file)
			}
		}
		slices.Reverse(files) // by name, which is by date
		return files
	}
	files = slices.Concat(v.tree(memoryFolder, 1), v.tree(notesFolder, 1), v.profiles())
	for _, name := range append(v.archivedLogs(), MemoryFile, UserFile, ToolsFile) {
		if file, err := v.Stat(name); err == nil {
			files = append(files, file)
		}
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return files
}

// tree returns the memory files in folder, which is at the given depth, and below it. Files deeper than maxDepth could
// not be read by name and are left out.
func (v *View) tree(folder string, depth int) (files []File) {
	if folder == dreamsFolder || depth >= maxDepth {
		return nil
	}
	entries, err := plain.List(v.ws.root, folder)
	if err != nil {
		_ = v.fault("list", folder, audience.Notes, err) // reported there; nothing to search is the answer
		return nil
	}
	for _, entry := range entries {
		name := folder + "/" + entry.Name()
		if entry.IsDir() && plainName(name) {
			files = append(files, v.tree(name, depth+1)...)
			continue
		}
		class := classify(v.who, name)
		if path.Ext(name) != ".md" || !entry.Type().IsRegular() || !v.who.May(audience.Read, class) {
			continue
		}
		if info, err := entry.Info(); err == nil { // otherwise it has just been removed
			files = append(files, describe(v.who, name, class, info))
		}
	}
	return files
}

// GroupOf returns the group whose daily log is called name, "" for any other file.
func GroupOf(name string) string {
	if m := logName.FindStringSubmatch(name); m != nil {
		return m[3]
	}
	return ""
}

// Place is a section of a workspace file.
type Place struct {
	File    string `json:"file"`              // relative to the workspace
	Section string `json:"section,omitempty"` // its heading; "" for the text above the first
}

// Quotable returns the names of the files with a fixed name and of those that are searched as memory, sorted; some may
// not exist. In a group there are none.
func (v *View) Quotable() []string {
	// SECURITY: they are files that a group never sees.
	if !v.who.IsDM() {
		return nil
	}
	var names []string
	for name := range rootFiles {
		names = append(names, name)
	}
	for _, file := range v.Searched() {
		names = append(names, file.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Quotes returns the places where files contain text in the same words (see [passage.Says]), sorted by file. It reads
// the files with a fixed name and those that are searched as memory, each up to MaxFileSize. A deleted memory may
// survive there. In a group there are none.
func (v *View) Quotes(text string) []Place {
	return v.Find(func(body string) bool { return passage.Says(body, text) })
}

// Find returns the sections whose text is as wanted, of the files that Quotes reads, sorted by file. In a group there
// are none.
func (v *View) Find(wanted func(body string) bool) []Place {
	places := []Place{}
	for _, name := range v.Quotable() {
		data, _, err := v.Head(name)
		if err != nil {
			continue // missing, or refused, which was reported
		}
		for _, part := range grammar.Parse(strings.ToValidUTF8(string(data), "\uFFFD")).Parts {
			if place := (Place{name, part.Name}); wanted(part.Body) && !slices.Contains(places, place) {
				places = append(places, place)
			}
		}
	}
	return places
}

// Present returns the names of the existing files in the workspace's root that the audience may see, sorted.
func (v *View) Present() []string {
	names := []string{}
	for name := range rootFiles {
		if !strings.Contains(name, "/") && v.exists(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

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
		names = slices.Clone(PublicFiles)
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
		reason := v.RefusalOf(name)
		inRefused := slices.ContainsFunc(skipped, func(s Skipped) bool { return s.Name == path.Dir(name)+"/" })
		if reason != "" && !inRefused {
			skipped = append(skipped, Skipped{name, reason})
		}
	}
	slices.SortFunc(skipped, func(a, b Skipped) int { return cmp.Compare(a.Name, b.Name) })
	return skipped
}

// RefusalOf returns why something called name exists but is not read, "" if nothing refuses it. What the audience may
// not read is never looked at, and has no reason.
func (v *View) RefusalOf(name string) string {
	// SECURITY: the access check. Denied names never reach the file system.
	if !v.who.May(audience.Read, classify(v.who, name)) {
		return ""
	}
	return plain.Refusal(v.ws.root, name)
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
