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

// replacedFolder contains former versions of SOUL.md and IDENTITY.md. No session can read it: no name below .yamo is
// one of the format.
const replacedFolder = ".yamo/replaced"

// Errors of Reconfigure.
var (
	ErrNotIdentity = errors.New("must be SOUL.md or IDENTITY.md")
	ErrUnborn      = errors.New("its first boot is not finished (it has a BOOTSTRAP.md): finish it in a session, or " +
		"delete BOOTSTRAP.md")
)

// Reconfigured is the result of Reconfigure.
type Reconfigured struct {
	Changed  bool      // false if the file had this content already
	Kept     string    // the file with the former content, relative to the workspace; "" if there was none
	Findings []Finding // warnings only
}

// InvalidFileError lists what the format forbids in the content of a file. Nothing was written.
type InvalidFileError struct{ Findings []Finding }

// Error returns the findings, one on each line.
func (e *InvalidFileError) Error() string {
	lines := make([]string, len(e.Findings))
	for i, f := range e.Findings {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// Reconfigure replaces SOUL.md or IDENTITY.md atomically: the explicit identity reconfiguration of RFC-0009 §2.1,
// which only the workspace owner may do. Only the operator's command calls it. It is no method of View, so that nothing
// an agent reads or is told in a session can change who it is. The former content is kept in .yamo/replaced.
//
// The error is an *InvalidFileError for what Lint reports as an error, ErrCredentials, ErrUnborn during the first boot,
// or ErrNotIdentity for another file.
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

// soulFields lists what SOUL.md must contain (RFC-0009 §2.1), with a pattern for each. The file is free text, so that
// a missing match is only a warning.
var soulFields = []struct {
	what string
	line *regexp.Regexp // matches a line about it
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
		l.fail(SoulFile, 0, "RFC-0009 §2.1", "is empty: it must state the agent's name, role, values and capabilities")
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
		l.warn(SoulFile, 0, "RFC-0009 §2.1", "does not seem to state %s", strings.Join(unsaid, ", "))
	}
	l.placeholders(SoulFile, text, "RFC-0009 §2.1")
}

// identity checks IDENTITY.md: every field is optional, but a persona should have a name (seed 002, phase 10.1).
func (l *linter) identity(text string) {
	switch id := ParseIdentity(text); {
	case id == (Identity{}):
		l.warn(IdentityFile, 0, "seed 002, phase 10.1", "has no field with a value (Name, Creature, Vibe, Emoji, Avatar)")
	case id.Name == "":
		l.warn(IdentityFile, 0, "seed 002, phase 10.1", "has no Name")
	}
}

// placeholders finds placeholders of a template that were not filled in.
func (l *linter) placeholders(name, body, rule string) {
	number := 0
	for line := range strings.Lines(body) {
		number++
		if gap := placeholder.FindString(line); gap != "" {
			l.warn(name, number, rule, "has a gap that is not filled in: %s", text.First(gap, 60))
		}
	}
}
