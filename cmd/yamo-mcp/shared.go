package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/config"
	"github.com/yamo-protocol/yamo-mcp/internal/session"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/skill"
	"github.com/yamo-protocol/yamo-mcp/workspace"
)

// newSharedCommand returns `yamo-mcp shared`, about everything that groups can read.
func newSharedCommand(env cli.Env) *cobra.Command {
	list, add, remove := newSharedList(env), newSharedAdd(env), newSharedRemove(env)
	return cli.Group("shared", "List what every group can read, share a memory, or take one back", list, add, remove)
}

// publicFile is a workspace file that groups read.
type publicFile struct {
	Name     string    `json:"name"`
	Bytes    int64     `json:"bytes"`
	Modified time.Time `json:"modified"`
}

// sharedItem is a memory, lesson or skill that groups read.
type sharedItem struct {
	ID      string      `json:"id"`
	Kind    string      `json:"kind"` // memory, lesson or skill
	Since   time.Time   `json:"since"`
	Consent string      `json:"consent,omitempty"` // person, caller or operator; "" was not recorded
	Seen    []sharedHit `json:"found_by_groups"`
	Text    string      `json:"text"` // every field that groups read
}

// sharedHit is a group whose searches found the memory.
type sharedHit struct {
	Group string    `json:"group"`
	Times int32     `json:"times"`
	Last  time.Time `json:"last"`
}

// sharedAnswer is the answer of `yamo-mcp shared list`.
type sharedAnswer struct {
	Files []publicFile `json:"files"`
	Items []sharedItem `json:"items"`
}

// text formats the answer for a person, with the times of zone.
func (a sharedAnswer) text(zone *time.Location) string {
	var b strings.Builder
	b.WriteString("Every group reads these files:\n")
	for _, f := range a.Files {
		fmt.Fprintf(&b, "  %s, %d bytes, changed %s\n", f.Name, f.Bytes, f.Modified.In(zone).Format(time.DateTime))
	}
	fmt.Fprintf(&b, "and finds these memories, lessons and skills: %d\n", len(a.Items))
	for _, item := range a.Items {
		agreed := ""
		if item.Consent != "" {
			agreed = ", agreed by the " + item.Consent
		}
		fmt.Fprintf(&b, "\n%s  %s since %s%s\n", item.ID, item.Kind, item.Since.In(zone).Format(time.DateTime), agreed)
		for _, seen := range item.Seen {
			fmt.Fprintf(&b, "  found in %s: %d times, last %s\n", seen.Group, seen.Times,
				seen.Last.In(zone).Format(time.DateTime))
		}
		b.WriteString("    " + strings.ReplaceAll(strings.TrimSpace(item.Text), "\n", "\n    ") + "\n")
	}
	return b.String()
}

// newSharedList returns `yamo-mcp shared list`.
func newSharedList(env cli.Env) *cobra.Command {
	c := cli.New(env)
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List everything that every group can read, and which groups have found it",
		Long: `List the files, memories, lessons and skills that every group can read, with all their fields, how it
was agreed that groups may read them, and which groups' searches have found them. What a group has
found may have been said there: shared remove does not reach that.`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.Load(cmd); err != nil {
				return err
			}
			files, err := publicFiles(c)
			if err != nil {
				return err
			}
			// SECURITY: the operator owns the workspace, with all compartments. No client reaches this.
			return c.WithMemory(audience.DM(), func(memory *mesh.View) error {
				list, err := memory.Shared(cmd.Context())
				if err != nil {
					return err
				}
				answer := sharedAnswer{Files: files, Items: []sharedItem{}}
				for _, s := range list {
					answer.Items = append(answer.Items, newSharedItem(s))
				}
				return c.Answer(answer, answer.text(memory.Location()))
			})
		},
	}
	c.AddFlags(cmd.Flags(), config.EmbedderSettings...)
	return cmd
}

