package workspace

import (
	"fmt"
	"io/fs"
	"net/url"
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

// datedName is every file of memory/ and notes/ whose name begins with a date: logs, saved sessions, flushes, topics
// and notes of a day.
var datedName = regexp.MustCompile(`^(?:memory|notes)/([0-9]{4}-[0-9]{2}-[0-9]{2})(?:-[^/]+)?\.md$`)

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
	// a, and a client may decode a URI twice. A name that names another kind of file when folded is an alias and is
	// refused.
	if folded := fold(name); folded != name && classify(a, folded) != audience.Notes {
		return audience.Unknown
	}
	return audience.Notes
}

// ignorable are the invisible characters that some file systems leave out of a comparison of names.
var ignorable = strings.NewReplacer(zeroWidthJoiner, "", zeroWidthNonJoiner, "")

const (
	zeroWidthJoiner    = "\u200d" // joins emoji, and letters of some scripts
	zeroWidthNonJoiner = "\u200c"
)

// fold returns the name as the most lenient file system or client would compare it.
func fold(name string) string {
	folded := strings.ToLower(norm.NFKC.String(ignorable.Replace(name)))
	if decoded, err := url.PathUnescape(folded); err == nil {
		folded = decoded
	}
	elements := strings.Split(folded, "/")
	for i, e := range elements {
		if e != "." && e != ".." { // which are refused as they are
			elements[i] = strings.TrimRight(e, ". ")
		}
	}
	return strings.Join(elements, "/")
}

// plainName reports whether name is a clean, relative, slash-separated path of visible characters, see nameFault.
func plainName(name string) bool { return nameFault(name) == "" }

// nameFault returns why a file called name is not read, "" if it is. Hidden elements and backslashes are refused, and
// what cannot be seen, except between letters or emoji that need it: two names that look the same must be one file.
func nameFault(name string) string {
	switch {
	case len(name) > maxName:
		return fmt.Sprintf("its path has more than %d bytes", maxName)
	case !utf8.ValidString(name):
		return "its name is not UTF-8"
	case strings.Contains(name, `\`):
		return `its name has a \`
	case !fs.ValidPath(name):
		return "its path is not clean"
	}
	runes := []rune(name)
	for i, r := range runes {
		if r == utf8.RuneError || r != ' ' && !unicode.IsGraphic(r) && !joins(runes, i) {
			return fmt.Sprintf("its name has the invisible character %U", r)
		}
	}
	elements := strings.Split(name, "/")
	if len(elements) > maxDepth {
		return fmt.Sprintf("it is more than %d folders deep", maxDepth-1)
	}
	for _, e := range elements {
		if len(e) > maxElement {
			return fmt.Sprintf("its name has more than %d bytes", maxElement)
		}
		if e[0] == '.' {
			return "it is hidden"
		}
	}
	return ""
}

// joins reports whether the character at index i joins the two next to it, neither of them ASCII: emoji, or letters of
// a script that needs that.
func joins(runes []rune, i int) bool {
	r := string(runes[i])
	visible := func(r rune) bool { return r > unicode.MaxASCII && unicode.IsGraphic(r) && !unicode.IsSpace(r) }
	return (r == zeroWidthJoiner || r == zeroWidthNonJoiner) && i > 0 && i+1 < len(runes) &&
		visible(runes[i-1]) && visible(runes[i+1])
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
