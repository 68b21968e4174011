package meshcmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/screen"
	"github.com/yamo-protocol/yamo-mcp/internal/session"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/confidence"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// match is a memory in the answers of search and get, and a line of an export.
type match struct {
	session.Memory
	Score      *float64         `json:"score,omitempty"`      // of a search
	Confidence confidence.Level `json:"confidence,omitempty"` // likewise
	Disputed   string           `json:"disputed,omitempty"`   // see session.Disputes
}

// newMatch returns h for an answer. score is nil where there was no search.
func newMatch(h record.Hit, score *float64, disputed marks) match {
	m := match{Memory: session.NewMemory(h), Score: score, Disputed: disputed[h.ID]}
	if score != nil {
		m.Confidence = confidence.Of(h.Probability)
	}
	return m
}

// marks tell of memories whose word they replaced unconfirmed, by ID.
type marks map[string]string

// disputed returns the marks of memories.
func (m *command) disputed(ctx context.Context, memory *mesh.View, hits ...record.Hit) (_ marks, err error) {
	options, err := m.Options()
	if err != nil {
		return nil, err
	}
	disputes := session.NewDisputes(options, memory)
	defer func() { err = errors.Join(err, disputes.Close()) }()
	found := marks{}
	for _, h := range hits {
		mark, err := disputes.Mark(ctx, h, maxHistory)
		if err != nil {
			// The memory is more useful without the mark than no result.
			m.notice("It is unknown what you confirmed: " + err.Error())
			return found, nil
		}
		if mark != "" {
			found[h.ID] = mark
		}
	}
	return found, nil
}

// matches is the answer of search.
type matches struct {
	Matches  []match  `json:"matches"`
	Standing []match  `json:"standing,omitempty"` // instructions and preferences that apply to the query
	Warnings []string `json:"warnings,omitempty"`
}

// newSearch returns `yamo-mcp mesh search`, with the output of RFC-0011 §9.2.
func (m *command) newSearch() *cobra.Command {
	var q mesh.SearchRequest
	query := cli.PlainText("query")
	if m.person {
		query = words
	}
	cmd := m.command(&cobra.Command{
		Use:   "search <query>",
		Short: "Search memories",
		Long: `Search memories by meaning and by words, best match first.

--filter is a condition with =, !=, <, <=, >, >=, [NOT] IN (...), BETWEEN ... AND ..., LIKE '%...%',
IS [NOT] NULL, AND, OR, NOT and parentheses over id, session_id, agent_id, memory_type,
importance_score, created_at, updated_at, access_count, last_accessed, lesson_pattern_id and
source_skill_id.`,
		Example: fmt.Sprintf(`  yamo-mcp %[1]s "boiler service"
  yamo-mcp %[1]s boiler --filter "memory_type = 'event' AND created_at >= '2026-01-31'"`, m.called("search")),
		Args: query,
	}, func(ctx context.Context, memory *mesh.View, args []string) error {
		q.Query = strings.Join(args, " ")
		found, err := memory.Search(ctx, q)
		if err != nil {
			return err
		}
		disputed, err := m.disputed(ctx, memory, found.Hits...)
		if err != nil {
			return err
		}
		warnings := warnings(found)
		answer := matches{Matches: []match{}, Warnings: warnings}
		for _, h := range found.Hits {
			answer.Matches = append(answer.Matches, newMatch(h, &h.Score, disputed))
		}
		for _, h := range found.Standing {
			answer.Standing = append(answer.Standing, newMatch(h, nil, disputed))
		}
		if !m.JSON { // in JSON they are part of the answer
			for _, w := range warnings {
				m.notice(w)
			}
		}
		short, err := m.shortener(ctx, memory)
		if err != nil {
			return err
		}
		return m.answer(answer, newForm(memory, disputed).results(found.Hits), func(s *screen.Screen) {
			showFound(s, found, disputed, short, q.MinConfidence != "")
		})
	})
	cmd.Flags().IntVar(&q.Limit, "limit", 10, fmt.Sprintf("maximum number of results, 1 to %d", mesh.MaxLimit))
	timeFlags(cmd.Flags(), &q)
	cmd.Flags().StringVar((*string)(&q.MinConfidence), "min-confidence", "",
		"minimum confidence: likely, possible or unlikely")
	cmd.Flags().StringVar(&q.Project, "project", "", "only memories of this project, such as mare or github.com/acme/mare")
	cmd.Flags().StringVar(&q.Person, "person", "", "only memories in which this person is named")
	cmd.Flags().StringVar(&q.Filter, "filter", "", "condition on the fields of memories")
	return cmd
}

