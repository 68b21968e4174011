package prompts

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/resourceuri"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

const (
	noteChars  = 2_000 // of one file of notes
	notesChars = 8_000 // of all
)

// writeNotes shows the files of notes without a date, from which durable insights move into profiles (seed 004 §12),
// and names the profiles.
func writeNotes(out *strings.Builder, v *workspace.View) error {
	var profiles []string
	left := notesChars
	out.WriteString("\n# NOTES\n")
	for _, file := range v.Files() {
		typ, _ := grammar.TypeOf(file.Name)
		profile := typ != nil && typ.Strict
		switch {
		case profile:
			profiles = append(profiles, "- "+resourceuri.File(file.Name)+"\n")
			continue
		case typ == nil && !strings.HasPrefix(file.Name, "notes/"), dated.MatchString(file.Name):
			continue
		}
		data, err := v.Read(file.Name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile
		}
		if err != nil {
			return err
		}
		whole := []rune(strings.TrimSpace(text.Plain(strings.ToValidUTF8(string(data), "\uFFFD"))))
		shown := whole[:min(len(whole), noteChars, left)]
		left -= len(shown)
		fmt.Fprintf(out, "\n## %s\n%s\n", file.Name, string(shown))
		if len(shown) < len(whole) {
			fmt.Fprintf(out, "[cut; the whole file is %s]\n", resourceuri.File(file.Name))
		}
	}
	if left == notesChars {
		out.WriteString("(none)\n")
	}
	if len(profiles) > 0 {
		out.WriteString("\n# PROFILES\n" + strings.Join(profiles, ""))
	}
	return nil
}
