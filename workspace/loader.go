package workspace

import (
	"errors"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
)

// Limits of seed 002's loader, in characters (Unicode code points).
const (
	maxFileChars  = 12_000
	maxTotalChars = 60_000
)

// TruncationMarker ends a file that the loader cut short (seed 002). It counts toward the limits: a file with its
// marker has up to 12,000 characters, and the whole text, with headings, blank lines and markers, up to 60,000.
const TruncationMarker = "\n[truncated]"

// block is one file in the system prompt.
type block struct {
	heading string
	text    string
	more    bool // the file goes on after text
}

// Startup returns the text that a session starts with: the order of RFC-0009 §2.2 with the blocks of seed 002's
// render_system_blocks.
//
//	# BOOTSTRAP     BOOTSTRAP.md, in a DM while the first boot is not finished
//	# IDENTITY      IDENTITY.md as one line (Identity.Line)
//	# SOUL          SOUL.md
//	# USER          USER.md, DM only
//	# AGENTS        AGENTS.md
//	# RECENT NOTES  the daily logs of today and yesterday as ## YYYY-MM-DD, DM only
//	# MEMORY        MEMORY.md, DM only
//
// Missing and empty files have no block. The text is "" without any block. A file that exists but cannot be read is an
// error: the sequence must not skip it silently.
func (v *View) Startup() (string, error) {
	var blocks []block
	for _, file := range v.startupFiles() {
		text, more, err := v.text(file.name, maxFileChars)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		if file.name == IdentityFile {
			text, more = ParseIdentity(text).Line(), false
		}
		if strings.TrimSpace(text) == "" {
			continue
		}
		blocks = append(blocks, block{file.heading, strings.Trim(text, "\r\n"), more})
	}
	return render(blocks), nil
}

type startupFile struct{ name, heading string }

// startupFiles returns the files of the startup sequence, in order, for the view's audience.
func (v *View) startupFiles() []startupFile {
	// SECURITY: seed 002's shared scope; v.text refuses the others again for a group.
	if !v.who.IsDM() {
		return []startupFile{{IdentityFile, "# IDENTITY"}, {SoulFile, "# SOUL"}, {AgentsFile, "# AGENTS"}}
	}
	files := []startupFile{
		{BootstrapFile, "# BOOTSTRAP"},
		{IdentityFile, "# IDENTITY"},
		{SoulFile, "# SOUL"},
		{UserFile, "# USER"},
		{AgentsFile, "# AGENTS"},
	}
	heading := "# RECENT NOTES\n"
	today, yesterday := v.Days()
	for _, date := range []string{today, yesterday} {
		name := dailyLog(audience.DM(), date)
		if v.exists(name) {
			files = append(files, startupFile{name, heading + "## " + date})
			heading = ""
		}
	}
	return append(files, startupFile{MemoryFile, "# MEMORY"})
}

// render joins blocks within the limits. If the total is too long, earlier blocks take what they need first; every
// later one keeps at least its heading and the marker, so that nothing is cut without a sign.
func render(blocks []block) string {
	const separator = "\n\n"
	marker := utf8.RuneCountInString(TruncationMarker)
	// Set aside what every block needs at least: what is left is for the blocks' texts.
	left := maxTotalChars
	for _, b := range blocks {
		left -= utf8.RuneCountInString(b.heading) + len("\n") + len(separator) + marker
	}
	var out strings.Builder
	for i, b := range blocks {
		if i > 0 {
			out.WriteString(separator)
		}
		out.WriteString(b.heading + "\n")
		allowed := min(maxFileChars, left+marker) // the block's own marker is set aside already
		shown := b.text
		if n := utf8.RuneCountInString(shown); b.more || n > allowed {
			shown = text.First(shown, allowed-marker) + TruncationMarker
		}
		out.WriteString(shown)
		left -= max(0, utf8.RuneCountInString(shown)-marker)
	}
	return out.String()
}
