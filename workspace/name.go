package workspace

import (
	"io/fs"
	"path"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// Names of the workspace files of RFC-0009 §1 and seed 002.
const (
	SoulFile      = "SOUL.md"
	IdentityFile  = "IDENTITY.md"
	AgentsFile    = "AGENTS.md"
	ToolsFile     = "TOOLS.md"
	HeartbeatFile = "HEARTBEAT.md"
	UserFile      = "USER.md"
	MemoryFile    = "MEMORY.md"
	DreamsFile    = "DREAMS.md"
	BootstrapFile = "BOOTSTRAP.md"

	otherDreams    = "dreams.md" // as some related programs call it
	heartbeatState = "memory/heartbeat-state.json"
	memoryFolder   = "memory"
	notesFolder    = "notes"
)

// rootFiles maps the files with a fixed name to their class.
var rootFiles = map[string]audience.Class{
	SoulFile:       audience.Soul,
	IdentityFile:   audience.Identity,
	AgentsFile:     audience.Agents,
	ToolsFile:      audience.Tools,
	HeartbeatFile:  audience.Heartbeat,
	heartbeatState: audience.Heartbeat,
	UserFile:       audience.User,
	MemoryFile:     audience.Memory,
	DreamsFile:     audience.Dreams,
	otherDreams:    audience.Dreams,
	BootstrapFile:  audience.Bootstrap,
}

const (
	maxName    = 512 // bytes
	maxElement = 255 // bytes
	maxDepth   = 8
)

// logName is memory/YYYY-MM-DD.md, with -group-NAME for a group's log.
var logName = regexp.MustCompile(`^memory/([0-9]{4}-[0-9]{2}-[0-9]{2})(-group-([a-z0-9][a-z0-9_-]{0,63}))?\.md$`)

// datedName is every file of memory/ whose name begins with a date: logs, saved sessions, flushes, topics of a day.
var datedName = regexp.MustCompile(`^memory/([0-9]{4}-[0-9]{2}-[0-9]{2})(?:-[^/]+)?\.md$`)

// classify returns the class of the slash-separated, workspace-relative name as seen by a: a group's log is GroupLog
// for that group and OtherLog for everyone else. Any name that is not exactly one of the format is Unknown, which no
// audience may touch.
func classify(a audience.Audience, name string) audience.Class {
	if class, ok := rootFiles[name]; ok {
		return class
	}
	if !plainName(name) {
		return audience.Unknown
	}
	if m := logName.FindStringSubmatch(name); m != nil && validDate(m[1]) {
		switch group := m[3]; {
		case group == "":
			return audience.DailyLog
		case group == a.Group():
			return audience.GroupLog
		default:
			return audience.OtherLog
		}
	}
	if typ, _ := grammar.TypeOf(name); typ != nil {
		return audience.Profile
	}
	folder, _, nested := strings.Cut(name, "/")
	if !nested || (folder != memoryFolder && folder != notesFolder) || path.Ext(name) != ".md" {
		return audience.Unknown
	}
	// SECURITY: on a file system that folds case or Unicode forms, memory/2026-01-02-GROUP-a.md opens the log of group
	// a. A name that names another kind of file when folded is an alias and is refused.
	if folded := fold(name); folded != name && classify(a, folded) != audience.Notes {
		return audience.Unknown
	}
	return audience.Notes
}

// fold returns the name as the most lenient file system would compare it.
func fold(name string) string { return strings.ToLower(norm.NFKC.String(name)) }

// plainName reports whether name is a clean, relative, slash-separated path of printable characters in Unicode normal
// form C, without hidden elements, and without percent signs and characters that some file system reserves: a name must
// mean the same file in a URI and on every platform.
func plainName(name string) bool {
	if len(name) > maxName || !utf8.ValidString(name) || !fs.ValidPath(name) || !norm.NFC.IsNormalString(name) {
		return false
	}
	for _, r := range name {
		if r == utf8.RuneError || strings.ContainsRune(`%\:*?"<>|`, r) || (r != ' ' && !unicode.IsGraphic(r)) {
			return false
		}
	}
	elements := strings.Split(name, "/")
	if len(elements) > maxDepth {
		return false
	}
	for _, e := range elements {
		if len(e) > maxElement || e[0] == '.' || strings.TrimSpace(e) != e || strings.HasSuffix(e, ".") {
			return false
		}
	}
	return true
}

func validDate(date string) bool {
	_, err := time.Parse(time.DateOnly, date)
	return err == nil
}

// dailyLog returns the name of the log of date (YYYY-MM-DD) that a writes to (RFC-0009 §2.5).
func dailyLog(a audience.Audience, date string) string {
	if a.IsDM() {
		return memoryFolder + "/" + date + ".md"
	}
	return memoryFolder + "/" + date + "-group-" + a.Group() + ".md"
}
