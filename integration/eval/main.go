// Command eval measures retrieval on two public question sets and prints a table (docs/ranking.md).
//
//	eval -data DIR [-vectors FILE] [-dreams [-named] | -confidence]
//
// DIR holds locomo*.json (LoCoMo's own format) and beam*.json (a list of {chat, messages: [{id, role,
// content}], questions: [{question, type, evidence: [message ids]}]}). The sets are not part of the
// project. Each conversation is stored in order, turn by turn, in a fresh memory, and each question is
// asked as a client would ask it; hit@1, any@5 and any@10 are the shares of questions with a turn that answers them at
// the first place, among the first 5 and among the first 10 results. Conversations with an odd number are the half to
// tune on, the others are held back. The last row of a set is session_logs, with the same turns in transcripts of a
// host and nothing stored. With -vectors the vectors are kept in FILE, so that a second run takes seconds; it
// does not measure the time of a search, because the confidence of results is then estimated without token vectors.
//
// With -dreams it measures dreaming instead (docs/dreaming.md): the observations that LoCoMo notes about each
// conversation are the memories, and for two weeks some of its questions recur and others are asked once. With -named
// USER.md has the name of the conversation's first speaker. With -confidence it measures how well the confidence of
// results tells questions that nothing answers (docs/ranking.md).
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/index"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

func main() {
	data := flag.String("data", os.Getenv("YAMO_EVAL_DATA"), "folder of the question sets (or YAMO_EVAL_DATA)")
	vectors := flag.String("vectors", "", "file that keeps the vectors for the next run")
	dreams := flag.Bool("dreams", false, "measure what sweeps promote, instead of the ranking")
	named := flag.Bool("named", false, "with -dreams: the first speaker of a conversation is the user of USER.md")
	sure := flag.Bool("confidence", false, "measure the confidence of results, instead of the ranking")
	flag.Parse()
	var instead measure
	if *dreams {
		instead = func(ctx context.Context, embedder index.Embedder, dir string) error {
			return measureDreams(ctx, embedder, dir, *named)
		}
	}
	if *sure {
		instead = measureConfidence
	}
	if err := run(context.Background(), *data, *vectors, instead); err != nil {
		fmt.Fprintln(os.Stderr, "eval:", err)
		os.Exit(1)
	}
}

// dialog is one memory's worth of turns, and what is asked of it.
type dialog struct {
	turns     []turn
	questions []question
	speakers  [2]string // of LoCoMo
}

type turn struct{ id, session, text, role string }

type question struct {
	text     string
	kind     string // "" for none
	category int    // of LoCoMo
	evidence []string
}

// measure measures something else than the ranking.
type measure func(ctx context.Context, embedder index.Embedder, dir string) error

// run measures what instead does, nil for the ranking.
func run(ctx context.Context, dir, vectors string, instead measure) (err error) {
	sets := []struct {
		name, pattern string
		read          func([]byte) ([]dialog, error)
	}{{"LoCoMo", "locomo*.json", readLoCoMo}, {"BEAM", "beam*.json", readBEAM}}
	local := embed.NewLocal(embed.Options{})
	defer func() { _ = local.Close() }()
	var embedder index.Embedder = local
	if vectors != "" {
		kept, openErr := openKept(local, vectors)
		if openErr != nil {
			return openErr
		}
		defer func() { err = errors.Join(err, kept.save()) }()
		embedder = kept
	}
	if instead != nil {
		return instead(ctx, embedder, dir)
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "set\tquestions\thit@1\tany@5\tany@10\tsession hit@1\tany@5\tms a search")
	for _, set := range sets {
		files, err := filepath.Glob(filepath.Join(dir, set.pattern))
		if err != nil || len(files) == 0 {
			return fmt.Errorf("no %s in %q: give the folder with -data or YAMO_EVAL_DATA", set.pattern, dir)
		}
		var score, tuned, held, logs, logsTuned, logsHeld tally
		for _, file := range files {
			raw, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			conversations, err := set.read(raw)
			if err != nil {
				return fmt.Errorf("%s: %w", filepath.Base(file), err)
			}
			for i, c := range conversations {
				fmt.Fprintf(os.Stderr, "%s %d of %d: %d turns, %d questions\n", set.name, i+1, len(conversations), len(c.turns),
					len(c.questions))
				half, logsHalf := &tuned, &logsTuned
				if i%2 == 1 {
					half, logsHalf = &held, &logsHeld
				}
				if err := conversationOf(ctx, embedder, c, &score, half); err != nil {
					return err
				}
				if err := transcriptOf(ctx, embedder, c, &logs, logsHalf); err != nil {
					return err
				}
			}
		}
		score.print(table, set.name)
		tuned.kinds, held.kinds = nil, nil
		tuned.print(table, "  odd conversations")
		held.print(table, "  even conversations")
		logs.kinds, logsTuned.kinds, logsHeld.kinds = nil, nil, nil
		logs.print(table, "  session_logs, of transcripts")
		logsTuned.print(table, "    odd conversations")
		logsHeld.print(table, "    even conversations")
	}
	return table.Flush()
}

