package workspace

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/workspace/plain"
)

//go:embed template/*.md
var templates embed.FS

// BootFiles are the files that the first boot makes (RFC-0009 §6.2, and seed 002's IDENTITY.md), in its order.
var BootFiles = []string{SoulFile, IdentityFile, UserFile, AgentsFile}

// ErrBootstrapStays is returned when BOOTSTRAP.md could not be deleted (RFC-0009 §4.3).
var ErrBootstrapStays = errors.New("BOOTSTRAP.md is still there and must be deleted by hand")

// template is the content of the file called name as Init makes it, nil if it makes none.
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

// WriteInitial makes one of BootFiles during the first boot and returns the content's hash: after BOOTSTRAP.md has been
// deleted, and before it is there, the error is fs.ErrNotExist. A file that is there is replaced only if it is the
// template that Init wrote, or has the hash base, that of what the caller wrote before; any other was written by
// another writer and stays, with a *ConflictError.
func (v *View) WriteInitial(ctx context.Context, name string, data []byte, base string) (hash string, err error) {
	class := classify(v.who, name)
	// SECURITY: the access check. SOUL.md and IDENTITY.md are the agent's to make once; outside the first boot they
	// are its human's.
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
// makes memory/, and deletes BOOTSTRAP.md. The deletion is tried also when the entry could not be written and when ctx
// is done; that it failed is logged, and the error is ErrBootstrapStays. Without a BOOTSTRAP.md the error is
// fs.ErrNotExist and nothing is done.
func (v *View) FinishBootstrap(ctx context.Context, note string) (Logged, error) {
	// SECURITY: the access check.
	if !v.who.May(audience.Delete, audience.Bootstrap) || !v.exists(BootstrapFile) {
		return Logged{}, missing("delete", BootstrapFile)
	}
	done, err := v.Journal().Append(ctx, "", note)
	if err != nil {
		// Not wrapped: fs.ErrNotExist would mean that BOOTSTRAP.md is missing, where it may be memory/.
		err = fmt.Errorf("log the first boot: %v", err) //nolint:errorlint // see above
	}
	return done, errors.Join(err, v.deleteBootstrap())
}

// deleteBootstrap deletes BOOTSTRAP.md, if it is there.
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

// String is the state's name in lower case.
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

// State looks at the workspace's files. A group is not told of a BOOTSTRAP.md: to it a workspace is
// ready as soon as there is a SOUL.md, and uninitialized before.
func (v *View) State() State {
	switch {
	case v.exists(BootstrapFile): // never looked for in a group
		return Bootstrap
	case v.exists(SoulFile):
		return Ready
	default:
		return Uninitialized
	}
}

const (
	refusalDM = "This workspace is not initialized: it has neither BOOTSTRAP.md nor SOUL.md, so the agent has no " +
		"identity and must not operate. " +
		"Ask the user to put one of them into the workspace folder: a SOUL.md that says who the agent is (name, role, " +
		"values, capabilities), " +
		"or a BOOTSTRAP.md with instructions for the first boot. Then try again; nothing needs to be restarted."
	refusalGroup = "This workspace is not initialized: it has no SOUL.md, so the agent has no identity and must not " +
		"operate. " +
		"Its owner has to finish setting it up in a direct conversation. Then try again; nothing needs to be restarted."
)

// Refusal is what every tool answers in an uninitialized workspace (RFC-0009 §6.1), and "" in any other.
func (v *View) Refusal() string {
	switch {
	case v.State() != Uninitialized:
		return ""
	case v.who.IsDM():
		return refusalDM
	default:
		return refusalGroup
	}
}
