package tools

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/resourceuri"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/workspace"
)

// errBooted answers both tools once BOOTSTRAP.md is gone, whose presence makes a boot the first (RFC-0009 §6.1).
var errBooted = fault.New("there is no BOOTSTRAP.md: the first boot is done, or was not prepared. " +
	"Begin the session with the prompt startup")

// bootFile is the arguments of bootstrap_write. Its files are those of RFC-0009 §6.2; nothing else can be written so.
type bootFile struct {
	File string `json:"file" jsonschema:"enum=SOUL.md,enum=IDENTITY.md,enum=USER.md,enum=AGENTS.md"`
	Text string `json:"text" jsonschema:"minLength=1,maxLength=60000"`
}

func (bootFile) JSONSchemaExtend(s *jsonSchema) {
	describe(s, map[string]string{
		"file": "SOUL.md: who you are. IDENTITY.md: facts, as a list. USER.md: the user. AGENTS.md: " +
			"how you work, only if missing.",
		"text": "The whole file, in Markdown.",
	})
}

// maxAdvice is the maximum number of pieces of advice in a result.
const maxAdvice = 20

// bootWritten is the result of bootstrap_write. Advice is what the check of the file found that is no error.
type bootWritten struct {
	File   string   `json:"file"`
	URI    string   `json:"uri"`
	Advice []string `json:"advice"`
}

func (bootWritten) JSONSchemaExtend(s *jsonSchema) {
	describe(s, map[string]string{
		"advice": "Possible improvements. Write the file again to apply them, before bootstrap_finish.",
	})
}

// BootstrapWrite is the tool bootstrap_write: it makes the files of the first boot (RFC-0009 §6.2, steps 2a to 2c). It
// is for DMs only. A file that the user made is a fault and stays; one that this tool wrote before can be corrected.
func BootstrapWrite(v *workspace.View) Tool {
	// Kept in memory only: after a restart every file counts as the user's, which is the safe side.
	var mu sync.Mutex
	written := map[string]string{} // the hash of what this tool wrote, by file: that may be corrected
	return Define(Spec{
		Name:  "bootstrap_write",
		Title: "First boot: write a file",
		Description: "At the first boot, write SOUL.md, IDENTITY.md, USER.md or AGENTS.md " +
			"as BOOTSTRAP.md describes and the user agreed. " +
			"Files made by the user are kept. Credentials are refused. Then call bootstrap_finish.",
		Idempotent: true,
	}, func(ctx context.Context, in bootFile) (bootWritten, error) {
		done := bootWritten{File: in.File, URI: resourceuri.File(in.File), Advice: []string{}}
		for _, finding := range workspace.Check(in.File, []byte(in.Text)) {
			if finding.Error {
				return bootWritten{}, fault.New("text: %s %s (%s)", in.File, finding.Message, finding.Rule)
			}
			// Advice never stops the write: the persona is the user's choice.
			if len(done.Advice) < maxAdvice {
				done.Advice = append(done.Advice, finding.Message+" ("+finding.Rule+")")
			}
		}
		if err := consentToBoot(ctx, v, in); err != nil {
			return bootWritten{}, err
		}
		// Held while writing: of two calls for one file the second must compare with what the first wrote.
		mu.Lock()
		defer mu.Unlock()
		hash, err := v.WriteInitial(ctx, in.File, []byte(in.Text), written[in.File])
		var conflict *workspace.ConflictError
		switch {
		case errors.As(err, &conflict):
			return bootWritten{}, fault.New("file: %s already exists with content that is not yours; it is kept. "+
				"Read %s and continue",
				in.File, done.URI)
		case errors.Is(err, fs.ErrNotExist):
			return bootWritten{}, errBooted
		case errors.Is(err, workspace.ErrCredentials):
			return bootWritten{}, fault.New("text: %v", workspace.ErrCredentials)
		case err != nil:
			return bootWritten{}, err
		}
		written[in.File] = hash
		return done, nil
	})
}

