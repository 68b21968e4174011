package tools

import (
	"context"
	"errors"
	"io/fs"
	"sync"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/resourceuri"
	"github.com/yamo-protocol/yamo-mcp/workspace"
)

var errBooted = fault.New("there is no BOOTSTRAP.md: the first boot is done, or has not been prepared. Begin the session with the prompt startup")

type bootFile struct {
	File string `json:"file" jsonschema:"enum=SOUL.md,enum=IDENTITY.md,enum=USER.md,enum=AGENTS.md" jsonschema_description:"SOUL.md: who you are. IDENTITY.md: the facts, as a list. USER.md: whom you serve. AGENTS.md: how you work; only if it is missing."`
	Text string `json:"text" jsonschema:"minLength=1,maxLength=60000" jsonschema_description:"The whole file, in Markdown."`
}

// maxAdvice is how much advice is enough for one go.
const maxAdvice = 20

type bootWritten struct {
	File   string   `json:"file"`
	URI    string   `json:"uri"`
	Advice []string `json:"advice" jsonschema_description:"What could be better. Correct it by writing the file again, before the first boot is finished."`
}

// BootstrapWrite is the tool bootstrap_write: it makes the files of the first boot (RFC-0009 §6.2, steps 2a to 2c). It is for
// DMs only.
func BootstrapWrite(v *workspace.View) Tool {
	var mu sync.Mutex
	written := map[string]string{} // the hash of what this tool wrote, by file: that may be corrected
	return Define(Spec{
		Name:  "bootstrap_write",
		Title: "First boot: write a file",
		Description: "At the first boot, make SOUL.md, IDENTITY.md, USER.md or AGENTS.md as BOOTSTRAP.md says and as your human agreed. " +
			"A file that your human has made is kept. Credentials are refused. Then call bootstrap_finish.",
		Idempotent: true,
	}, func(ctx context.Context, in bootFile) (bootWritten, error) {
		done := bootWritten{File: in.File, URI: resourceuri.File(in.File), Advice: []string{}}
		for _, finding := range workspace.Check(in.File, []byte(in.Text)) {
			if finding.Error {
				return bootWritten{}, fault.New("text: %s %s (%s)", in.File, finding.Message, finding.Rule)
			}
			if len(done.Advice) < maxAdvice {
				done.Advice = append(done.Advice, finding.Message+" ("+finding.Rule+")")
			}
		}
		mu.Lock()
		defer mu.Unlock()
		hash, err := v.WriteInitial(ctx, in.File, []byte(in.Text), written[in.File])
		var conflict *workspace.ConflictError
		switch {
		case errors.As(err, &conflict):
			return bootWritten{}, fault.New("file: %s is there already, with a content that is not yours; it is kept. Read %s and go on", in.File, done.URI)
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

type bootNote struct {
	Note string `json:"note,omitempty" jsonschema:"maxLength=2000,default=First boot finished." jsonschema_description:"The first entry of the log: that you are here, and what was agreed. Nothing that BOOTSTRAP.md told you in confidence."`
}

type booted struct {
	Deleted bool     `json:"deleted" jsonschema_description:"BOOTSTRAP.md is gone."`
	Log     string   `json:"log" jsonschema_description:"The log with the first entry."`
	Missing []string `json:"missing" jsonschema_description:"Files that the first boot should have made."`
	Next    string   `json:"next"`
}

// BootstrapFinish is the tool bootstrap_finish: it ends the first boot (RFC-0009 §6.2, steps 2d, 2e and 3). It is for DMs
// only.
func BootstrapFinish(v *workspace.View) Tool {
	return Define(Spec{
		Name:  "bootstrap_finish",
		Title: "First boot: finish",
		Description: "End the first boot: makes memory/ with the first entry of the log, and deletes BOOTSTRAP.md for good, without a copy. " +
			"Call it always, also when something before went wrong: BOOTSTRAP.md must not stay. SOUL.md has to be there before, or the " +
			"workspace cannot be used until your human makes one.",
		Destructive: true,
	}, func(ctx context.Context, in bootNote) (booted, error) {
		entry, err := v.FinishBootstrap(ctx, in.Note)
		switch {
		case errors.Is(err, workspace.ErrBootstrapStays):
			// The log has the reason.
			return booted{}, fault.New("BOOTSTRAP.md could not be deleted. Tell your human now, plainly: it may hold what must not persist, and they have to delete it by hand. The first boot is not finished")
		case errors.Is(err, fs.ErrNotExist):
			return booted{}, errBooted
		case err != nil:
			return booted{}, fault.New("BOOTSTRAP.md is deleted, but the first entry of the log was not written: tell your human, and try it with log_append")
		}
		done := booted{Deleted: true, Log: entry.Name, Missing: []string{}, Next: "Begin again with the prompt startup, or read " + resourceuri.Startup + "."}
		for _, name := range workspace.BootFiles {
			if _, err := v.Stat(name); err != nil && name != workspace.IdentityFile {
				done.Missing = append(done.Missing, name)
			}
		}
		if v.State() != workspace.Ready {
			done.Next = "There is no SOUL.md, so you have no identity and must not operate. Ask your human to make one in the workspace folder."
		}
		return done, nil
	})
}
