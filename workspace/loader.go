package workspace

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/frontmatter"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/workspace/daylog"
	"github.com/yamo-protocol/yamo-mcp/workspace/passage"
)

// Limits of seed 002's loader, in characters (Unicode code points).
const (
	maxFileChars  = 12_000
	maxTotalChars = 60_000

	// leastChars is what each file has before any has more, so that none starves another.
	leastChars = 2_000
	// maxNotes is the maximum number of files under RECENT NOTES. There may be a flush every few minutes.
	maxNotes = 12
)

// TruncationMarker ends a file that the loader cut short (seed 002). It counts toward the limits: a file with its
// marker has up to 12,000 characters, and the whole text, with headings, blank lines and markers, up to 60,000.
const TruncationMarker = "\n[truncated]"

// block is one file in the system prompt.
type block struct {
	name    string
	heading string
	rank    rank
	text    string
	more    bool // the file goes on after text
	full    int  // characters of the file, as far as it was read
}

// rank is the order in which files get more than leastChars.
type rank int

const (
	rankIdentity rank = iota // who the agent is and whom it serves
	rankMemory               // MEMORY.md
	rankLast                 // the last session's save and flush
	rankToday
	rankNotes // everything else
)

// Startup returns the text that a session starts with: the order of RFC-0009 §2.2 with the blocks of seed 002's
// render_system_blocks.
//
//	# BOOTSTRAP     BOOTSTRAP.md, in a DM while the first boot is not finished
//	# IDENTITY      IDENTITY.md as one line (Identity.Line)
//	# SOUL          SOUL.md
//	# USER          USER.md, DM only
//	# AGENTS        AGENTS.md
//	# RECENT NOTES  the daily logs of today and yesterday as ## YYYY-MM-DD (a group's are its own). In a DM also, as
//	                ## NAME, the last session's save and flush, and the other memory files and notes of both days
//	# MEMORY        MEMORY.md, DM only
//
// Of a file that is too long it has the beginning; of a log the newest entries, and of MEMORY.md the first and the
// newest sections. Missing and empty files have no block. The text is "" without any block. skipped names the files
// that are not in the text, or not as a whole, with the reason.
func (v *View) Startup() (startup string, skipped []Skipped, err error) {
	files, omitted := v.startupFiles()
	skipped = append(v.Skipped(), omitted...)
	var blocks []block
	for _, file := range files {
		b, err := v.startupBlock(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue // a refused one is among v.Skipped
		case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
			skipped = append(skipped, Skipped{file.name, "the system denies access to it"})
			continue
		case err != nil:
			return "", nil, err
		}
		if strings.TrimSpace(b.text) != "" {
			blocks = append(blocks, b)
		}
	}
	startup, cut := render(blocks)
	return startup, append(skipped, cut...), nil
}

type startupFile struct {
	name, heading string
	rank          rank
}

// startupBlock reads a file of the startup sequence.
func (v *View) startupBlock(file startupFile) (block, error) {
	limit := maxFileChars
	if keeps(file.name) != keepBeginning {
		limit = MaxFileSize / utf8.UTFMax // its newest part may be anywhere
	}
	full, more, err := v.text(file.name, limit)
	if err != nil {
		return block{}, err
	}
	switch {
	case file.name == IdentityFile:
		full, more = ParseIdentity(full).Line(), false
	case file.rank == rankLast || strings.HasPrefix(file.name, memoryFolder+"/"):
		if _, body, ok := frontmatter.Split(full); ok {
			full = body // the session wants what was said, not how it is filed
		}
	}
	full = strings.Trim(full, "\r\n")
	return block{file.name, file.heading, file.rank, full, more, utf8.RuneCountInString(full)}, nil
}

// startupFiles returns the files of the startup sequence, in order, for the view's audience, and those for which there
// are too many.
func (v *View) startupFiles() (files []startupFile, omitted []Skipped) {
	today, yesterday := v.Days()
	// SECURITY: seed 002's shared scope, and the group's own logs; v.text refuses the others again for a group.
	if !v.who.IsDM() {
		files = []startupFile{
			{IdentityFile, "# IDENTITY", rankIdentity},
			{SoulFile, "# SOUL", rankIdentity},
			{AgentsFile, "# AGENTS", rankIdentity},
		}
		return append(files, v.recent(today, yesterday, nil)...), nil
	}
	files = []startupFile{
		{BootstrapFile, "# BOOTSTRAP", rankIdentity},
		{IdentityFile, "# IDENTITY", rankIdentity},
		{SoulFile, "# SOUL", rankIdentity},
		{UserFile, "# USER", rankIdentity},
		{AgentsFile, "# AGENTS", rankIdentity},
	}
	last := v.LastSaves()
	notes := last
	for file := range v.DatedFiles(yesterday) {
		if !slices.ContainsFunc(last, func(l DatedFile) bool { return l.Name == file.Name }) {
			notes = append(notes, file)
		}
	}
	if len(notes) > maxNotes {
		for _, file := range notes[maxNotes:] {
			omitted = append(omitted, Skipped{file.Name, fmt.Sprintf("only the newest %d notes are shown", maxNotes)})
		}
		notes = notes[:maxNotes]
	}
	files = append(files, v.recent(today, yesterday, notes)...)
	for i := range files {
		if slices.ContainsFunc(last, func(l DatedFile) bool { return l.Name == files[i].name }) {
			files[i].rank = rankLast
		}
	}
	return append(files, startupFile{MemoryFile, "# MEMORY", rankMemory}), omitted
}