// tally counts the questions whose evidence was found.
type tally struct {
	questions, hit1, any5, any10, session1, session5 int
	searching                                        time.Duration
	kinds                                            map[string]*tally // by question.kind
}

// print adds a row, and one for each kind of question.
func (t *tally) print(table *tabwriter.Writer, name string) {
	if t.questions == 0 {
		return
	}
	share := func(n int) string { return fmt.Sprintf("%.3f", float64(n)/float64(t.questions)) }
	fmt.Fprintf(table, "%s\t%d\t%s\t%s\t%s\t%s\t%s\t%.1f\n", name, t.questions,
		share(t.hit1), share(t.any5), share(t.any10), share(t.session1), share(t.session5),
		float64(t.searching.Microseconds())/1000/float64(t.questions))
	for _, kind := range slices.Sorted(maps.Keys(t.kinds)) {
		t.kinds[kind].print(table, "  "+kind)
	}
}

// count counts a question: what was found, as turns and as sessions, and what was wanted of each.
func (t *tally) count(ids, sessions, evidence, wanted []string, searching time.Duration) {
	t.questions++
	t.searching += searching
	t.hit1 += within(ids, evidence, 1)
	t.any5 += within(ids, evidence, 5)
	t.any10 += within(ids, evidence, 10)
	t.session1 += within(sessions, wanted, 1)
	t.session5 += within(sessions, wanted, 5)
}

// kind is the tally of one kind of question.
func (t *tally) kind(name string) *tally {
	if t.kinds == nil {
		t.kinds = map[string]*tally{}
	}
	if t.kinds[name] == nil {
		t.kinds[name] = new(tally)
	}
	return t.kinds[name]
}

// stored returns a memory with each turn of a conversation, the turns by the IDs of their memories, and what ends it.
func stored(
	ctx context.Context, embedder index.Embedder, c dialog,
) (view *mesh.View, byID map[string]turn, end func(), err error) {
	dir, err := os.MkdirTemp("", "yamo-eval-")
	if err != nil {
		return nil, nil, nil, err
	}
	view = mesh.Open(mesh.Options{
		Dir:      filepath.Join(dir, ".yamo"),
		Audience: audience.DM(),
		AgentID:  "eval",
		Embedder: embedder,
		Logger:   slog.New(slog.DiscardHandler),
	})
	end = func() { _, _ = view.Close(ctx), os.RemoveAll(dir) }
	byID = map[string]turn{}
	for _, turn := range c.turns {
		stored, err := view.Store(ctx, record.Memory{Content: turn.text, SessionID: turn.session, Source: turn.role}, "")
		if err != nil {
			end()
			return nil, nil, nil, fmt.Errorf("turn %s: %w", turn.id, err)
		}
		byID[stored.ID] = turn
	}
	for { // until everything has its vector
		found, err := view.Search(ctx, mesh.SearchRequest{Query: "ready?"})
		if err == nil && found.Off {
			err = embed.ErrNoAssets
		}
		if err != nil {
			end()
			return nil, nil, nil, err
		}
		if found.Pending == 0 {
			return view, byID, end, nil
		}
	}
}