// timeFlags adds the flags for the times of memories.
func timeFlags(flags *pflag.FlagSet, q *mesh.SearchRequest) {
	flags.StringVar(&q.Since, "since", "", `only memories of this time or later: 2026-01-31, "last tuesday", "in March"`)
	flags.StringVar(&q.Until, "until", "", "only memories from before this time")
	flags.StringVar(&q.AsOf, "as-of", "", "find what was current then")
}

// listing is the answer of list.
type listing struct {
	Memories []match  `json:"memories"`
	Next     string   `json:"next,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}

// newList returns `yamo-mcp mesh list`.
func (m *command) newList() *cobra.Command {
	var q mesh.SearchRequest
	var after, around string
	cmd := m.command(&cobra.Command{
		Use:   "list",
		Short: "List memories, newest first",
		Example: fmt.Sprintf(`  yamo-mcp %[1]s --since "last week" --type event
  yamo-mcp %[1]s --around mem_1763373600000_a1b2c3`, m.called("list")),
	}, func(ctx context.Context, memory *mesh.View, _ []string) (err error) {
		var found mesh.Listed
		for _, id := range []*string{&after, &around} {
			if err := m.expand(ctx, memory, id); err != nil {
				return err
			}
		}
		switch {
		case after != "" && around != "":
			return cli.Misused("--after has no effect with --around")
		case around != "":
			found, err = memory.Around(ctx, q, around)
		default:
			found, err = memory.List(ctx, q, after)
		}
		if err != nil {
			return err
		}
		disputed, err := m.disputed(ctx, memory, found.Hits...)
		if err != nil {
			return err
		}
		answer := listing{Memories: []match{}, Next: found.Next, Warnings: warnings(mesh.Found{Damaged: found.Damaged})}
		for _, h := range found.Hits {
			answer.Memories = append(answer.Memories, newMatch(h, nil, disputed))
		}
		if !m.JSON {
			for _, w := range answer.Warnings {
				m.notice(w)
			}
			if found.Next != "" {
				m.notice("More: --after " + found.Next)
			}
		}
		short, err := m.shortener(ctx, memory)
		if err != nil {
			return err
		}
		return m.answer(answer, newForm(memory, disputed).results(found.Hits), func(s *screen.Screen) {
			showList(s, found.Hits, disputed, short)
		})
	})
	flags := cmd.Flags()
	flags.IntVar(&q.Limit, "limit", m.usual(10), fmt.Sprintf("maximum number of memories, 1 to %d", mesh.MaxLimit))
	flags.StringVar(&q.Type, "type", "", "only memories of this type: "+strings.Join(record.Types, ", "))
	flags.StringSliceVar(&q.Tags, "tag", nil, "only memories with this tag; may be repeated")
	flags.StringVar(&q.Project, "project", "", "only memories of this project, such as mare or github.com/acme/mare")
	flags.StringVar(&q.Person, "person", "", "only memories in which this person is named")
	flags.StringVar(&q.SessionID, "session", "", "only memories of this session")
	timeFlags(flags, &q)
	flags.StringVar(&q.Filter, "filter", "", "condition on the fields of memories, see "+m.called("search"))
	flags.StringVar(&after, "after", "", "ID of the last memory of the page before")
	flags.StringVar(&around, "around", "", "list what was stored before and after the memory with this ID, oldest first")
	return cmd
}

// warnings describes what a search could not consider. Only the main cause is named: without a model everything is
// pending.
func warnings(found mesh.Found) []string {
	var list []string
	switch {
	case found.Off:
		list = append(list, "Searched by keywords only: the local embedding model is not installed (run `yamo-mcp setup`)")
	case found.Degraded:
		list = append(list, "Searched by keywords only: the embedding provider failed")
	case found.Pending > 0:
		list = append(list, fmt.Sprintf("%d memories are not indexed yet and were searched by keywords only", found.Pending))
	}
	for _, name := range found.Damaged {
		list = append(list,
			fmt.Sprintf("The %s memory is damaged and was searched only in part (run `yamo-mcp ledger verify`)", name))
	}
	return list
}
