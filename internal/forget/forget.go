// Package forget finds and erases everything that is kept about a subject: memories, lessons, reflections, skills,
// logged queries, lines of workspace files and what their edit history has of them.
//
// The invariant: nothing is erased that the plan for the same subject would not list, and what cannot be erased is
// named with the reason and what the person can do. It is for direct conversations.
package forget

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
)

// Forgetter forgets in one workspace.
type Forgetter struct {
	Memory    *mesh.View
	Workspace *workspace.View // of a DM
	Editor    *edit.Editor
	Actor     string // who asks, in the record of edits
}

// Plan is what is kept about a subject.
type Plan struct {
	mesh.Mentions
	Lines    []Line   // of workspace files
	Recorded []string // files whose edit history mentions it
	Prompts  int      // prompts that hooks keep until they are answered
	Left     []string // what is not erased: where, why, and what the person can do
	Spared   []string // what Spare was called with
}

// Empty reports whether there is nothing to erase.
func (p Plan) Empty() bool {
	return len(p.Memories)+len(p.Skills)+p.Queries+len(p.Recorded)+p.Prompts == 0 &&
		!slices.ContainsFunc(p.Lines, func(l Line) bool { return l.Kept == "" })
}

// Unsure reports whether something is not erased because it may not be about the subject.
func (p Plan) Unsure() bool {
	return len(p.Doubtful)+len(p.DoubtfulSkills) > 0 || slices.ContainsFunc(p.Lines, Line.Doubtful)
}

// Summary counts what is erased, in words.
func (p Plan) Summary() string {
	lines := 0
	for _, l := range p.Lines {
		if l.Kept == "" {
			lines++
		}
	}
	return strings.Join([]string{
		text.Count(len(p.Memories), "memory", "memories"), text.Count(len(p.Skills), "skill", "skills"),
		text.Count(p.Queries+p.Prompts, "logged query", "logged queries"), text.Count(lines, "line", "lines") + " of files",
		"the edit history of " + text.Count(len(p.Recorded), "file", "files"),
	}, ", ")
}

// Plan lists what is kept about a subject and changes nothing.
func (f Forgetter) Plan(ctx context.Context, subject mesh.Subject) (p Plan, err error) {
	if p.Mentions, err = f.Memory.Mentions(ctx, subject); err != nil {
		return p, err
	}
	if p.Lines, err = f.lines(ctx, subject); err != nil {
		return p, err
	}
	if p.Recorded, err = f.Editor.Mentioning(ctx, subject.Surely); err != nil {
		return p, err
	}
	prompts, err := f.prompts(subject)
	if err != nil {
		return p, err
	}
	p.Prompts = len(prompts)
	p.Left = f.left(subject)
	if !subject.MayDoubt() {
		return p, nil
	}
	doubtful, err := f.Editor.Mentioning(ctx, subject.In)
	if err != nil {
		return p, err
	}
	for _, name := range doubtful {
		if !slices.Contains(p.Recorded, name) {
			p.Left = append(p.Left, fmt.Sprintf("the edit history of %s has what may be about %q", name, subject.Text))
		}
	}
	return p, nil
}

// Spare takes what a person wants to keep out of a plan: memories and skills by ID or its last six digits, lines by
// FILE:LINE, and everything of a file, with its edit history, by FILE. What is listed and not erased anyway, such as
// what is in doubt, can be named too. What the plan does not list is a fault.
func (p *Plan) Spare(items []string) error {
	for _, item := range items {
		// One item may remove what another one names too: equal lines, or FILE besides FILE:LINE.
		if listed := p.clone(); item == "" || !listed.spare(item) {
			return fault.New("keep: %q is not in the list; give an ID, FILE:LINE or FILE from it", item)
		}
	}
	for _, item := range items {
		if !slices.Contains(p.Spared, item) {
			p.spare(item)
			p.Spared = append(p.Spared, item)
		}
	}
	return nil
}

// clone returns a copy of the plan from which items can be spared without a change to the plan.
func (p *Plan) clone() Plan {
	c := *p
	c.Memories, c.Skills = slices.Clone(p.Memories), slices.Clone(p.Skills)
	c.Lines, c.Recorded = slices.Clone(p.Lines), slices.Clone(p.Recorded)
	c.Doubtful, c.DoubtfulSkills = slices.Clone(p.Doubtful), slices.Clone(p.DoubtfulSkills)
	c.Related = slices.Clone(p.Related)
	return c
}

