package workspace

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/workspace/plain"
)

// replacedFolder holds what SOUL.md and IDENTITY.md said before they were reconfigured. No session is offered it.
const replacedFolder = ".yamo/replaced"

// Errors of Reconfigure.
var (
	ErrNotIdentity = errors.New("it is one of SOUL.md, IDENTITY.md")
	ErrUnborn      = errors.New("its first boot is not finished (it has a BOOTSTRAP.md): finish it in a session, or " +
		"delete BOOTSTRAP.md")
)

// Reconfigured is what a reconfiguration came to.
type Reconfigured struct {
	Changed  bool      // false: the file said so already
	Kept     string    // the file, relative to the workspace, with what was said before; "" if there was nothing
	Findings []Finding // what could be better; none is an error
}

// InvalidFileError lists what the format forbids in a file that was to be written. Nothing was written.
type InvalidFileError struct{ Findings []Finding }

// Error is the list, a line each.
func (e *InvalidFileError) Error() string {
	lines := make([]string, len(e.Findings))
	for i, f := range e.Findings {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// Reconfigure replaces SOUL.md or IDENTITY.md, atomically: the explicit identity reconfiguration of RFC-0009 §2.1,
// which is the human's. It is for the operator's command; no View can do it, so that nothing an agent reads or is told
// in a session can change who it is. What the file said before is kept. It fails with an *InvalidFileError for what
// Lint calls an error, and with ErrCredentials.
func (w *Workspace) Reconfigure(ctx context.Context, name string, data []byte) (Reconfigured, error) {
	if name != SoulFile && name != IdentityFile {
		return Reconfigured{}, ErrNotIdentity
	}
	v := w.View(audience.DM())
	if v.State() == Bootstrap {
		return Reconfigured{}, ErrUnborn
	}
	var done Reconfigured
	var wrong []Finding
	for _, finding := range Check(name, data) {
		if finding.Error {
			wrong = append(wrong, finding)
		} else {
			done.Findings = append(done.Findings, finding)
		}
	}
	if len(wrong) > 0 {
		return Reconfigured{}, &InvalidFileError{wrong}
	}
	at := w.now().UTC().Format("20060102T150405Z")
	note := Note{Subject: name + ": reconfigure"}
	replaced, err := v.replace(ctx, name, classify(audience.DM(), name), data, note, func(present []byte) (bool, error) {
		switch {
		case present == nil:
			done.Kept = ""
			return true, nil
		case string(present) == string(data):
			return false, nil
		}
		done.Kept = fmt.Sprintf("%s/%s-%s-%s", replacedFolder, at, strings.TrimPrefix(Hash(present), "sha256:")[:8], name)
		return plain.Replace(w.root, done.Kept, present, func([]byte) (bool, error) { return true, nil })
	})
	switch {
	case err != nil:
		return Reconfigured{}, err
	case !replaced:
		return Reconfigured{Findings: done.Findings}, nil
	}
	done.Changed = true
	return done, nil
}

// What a SOUL.md has to say (RFC-0009 §2.1), and how one can tell that it does. The file is free text, so that what is
// not found is only likely to be missing.
var soulFields = []struct {
	what string
	line *regexp.Regexp // a line that says it
}{
	{
		"the agent's name",
		regexp.MustCompile(`\b(?i:you are|you're|i am|i'm|your name is|my name is|called)\s+\**\p{Lu}|` +
			`^[-*+\s]*\**(?i:name)\**:`),
	},
	{
		"the role",
		regexp.MustCompile(`(?i)\b(?:you are|you're|i am|i'm)\s[^.!?]*\b(?:an?|the)\s+\pL|` +
			`^#+ .*\b(?:identity|role|purpose|job|mission|who (?:you are|i am))\b|^[-*+\s]*\**role\**:`),
	},
	{
		"values or character",
		regexp.MustCompile(`(?i)^(?:#+ |[-*+\s]*\*\*).*` +
			`\b(?:values?|principles?|personality|character|traits?|truths?|beliefs?|vibe|tone|boundaries|manner)\b`),
	},
	{
		"capabilities",
		regexp.MustCompile(`(?i)^(?:#+ |[-*+\s]*\*\*).*` +
			`\b(?:capabilit(?:y|ies)|abilit(?:y|ies)|skills?|tools?|you can|i can)\b`),
	},
}

// soul checks SOUL.md.
func (l *linter) soul(text string) {
	if strings.TrimSpace(text) == "" {
		l.fail(SoulFile, 0, "RFC-0009 §2.1", "is empty: it has to say the agent's name, role, values and capabilities")
		return
	}
	said := make([]bool, len(soulFields))
	for line := range lines(text) {
		for i, field := range soulFields {
			said[i] = said[i] || field.line.MatchString(line)
		}
	}
	var unsaid []string
	for i, field := range soulFields {
		if !said[i] {
			unsaid = append(unsaid, field.what)
		}
	}
	if len(unsaid) > 0 {
		l.warn(SoulFile, 0, "RFC-0009 §2.1", "does not seem to say %s", strings.Join(unsaid, ", "))
	}
	l.placeholders(SoulFile, text, "RFC-0009 §2.1")
}

// identity checks IDENTITY.md, of which every field is optional but a persona has a name.
func (l *linter) identity(text string) {
	switch id := ParseIdentity(text); {
	case id == (Identity{}):
		l.warn(IdentityFile, 0, "seed 002, phase 10.1", "has no field with a value (Name, Creature, Vibe, Emoji, Avatar)")
	case id.Name == "":
		l.warn(IdentityFile, 0, "seed 002, phase 10.1", "has no Name")
	}
}

// placeholders finds gaps of a template that were not filled in.
func (l *linter) placeholders(name, body, rule string) {
	number := 0
	for line := range strings.Lines(body) {
		number++
		if gap := placeholder.FindString(line); gap != "" {
			l.warn(name, number, rule, "has a gap that is not filled in: %s", text.First(gap, 60))
		}
	}
}
