package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/internal/session"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit/applied"
)

// newLedgerCommand returns `yamo-mcp ledger`.
func newLedgerCommand(env cli.Env) *cobra.Command {
	return cli.Group("ledger", "Check and repair the ledgers, the files that store memories",
		newLedgerVerifyCommand(env), newLedgerAcceptCommand(env), newLedgerRekeyCommand(env), newLedgerSalvageCommand(env))
}

// ledgers is the answer of `ledger verify`.
type ledgers struct {
	Intact  bool           `json:"intact"` // all of them
	Ledgers []ledgerReport `json:"ledgers"`
}

// ledgerReport is the state of one ledger.
type ledgerReport struct {
	Compartment record.Visibility `json:"compartment"`
	Intact      bool              `json:"intact"`
	Entries     int64             `json:"entries"` // before the first bad line
	Erased      int64             `json:"erased"`  // of them
	LastHash    string            `json:"last_hash"`
	TornBytes   int64             `json:"torn_bytes"`         // of an interrupted write at the end
	BadLine     int64             `json:"bad_line,omitempty"` // from 1
	Missing     string            `json:"missing,omitempty"`  // of what this machine has seen
	Error       string            `json:"error,omitempty"`
}

// newLedgerVerifyCommand returns `yamo-mcp ledger verify`. All ledgers are checked before it fails for damaged ones. An
// interrupted write at the end is not damage: it was never acknowledged.
func newLedgerVerifyCommand(env cli.Env) *cobra.Command {
	return memoryCommand(env, &cobra.Command{
		Use:   "verify",
		Short: "Check the hash chain of every ledger",
		Long: `Check every line of every ledger of a workspace: its format, its hashes, its place in the hash chain,
and that it was written with this workspace's key. Prints intact, or names the first damaged line
and exits with 1.

Lines that are missing at the end of a ledger cannot be detected from the ledger itself. So this
machine notes the end of each ledger in $XDG_STATE_HOME/yamo-mcp (~/.local/state/yamo-mcp), and
a ledger that lacks what was noted is reported. Without HOME, or on another machine, keep the last
hash and compare it.`,
	}, func(ctx context.Context, c *cli.Command, memory *mesh.View) error {
		reports, err := memory.Maintenance().Verify(ctx)
		if err != nil {
			return err
		}
		found := ledgers{Intact: true, Ledgers: []ledgerReport{}}
		var text strings.Builder
		damaged, keyless, missing := 0, 0, 0
		for _, r := range reports {
			l := ledgerReport{r.Compartment, r.Intact(), r.Entries, r.Erased, r.LastHash, r.Torn, 0, "", ""}
			switch {
			case r.Intact():
				fmt.Fprintf(&text, "%s: intact, %d entries", r.Compartment, r.Entries)
			case r.Bad != nil:
				damaged++
				l.BadLine, l.Error = r.Bad.Line, r.Bad.Err.Error()
				fmt.Fprintf(&text, "%s: damaged at line %d: %v", r.Compartment, r.Bad.Line, r.Bad.Err)
			default:
				keyless++
				l.Error = ledger.ErrNoKey.Error()
				fmt.Fprintf(&text, "%s: %d entries, whose origin cannot be checked: the key is missing", r.Compartment, r.Entries)
			}
			// The last hash of a damaged ledger would be that of an arbitrary line.
			if r.Intact() && r.Entries > 0 {
				fmt.Fprintf(&text, ", last hash %s", r.LastHash)
			}
			if r.Intact() && r.Torn > 0 {
				fmt.Fprintf(&text, "; %d bytes of an interrupted write at the end, which the next write will remove", r.Torn)
			}
			if r.Missing != nil {
				missing++
				l.Missing = r.Missing.Error()
				fmt.Fprintf(&text, "; but %s", l.Missing)
			}
			text.WriteByte('\n')
			found.Ledgers = append(found.Ledgers, l)
		}
		if memory.Heads == "" {
			text.WriteString("the ends of ledgers are not noted on this machine: neither HOME nor XDG_STATE_HOME is set\n")
		}
		found.Intact = damaged+keyless == 0
		// The answer comes before the failure: it shows which line is damaged.
		if err := c.Answer(found, text.String()); err != nil {
			return err
		}
		if keyless > 0 {
			return errors.New("the key of the ledgers is missing, and nothing can be read without it; " +
				"restore .yamo/key from a backup")
		}
		if damaged == 0 && missing > 0 {
			return fmt.Errorf("%d of %d ledgers are not as this machine last saw them; if you restored a backup, "+
				"run `yamo-mcp ledger accept`", missing, len(reports))
		}
		if keyReplaced(reports) {
			return errKeyReplaced
		}
		if damaged > 0 {
			return fmt.Errorf("%d of %d ledgers are damaged; restore them from a backup, "+
				"or keep what is intact with `yamo-mcp ledger salvage`", damaged, len(reports))
		}
		return nil
	})
}

// errKeyReplaced means that no ledger has a line that was written with the present key.
var errKeyReplaced = errors.New("no line was written with the present key: it was replaced. Restore .yamo/key from a " +
	"backup; if there is none, `yamo-mcp ledger rekey` keeps the lines, for which you vouch")

// keyReplaced reports whether the first line of each ledger that has one was written with another key. Then the key is
// wrong rather than all of them.
func keyReplaced(reports []mesh.CompartmentReport) bool {
	wrong := 0
	for _, r := range reports {
		switch {
		case r.Bad != nil && r.Bad.Line == 1 && errors.Is(r.Bad.Err, ledger.ErrMAC):
			wrong++
		case r.Bad != nil || r.Entries > 0:
			return false
		}
	}
	return wrong > 0
}

// newLedgerAcceptCommand returns `yamo-mcp ledger accept`.
func newLedgerAcceptCommand(env cli.Env) *cobra.Command {
	return memoryCommand(env, &cobra.Command{
		Use:   "accept",
		Short: "Accept the ledgers as they are, after restoring a backup",
		Long: `Note the present ends of a workspace's ledgers as the right ones. Do this after you restored a backup,
or started over: until then the server warns at its start, and ledger verify fails, because entries
are missing that this machine has seen. Damaged ledgers are not accepted.`,
	}, func(ctx context.Context, c *cli.Command, memory *mesh.View) error {
		// The record of edits has a note of its own, which moves with the workspace.
		lost, err := applied.Accept(filepath.Join(c.Config.Workspace, session.MemoryFolder))
		if err != nil {
			return err
		}
		if memory.Heads == "" && lost == 0 {
			return errors.New("the ends of ledgers are not noted: neither HOME nor XDG_STATE_HOME is set")
		}
		if memory.Heads != "" {
			if err := memory.Maintenance().Accept(ctx); err != nil {
				return err
			}
		}
		return c.Answer(map[string]bool{"accepted": true}, "accepted\n")
	})
}