// spare removes an item, and reports whether the plan had it.
func (p *Plan) spare(item string) bool {
	before := p.size()
	is := func(id string) bool {
		return id == item || shortID.MatchString(item) && strings.HasSuffix(id, "_"+item)
	}
	for _, list := range []*[]record.Hit{&p.Memories, &p.Doubtful, &p.Related} {
		*list = slices.DeleteFunc(*list, func(h record.Hit) bool { return is(h.ID) })
	}
	for _, list := range []*[]record.SkillHit{&p.Skills, &p.DoubtfulSkills} {
		*list = slices.DeleteFunc(*list, func(h record.SkillHit) bool { return is(h.ID) })
	}
	at := slices.IndexFunc(p.Lines, func(l Line) bool { return fmt.Sprintf("%s:%d", l.File, l.Line) == item })
	if at >= 0 { // and its equals, which Forget does not tell apart
		line := p.Lines[at]
		p.Lines = slices.DeleteFunc(p.Lines, func(l Line) bool { return l.File == line.File && l.Text == line.Text })
	}
	p.Lines = slices.DeleteFunc(p.Lines, func(l Line) bool { return l.File == item })
	p.Recorded = slices.DeleteFunc(p.Recorded, func(name string) bool { return name == item })
	return p.size() < before
}

// shortID is the end of an ID, by which people abbreviate it.
var shortID = regexp.MustCompile(`^[0-9a-f]{6}$`)

// size is the number of things that restrict and Spare may remove.
func (p *Plan) size() int {
	return len(p.Memories) + len(p.Skills) + len(p.Lines) + len(p.Recorded) + len(p.Doubtful) + len(p.DoubtfulSkills) +
		len(p.Related)
}

// Forget erases what Plan has listed as shown, and returns what was erased. What was stored or written since is not
// erased, and Left names it. With an error the rest is still there; calling again erases it.
func (f Forgetter) Forget(ctx context.Context, subject mesh.Subject, shown Plan) (done Plan, err error) {
	plan, err := f.Plan(ctx, subject)
	if err != nil {
		return done, err
	}
	for _, item := range shown.Spared {
		plan.spare(item)
	}
	done.Left, done.Spared = plan.Left, shown.Spared
	if !plan.restrict(shown) {
		const late = "what came after the list was made and mentions it: ask for the list again"
		done.Left = append([]string{late}, done.Left...)
	}
	if done.Mentions, err = f.Memory.Forget(ctx, subject, shown.Mentions); err != nil {
		return done, err
	}
	done.Related, done.Doubtful, done.DoubtfulSkills = plan.Related, plan.Doubtful, plan.DoubtfulSkills
	recorded := plan.Recorded
	for _, l := range plan.Lines {
		if l.Kept == "" && !slices.Contains(recorded, l.File) {
			recorded = append(recorded, l.File)
		}
	}
	if done.Lines, err = f.eraseLines(ctx, subject, shown, plan.Lines); err != nil {
		return done, err
	}
	for _, name := range recorded {
		_, err := f.Editor.Erase(ctx, name, f.Actor, "forgotten on request")
		reason, refused := fault.As(err)
		switch {
		case err == nil:
			done.Recorded = append(done.Recorded, name)
		case !refused:
			return done, err
		case slices.Contains(plan.Recorded, name):
			done.Left = append(done.Left, fmt.Sprintf("the edit history of %s: %v", name, reason))
		}
	}
	prompts, err := f.prompts(subject)
	if err != nil {
		return done, err
	}
	for _, name := range prompts {
		if err := f.remove(name); err != nil {
			return done, err
		}
		done.Prompts++
	}
	// The index of files follows, so that no search finds what is gone.
	return done, f.Memory.Refresh(ctx)
}