// newSharedItem describes a shared memory or skill, with everything that a group can read of it.
func newSharedItem(s mesh.Sharing) sharedItem {
	item := sharedItem{Seen: []sharedHit{}}
	if s.Skill != nil {
		item.ID, item.Kind, item.Since, item.Consent = s.Skill.ID, "skill", s.Skill.CreatedAt, s.Skill.Consent
		item.Text = s.Skill.Whole()
		return item
	}
	r := s.Memory
	item.ID, item.Kind, item.Since, item.Consent, item.Text = r.ID, "memory", r.CreatedAt, r.Consent, r.Whole()
	if r.Lesson != nil {
		item.Kind = "lesson"
	}
	for _, seen := range s.Seen {
		item.Seen = append(item.Seen, sharedHit{seen.Group, seen.Count, seen.Last})
	}
	return item
}

// publicFiles are the files of the workspace that groups read.
func publicFiles(c *cli.Command) (list []publicFile, err error) {
	options, err := c.Options()
	if err != nil {
		return nil, err
	}
	folder, err := session.OpenFolder(options, audience.DM(), options.Config.Session.AgentID)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	list = []publicFile{}
	for _, name := range workspace.PublicFiles {
		f, err := folder.View(audience.DM()).Stat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, err
		default:
			list = append(list, publicFile{name, f.Size, f.Modified})
		}
	}
	return list, nil
}

// newSharedAdd returns `yamo-mcp shared add`. What it shares is scrubbed again, because it may be older than the
// present rules.
func newSharedAdd(env cli.Env) *cobra.Command {
	return sharedChange(env, &cobra.Command{
		Use:   "add ID",
		Short: "Let every group read a memory or a skill",
		Long: `Copy a memory or a skill, with all its fields, to the shared memory, which every group reads. The
command prints what they can read from now on.`,
	}, func(ctx context.Context, memory *mesh.View, id string) (string, error) {
		if strings.HasPrefix(id, skill.Prefix+"_") {
			hit, err := memory.Skills().Get(ctx, id)
			if err != nil {
				return "", err
			}
			kept, err := memory.Skills().Ingest(ctx, mesh.SkillRequest{
				Text: hit.Text, Type: hit.Type, Source: hit.Source, Visibility: record.Shared, Consent: record.ByOperator,
			})
			return "shared as " + kept.ID + ":\n" + hit.Whole(), err
		}
		hit, err := memory.Get(ctx, id)
		if err != nil {
			return "", err
		}
		m, err := memory.Scrub(hit.Memory, record.Shared)
		if err != nil {
			return "", err
		}
		kept, err := memory.Remember(ctx, m, mesh.Intent{To: record.Shared, Consent: record.ByOperator})
		return "shared as " + kept.ID + ":\n" + m.Whole(), err
	})
}

// newSharedRemove returns `yamo-mcp shared remove`. It looks the ID up first: a private memory must not be erased by
// it.
func newSharedRemove(env cli.Env) *cobra.Command {
	return sharedChange(env, &cobra.Command{
		Use:   "remove ID",
		Short: "Take a shared memory or skill back from the groups",
		Long: `Permanently erase a shared memory or skill. A private memory with the same text stays. What groups
have read already is not reached.`,
	}, func(ctx context.Context, memory *mesh.View, id string) (string, error) {
		list, err := memory.Shared(ctx)
		if err != nil {
			return "", err
		}
		for _, s := range list {
			if newSharedItem(s).ID == id {
				return id + " is erased; no group finds it any more\n", memory.Delete(ctx, id, "no longer shared")
			}
		}
		return "", fmt.Errorf("%s is not shared; yamo-mcp shared list shows the IDs", id)
	})
}

// sharedChange completes cmd, whose argument is the ID of a memory or a skill. The answer is what perform returns.
func sharedChange(
	env cli.Env, cmd *cobra.Command, perform func(context.Context, *mesh.View, string) (string, error),
) *cobra.Command {
	c := cli.New(env)
	c.AddFlags(cmd.Flags(), config.EmbedderSettings...)
	cmd.Args = cli.Exactly("ID")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := c.Load(cmd); err != nil {
			return err
		}
		// SECURITY: only the operator shares without a dialog. No client reaches this.
		return c.WithMemory(audience.DM(), func(memory *mesh.View) error {
			said, err := perform(cmd.Context(), memory, args[0])
			if err != nil {
				return err
			}
			return c.Answer(map[string]string{"id": args[0], "result": strings.TrimSpace(said)}, said)
		})
	}
	return cmd
}