// conversationOf asks the questions of a conversation, and counts the answers in each of the tallies.
func conversationOf(ctx context.Context, embedder index.Embedder, c dialog, into ...*tally) error {
	view, byID, end, err := stored(ctx, embedder, c)
	if err != nil {
		return err
	}
	defer end()
	sessions := map[string]string{}
	for _, turn := range c.turns {
		sessions[turn.id] = turn.session
	}
	for _, q := range c.questions {
		start := time.Now()
		found, err := view.Search(ctx, mesh.SearchRequest{Query: q.text, Limit: 50})
		if err != nil {
			return err
		}
		searching := time.Since(start)
		var ids, inSessions []string
		for _, hit := range found.Hits {
			ids = append(ids, byID[hit.ID].id)
			if s := byID[hit.ID].session; !slices.Contains(inSessions, s) {
				inSessions = append(inSessions, s)
			}
		}
		var wanted []string
		for _, id := range q.evidence {
			wanted = append(wanted, sessions[id])
		}
		tallies := slices.Clone(into)
		if q.kind != "" {
			for _, t := range into {
				tallies = append(tallies, t.kind(q.kind))
			}
		}
		for _, t := range tallies {
			t.count(ids, inSessions, q.evidence, wanted, searching)
		}
	}
	return nil
}

// within is 1 if one of wanted is among the first k of found.
func within(found, wanted []string, k int) int {
	for _, id := range found[:min(k, len(found))] {
		if slices.Contains(wanted, id) {
			return 1
		}
	}
	return 0
}

// readLoCoMo reads conversations of speakers: a turn is "speaker: text", with the caption of its image.
func readLoCoMo(raw []byte) ([]dialog, error) {
	var samples []struct {
		Conversation map[string]json.RawMessage
		QA           []struct {
			Question string
			Category int
			Evidence []string
		}
	}
	if err := json.Unmarshal(raw, &samples); err != nil {
		return nil, err
	}
	var all []dialog
	for _, sample := range samples {
		var c dialog
		for i, field := range []string{"speaker_a", "speaker_b"} {
			if err := json.Unmarshal(sample.Conversation[field], &c.speakers[i]); err != nil {
				return nil, fmt.Errorf("%s: %w", field, err)
			}
		}
		known := map[string]bool{}
		for n := 1; ; n++ {
			session := fmt.Sprintf("session_%d", n)
			part, ok := sample.Conversation[session]
			if !ok {
				if _, dated := sample.Conversation[session+"_date_time"]; dated {
					continue
				}
				break
			}
			var turns []struct {
				Speaker, Text string
				ID            string `json:"dia_id"`
				Caption       string `json:"blip_caption"`
			}
			if err := json.Unmarshal(part, &turns); err != nil {
				return nil, err
			}
			for _, t := range turns {
				text := t.Speaker + ": " + t.Text
				if t.Caption != "" {
					text += " [shares " + t.Caption + "]"
				}
				known[t.ID] = true
				c.turns = append(c.turns, turn{t.ID, session, text, ""})
			}
		}
		for _, qa := range sample.QA {
			q := question{text: qa.Question, category: qa.Category}
			for _, e := range qa.Evidence {
				for _, id := range strings.FieldsFunc(e, func(r rune) bool { return r == ';' || r == ',' || r == ' ' }) {
					if known[id] {
						q.evidence = append(q.evidence, id)
					}
				}
			}
			if len(q.evidence) > 0 {
				c.questions = append(c.questions, q)
			}
		}
		all = append(all, c)
	}
	return all, nil
}

// readBEAM reads chats: a turn is a message's content, a chat one session.
func readBEAM(raw []byte) ([]dialog, error) {
	var chats []struct {
		Messages []struct {
			ID      int
			Role    string
			Content string
		}
		Questions []struct {
			Question string
			Type     string
			Evidence []int
		}
	}
	if err := json.Unmarshal(raw, &chats); err != nil {
		return nil, err
	}
	var all []dialog
	for i, chat := range chats {
		var c dialog
		session := fmt.Sprintf("chat_%d", i+1)
		for _, m := range chat.Messages {
			c.turns = append(c.turns, turn{fmt.Sprint(m.ID), session, m.Content, m.Role})
		}
		for _, q := range chat.Questions {
			evidence := make([]string, len(q.Evidence))
			for i, id := range q.Evidence {
				evidence[i] = fmt.Sprint(id)
			}
			if len(evidence) > 0 {
				c.questions = append(c.questions, question{text: q.Question, kind: q.Type, evidence: evidence})
			}
		}
		all = append(all, c)
	}
	return all, nil
}