// restrict removes from a plan what was not shown, and reports whether there was no such thing.
func (p *Plan) restrict(shown Plan) (same bool) {
	before := p.size()
	p.Memories = slices.DeleteFunc(p.Memories, func(h record.Hit) bool {
		return !slices.ContainsFunc(shown.Memories, func(s record.Hit) bool { return s.ID == h.ID })
	})
	p.Skills = slices.DeleteFunc(p.Skills, func(h record.SkillHit) bool {
		return !slices.ContainsFunc(shown.Skills, func(s record.SkillHit) bool { return s.ID == h.ID })
	})
	p.Lines = slices.DeleteFunc(p.Lines, func(l Line) bool { return !shown.has(l) })
	p.Recorded = slices.DeleteFunc(p.Recorded, func(name string) bool {
		return !slices.Contains(shown.Recorded, name) &&
			!slices.ContainsFunc(shown.Lines, func(l Line) bool { return l.File == name })
	})
	return before == p.size()
}

// has reports whether a plan lists a line of a file, wherever in the file it is now.
func (p Plan) has(line Line) bool {
	return slices.ContainsFunc(p.Lines, func(l Line) bool { return l.File == line.File && l.Text == line.Text })
}

// hookStates are the files in which hooks keep a prompt until it is answered, and what they are writing to the log.
var hookStates = []string{".yamo/private/hooks/session-*.json", ".yamo/groups/*/hooks/session-*.json"}

// prompts returns the files of hooks that mention a subject.
func (f Forgetter) prompts(subject mesh.Subject) (names []string, err error) {
	err = f.inRoot(func(root *os.Root) error {
		for _, pattern := range hookStates {
			found, err := fs.Glob(root.FS(), pattern)
			if err != nil {
				return err
			}
			for _, name := range found {
				data, err := root.ReadFile(name)
				var state struct {
					Prompt  string
					Pending struct{ Title, Body string } // of an addition to the log that was interrupted
				}
				if err == nil && json.Unmarshal(data, &state) == nil &&
					subject.In(state.Prompt+"\n"+state.Pending.Title+"\n"+state.Pending.Body) {
					names = append(names, name)
				}
			}
		}
		return nil
	})
	return names, err
}

func (f Forgetter) remove(name string) error {
	return f.inRoot(func(root *os.Root) error {
		if err := root.Remove(name); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
}

// inRoot calls do with the workspace's folder.
func (f Forgetter) inRoot(do func(*os.Root) error) error {
	root, err := os.OpenRoot(f.Workspace.Dir())
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // nothing is buffered
	return do(root)
}

// maxLeft is the maximum number of files that left names one by one.
const maxLeft = 50

// left returns what is outside of this program's reach, or must not be changed by it.
func (f Forgetter) left(subject mesh.Subject) (list []string) {
	_ = f.inRoot(func(root *os.Root) error { // without the folder there is nothing to name
		if _, err := root.Stat(".git"); err == nil {
			list = append(list, "the history of the git repository keeps earlier text: git filter-repo removes it")
		}
		for _, pattern := range []string{".yamo/replaced/*", "memory/archive/*", ".yamo/private/imported/*.jsonl"} {
			names, _ := fs.Glob(root.FS(), pattern) // the pattern is valid
			more := 0
			for _, name := range names {
				data, err := root.ReadFile(name)
				switch {
				case err != nil || !subject.In(string(data)):
				case len(list) < maxLeft:
					advice := " mentions it: delete the file"
					if !subject.Surely(string(data)) {
						advice = " may have only the word: look before you delete it"
					}
					list = append(list, name+advice)
				default:
					more++
				}
			}
			if more > 0 {
				advice := "mention it: delete them"
				if subject.MayDoubt() {
					advice = "may mention it: look before you delete them"
				}
				list = append(list, fmt.Sprintf("%d more files of %s %s", more, path.Dir(pattern), advice))
			}
		}
		return nil
	})
	for _, file := range f.Workspace.Searched() {
		title := strings.NewReplacer("/", " ", "-", " ").Replace(strings.TrimSuffix(file.Name, path.Ext(file.Name)))
		switch {
		case subject.Surely(title):
			list = append(list, "the name of "+file.Name+" mentions it: rename or delete the file")
		case subject.In(title):
			list = append(list, "the name of "+file.Name+" may have only the word: look before you rename or delete the file")
		}
	}
	return append(list,
		"session logs of the host, backups, and what was sent to model providers: delete them where they are kept")
}