// recent returns the files under RECENT NOTES: the logs of today and yesterday, and notes, by day, newest first.
func (v *View) recent(today, yesterday string, notes []DatedFile) (files []startupFile) {
	type dated struct{ date, name, heading string }
	var list []dated
	for _, date := range []string{today, yesterday} {
		if name := dailyLog(v.who, date); v.exists(name) {
			list = append(list, dated{date, name, date})
		}
	}
	for _, note := range notes {
		list = append(list, dated{note.Date, note.Name, note.Name})
	}
	slices.SortStableFunc(list, func(a, b dated) int { return cmp.Compare(b.date, a.date) })
	heading := "# RECENT NOTES\n"
	for _, d := range list {
		rank := rankNotes
		if d.date == today && path.Base(d.name) == today+".md" || d.date == today && !v.who.IsDM() {
			rank = rankToday
		}
		files = append(files, startupFile{d.name, heading + "## " + d.heading, rank})
		heading = ""
	}
	return files
}

// render joins blocks within the limits, and names those that are cut. Each file has leastChars first, as far as it
// needs them; then the files get more by rank. Every block keeps its heading, and the marker if it is cut, so that
// nothing is cut without a sign.
func render(blocks []block) (startup string, cut []Skipped) {
	const separator = "\n\n"
	marker := utf8.RuneCountInString(TruncationMarker)
	// Set aside what every block needs at least: what is left is for the blocks' texts.
	left := maxTotalChars
	for _, b := range blocks {
		left -= utf8.RuneCountInString(b.heading) + len("\n") + len(separator) + marker
	}
	allowed := make([]int, len(blocks)) // characters of text, without the marker
	give := func(i, n int) {
		// The last bytes of a text that is whole may take the place of its marker.
		n = max(0, min(n-allowed[i], left))
		allowed[i] += n
		left -= n
	}
	for i, b := range blocks {
		give(i, min(b.full, leastChars))
	}
	order := make([]int, len(blocks))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(blocks[a].rank, blocks[b].rank) })
	for _, i := range order {
		most := maxFileChars - marker
		if !blocks[i].more && blocks[i].full <= maxFileChars {
			most = blocks[i].full
		}
		give(i, min(blocks[i].full, most))
	}
	var out strings.Builder
	for i, b := range blocks {
		if i > 0 {
			out.WriteString(separator)
		}
		out.WriteString(b.heading + "\n")
		if !b.more && b.full <= allowed[i]+marker && b.full <= maxFileChars {
			out.WriteString(b.text)
			continue
		}
		kept, what := shorten(b.name, b.text, allowed[i])
		out.WriteString(kept + TruncationMarker)
		size := fmt.Sprintf("%d characters", b.full)
		if b.more {
			size = "more than " + size
		}
		cut = append(cut, Skipped{b.name, fmt.Sprintf("%s; %s shown", size, what)})
	}
	return out.String(), cut
}

// kept is what is kept of a file that is too long.
type kept int

const (
	keepBeginning kept = iota
	keepEnd            // of a log: its newest entries
	keepNewest         // of MEMORY.md: its first and its newest sections
)

func keeps(name string) kept {
	switch class := classify(audience.DM(), name); class {
	case audience.Memory:
		return keepNewest
	case audience.DailyLog, audience.GroupLog, audience.OtherLog:
		return keepEnd
	default:
		return keepBeginning
	}
}

// shorten returns up to n characters of a file's text: what is most useful of a file of its kind, and how to call it.
func shorten(name, full string, n int) (short, what string) {
	switch keeps(name) {
	case keepEnd:
		return daylog.Newest(full, n), "the newest entries are"
	case keepNewest:
		return passage.Newest(full, n), "the first and the newest sections are"
	default:
		return text.First(full, n), fmt.Sprintf("the first %d are", n)
	}
}
