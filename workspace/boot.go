package workspace

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/workspace/plain"
)

//go:embed template/*.md
var templates embed.FS

// PublicFiles are the files that groups read, besides their own logs.
var PublicFiles = []string{SoulFile, IdentityFile, AgentsFile}

// IsPublic reports whether groups read the file called name, in any spelling that a file system may fold.
func IsPublic(name string) bool {
	return slices.ContainsFunc(PublicFiles, func(f string) bool { return strings.EqualFold(f, path.Clean(name)) })
}

// BootFiles lists the files that the first boot creates (RFC-0009 §6.2, and seed 002's IDENTITY.md), in its order.
var BootFiles = []string{SoulFile, IdentityFile, UserFile, AgentsFile}

// ErrBootstrapStays is returned when BOOTSTRAP.md could not be deleted (RFC-0009 §4.3).
var ErrBootstrapStays = errors.New("BOOTSTRAP.md is still there and must be deleted by hand")

// template returns the content that Init gives the file called name, nil if it does not create it.
func template(name string) []byte {
	data, err := templates.ReadFile("template/" + name)
	if err != nil {
		return nil
	}
	return data
}

// untouched reports whether data is still what Init made of the file called name.
func untouched(name string, data []byte) bool {
	made := template(name)
	return made != nil && string(made) == string(data)
}

// WriteInitial creates one of BootFiles during the first boot (RFC-0009 §6.2) and returns the hash of its content.
// Outside the first boot, and for any other file, the error is fs.ErrNotExist.
//
// An existing file is replaced only if it is the untouched template that Init wrote, or if its hash is base: the hash
// of what the caller wrote earlier. Any other content came from another writer; it stays, and the error is a
// *ConflictError.
func (v *View) WriteInitial(ctx context.Context, name string, data []byte, base string) (hash string, err error) {
	class := classify(v.who, name)
	// SECURITY: the access check. The agent may create SOUL.md and IDENTITY.md once; after the first boot only the
	// workspace owner changes them.
	if !v.who.May(audience.Create, class) && !v.who.May(audience.Write, class) || !slices.Contains(BootFiles, name) ||
		v.State() != Bootstrap {
		return "", missing("write", name)
	}
	note := Note{Subject: name + ": first boot"}
	_, err = v.replace(ctx, name, class, data, note, func(present []byte) (bool, error) {
		if present == nil || untouched(name, present) || Hash(present) == base {
			return true, nil
		}
		return false, &ConflictError{name, Hash(present)}
	})
	if err != nil {
		return "", err
	}
	return Hash(data), nil
}

// FinishBootstrap ends the first boot (RFC-0009 §6.2, steps 2e and 3): it logs note as the first daily entry, which
// creates memory/, and deletes BOOTSTRAP.md. The deletion is attempted even if the entry could not be written or ctx
// is done, because BOOTSTRAP.md must not persist. If it fails, the failure is logged and the error is
// ErrBootstrapStays. Without a BOOTSTRAP.md the error is fs.ErrNotExist and nothing is done.
func (v *View) FinishBootstrap(ctx context.Context, note string) (Logged, error) {
	// SECURITY: the access check.
	if !v.who.May(audience.Delete, audience.Bootstrap) || !v.exists(BootstrapFile) {
		return Logged{}, missing("delete", BootstrapFile)
	}
	done, err := v.Journal().Append(ctx, "", note)
	if err != nil {
		// Not wrapped: a missing memory/ must not look to the caller like a missing BOOTSTRAP.md.
		err = fmt.Errorf("log the first boot: %v", err) //nolint:errorlint // see above
	}
	return done, errors.Join(err, v.deleteBootstrap())
}

// deleteBootstrap deletes BOOTSTRAP.md if it exists.
func (v *View) deleteBootstrap() error {
	// SECURITY: without a copy: it may hold what must not persist.
	err := plain.Remove(v.ws.root, BootstrapFile)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	err = v.fault("delete", BootstrapFile, audience.Bootstrap, err)
	// Logged as well as returned: RFC-0009 §6.2 asks for both.
	v.ws.log.Error("BOOTSTRAP.md could not be deleted after the first boot; delete it by hand", "error", err)
	return fmt.Errorf("%w: %w", ErrBootstrapStays, err)
}

// State is how far a workspace is set up (RFC-0009 §6.1).
type State int

// The states of a workspace.
const (
	Uninitialized State = iota // neither BOOTSTRAP.md nor SOUL.md: the agent refuses to operate
	Bootstrap                  // BOOTSTRAP.md is there: the first boot has not been finished
	Ready                      // SOUL.md is there
)

// String returns the state's name in lower case.
func (s State) String() string {
	switch s {
	case Bootstrap:
		return "bootstrap"
	case Ready:
		return "ready"
	default:
		return "uninitialized"
	}
}

// State reports how far the workspace is set up. A group does not learn of a BOOTSTRAP.md: for a group the workspace
// is Ready as soon as SOUL.md exists, and Uninitialized before.
func (v *View) State() State {
	switch {
	case v.exists(BootstrapFile): // never looked for in a group
		return Bootstrap
	case !v.lacks(SoulFile):
		return Ready
	default:
		return Uninitialized
	}
}

const (
	refusalDM = "This workspace is not initialized: it has neither BOOTSTRAP.md nor SOUL.md, so the agent has no " +
		"identity and must not operate. " +
		"Ask the user to run `yamo-mcp init DIR` with the workspace's folder, or to put one of them there: a SOUL.md that " +
		"says who the agent is (name, role, values, capabilities), " +
		"or a BOOTSTRAP.md with instructions for the first boot. Then try again; nothing needs to be restarted."
	refusalGroup = "This workspace is not initialized: it has no SOUL.md, so the agent has no identity and must not " +
		"operate. " +
		"Its owner has to finish setting it up, with `yamo-mcp init` or in a direct conversation. Then try again; nothing " +
		"needs to be restarted."
	refusalOdd = "This workspace is not initialized: %s is not used: %s. The agent has no identity and must not " +
		"operate. Ask the workspace owner to put a plain file there. Then try again; nothing needs to be restarted."
	unbornDM = "The first boot is not finished: there is a BOOTSTRAP.md and no SOUL.md, so the agent has no identity yet" +
		" and nothing is stored or edited. Call who_am_i, follow BOOTSTRAP.md with the user, write SOUL.md with " +
		"bootstrap_write, then call bootstrap_finish"
)

// Unborn returns what tools other than those of the first boot answer in a DM while the workspace has a BOOTSTRAP.md
// and no SOUL.md (RFC-0009 §2.1), "" otherwise.
func (v *View) Unborn() string {
	if v.State() == Bootstrap && !v.exists(SoulFile) {
		return unbornDM
	}
	return ""
}

// Refusal returns what every tool answers in an uninitialized workspace (RFC-0009 §6.1), "" in any other. A group's
// refusal does not mention BOOTSTRAP.md.
func (v *View) Refusal() string {
	if v.State() != Uninitialized {
		return ""
	}
	for _, name := range []string{BootstrapFile, SoulFile} {
		// SECURITY: of what a group may not read, RefusalOf says nothing.
		if reason := v.RefusalOf(name); reason != "" {
			return fmt.Sprintf(refusalOdd, name, reason)
		}
	}
	switch {
	case v.who.IsDM():
		return refusalDM
	default:
		return refusalGroup
	}
}