// consentToBoot asks the user for what groups will read. Where no one can be asked, the caller's word is enough, since
// otherwise there would be no first boot: a workspace that has none behind it has little that could be disclosed.
func consentToBoot(ctx context.Context, v *workspace.View, in bootFile) error {
	if !workspace.IsPublic(in.File) || v.State() != workspace.Bootstrap {
		return nil // the write is refused, or is no business of groups
	}
	whole := text.Plain(in.Text)
	if n := utf8.RuneCountInString(whole); n > maxAsked && callerOf(ctx).elicits() {
		return fault.New("text: %d characters are too many to show to the user, who must see all that groups can read "+
			"(at most %d); write a shorter %s, or ask the user to make the file", n, maxAsked, in.File)
	}
	err := confirm(ctx, consent{
		key:      questionKey("boot", in.File, whole),
		question: "Write " + in.File + "? Every group can read it, and every session follows it.\n\n" + whole,
		tick:     "Write it for all sessions",
		asked:    true,
	})
	if errors.Is(err, errCannotAsk) {
		return nil
	}
	return err
}

// bootNote is the arguments of bootstrap_finish.
type bootNote struct {
	Note    string `json:"note,omitempty" jsonschema:"maxLength=2000,default=First boot finished."`
	Abandon bool   `json:"abandon,omitempty"`
}

func (bootNote) JSONSchemaExtend(s *jsonSchema) {
	describe(s, map[string]string{
		"note":    "First log entry: that you are here, and what was agreed. Nothing confidential from BOOTSTRAP.md.",
		"abandon": "Delete BOOTSTRAP.md although SOUL.md could not be written.",
	})
}

// booted is the result of bootstrap_finish. Missing files do not keep the first boot from being finished.
type booted struct {
	Deleted bool     `json:"deleted"`
	Log     string   `json:"log"`
	Missing []string `json:"missing"`
	Next    string   `json:"next"`
}

func (booted) JSONSchemaExtend(s *jsonSchema) {
	describe(s, map[string]string{
		"deleted": "BOOTSTRAP.md was deleted.",
		"log":     "The log that has the first entry.",
		"missing": "Files that the first boot should have created.",
	})
}

// BootstrapFinish is the tool bootstrap_finish: it ends the first boot (RFC-0009 §6.2, steps 2d, 2e and 3). It is for
// DMs only. BOOTSTRAP.md may contain what must not persist, so it is deleted even if the log entry cannot be written,
// and the model learns which of the two failed.
func BootstrapFinish(v *workspace.View) Tool {
	return Define(Spec{
		Name:  "bootstrap_finish",
		Title: "First boot: finish",
		Description: "End the first boot: writes the first log entry in memory/ and permanently deletes BOOTSTRAP.md. " +
			"Call it even after a failed step: BOOTSTRAP.md must not remain. Write SOUL.md first.",
		Destructive: true,
	}, func(ctx context.Context, in bootNote) (booted, error) {
		// RFC-0009 §6.2 has the file deleted in any case, but not before anything was tried.
		if refusal := v.Unborn(); refusal != "" && !in.Abandon {
			return booted{}, fault.New("there is no SOUL.md yet, so BOOTSTRAP.md is kept: write SOUL.md with bootstrap_write " +
				"first. If that is impossible, call bootstrap_finish with abandon: true; the user then sets the workspace up " +
				"with `yamo-mcp init`")
		}
		entry, err := v.FinishBootstrap(ctx, in.Note)
		switch {
		case errors.Is(err, workspace.ErrBootstrapStays):
			// The log has the reason.
			return booted{}, fault.New("BOOTSTRAP.md could not be deleted. Tell the user now: " +
				"it may contain what must not persist, and they must delete it by hand. The first boot is not finished")
		case errors.Is(err, fs.ErrNotExist):
			return booted{}, errBooted
		case err != nil:
			return booted{}, fault.New("BOOTSTRAP.md was deleted, but the first log entry was not written: " +
				"tell the user, and try log_append")
		}
		done := booted{
			Deleted: true, Log: entry.Name, Missing: []string{},
			Next: "Begin again with the prompt startup, or read " + resourceuri.Startup + ".",
		}
		for _, name := range workspace.BootFiles {
			// IDENTITY.md comes from seed 002: without it, the first boot of RFC-0009 §6.2 is complete.
			if _, err := v.Stat(name); err != nil && name != workspace.IdentityFile {
				done.Missing = append(done.Missing, name)
			}
		}
		// The person may have declined a SOUL.md. The boot is over all the same, and the model must know that it has no
		// identity.
		if v.State() != workspace.Ready {
			done.Next = "There is no SOUL.md, so you have no identity and must not operate. " +
				"Ask the user to run `yamo-mcp init` or to create one in the workspace folder."
		}
		return done, nil
	})
}
