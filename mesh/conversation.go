package mesh

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub"
)

// This file is RFC-0011 §4.3, the MemoryContextManager: what a conversation loop needs of the memory, as methods of the
// View that it has already.

// Interaction is one exchange of a conversation.
type Interaction struct {
	Prompt, Response string // either may be empty
	SessionID        string
	Skill            string // name of the skill that was used, "" if none
	Tags             []string
}

// CaptureInteraction stores an exchange as one memory of type session (RFC-0011 §4.3 captureInteraction), as Store
// does. For an exchange that is empty or contains only a secret it returns nil and no error.
func (v *View) CaptureInteraction(ctx context.Context, q Interaction) (*Stored, error) {
	var parts []string
	for _, part := range []struct{ who, text string }{{"User: ", q.Prompt}, {"Assistant: ", q.Response}} {
		if text := strings.TrimSpace(part.text); text != "" {
			parts = append(parts, part.who+text)
		}
	}
	if len(parts) == 0 {
		return nil, nil // the RFC's null
	}
	s, err := v.Scrub(record.Memory{
		Content: strings.Join(parts, "\n"), Type: "session", Source: "conversation",
		SessionID: q.SessionID, Skill: q.Skill, Tags: q.Tags,
	})
	if err != nil {
		return nil, err
	}
	if said := strings.NewReplacer("User: ", "", "Assistant: ", ""); scrub.OnlySecret(said.Replace(s.record.Content)) {
		return nil, nil // likewise
	}
	stored, err := v.Keep(ctx, s, "")
	if err != nil {
		return nil, err
	}
	return &stored, nil
}

// recallLimit is the default maximum number of memories of RecallMemories.
const recallLimit = 5

// RecallOptions scope RecallMemories (RFC-0011 §4.3). Answers come from the cache where Search's do.
type RecallOptions struct {
	Limit          int    // 1..MaxLimit; 0 is 5
	Type           string // one of Types; "" is any
	Skill          string // only memories of this skill; "" is any
	IncludeLessons bool   // also the active lessons relevant to the query
}

// RecallMemories is Search with the options of a conversation loop (RFC-0011 §4.3 recallMemories).
func (v *View) RecallMemories(ctx context.Context, query string, o RecallOptions) (Found, error) {
	return v.Search(ctx, SearchRequest{
		Query: query, Limit: cmp.Or(o.Limit, recallLimit), Type: o.Type, Skill: o.Skill, IncludeLessons: o.IncludeLessons,
	})
}

// Values of Health.Status.
const (
	Healthy   = "healthy"
	Degraded  = "degraded"  // it can be written and read, but not all of it works; see Health.Problems
	Unhealthy = "unhealthy" // the audience's own memory cannot be read or written
)

// Health reports which parts of the memory work (RFC-0011 §4.3 healthCheck).
type Health struct {
	Status   string   // Healthy, Degraded or Unhealthy
	Memories int      // that the audience may see
	Skills   int      // likewise
	Pending  int      // memories that are found by keywords only, having no vector
	Semantic bool     // the embedding model answered
	Model    string   // its name
	Problems []string // what does not work and what to do about it; empty if healthy
}

// HealthCheck tries the parts of the memory: the ledgers, the embedding model, the vectors, LanceDB. What does not work
// is in the answer; the error is for a check that could not be made. It writes nothing.
func (v *View) HealthCheck(ctx context.Context) (Health, error) {
	h := Health{Model: v.Embedder.Model().Name}
	stores, damaged, err := v.compartments(ctx)
	if f, ok := fault.As(err); ok {
		h.Status, h.Problems = Unhealthy, []string{f.Error()}
		return h, nil
	}
	if err != nil {
		return h, err
	}
	worse := func(format string, args ...any) { h.Problems = append(h.Problems, fmt.Sprintf(format, args...)) }
	for _, name := range damaged {
		worse("the ledger of the %s memory is damaged (`yamo-mcp ledger verify`)", name)
	}
	_, err = v.Embedder.Embed(ctx, []string{"ready"})
	switch {
	case ctx.Err() != nil:
		return h, ctx.Err()
	case errors.Is(err, embed.ErrNoAssets):
		worse("semantic search is off: the local embedding model is not installed (`yamo-mcp setup`)")
	case err != nil:
		worse("semantic search is off: the embedding model does not answer")
		v.Logger.Warn("check the embedding model", "error", err)
	default:
		h.Semantic = true
	}
	for _, c := range stores {
		s := c.Snapshot()
		h.Memories += s.Live
		h.Skills += s.Skills.Len()
		s.Release()
		if err := c.Vectors.Refresh(); err != nil {
			worse("the vectors of the %s memory cannot be used: %v", c.Visibility, withoutPath(err))
		}
		h.Pending += c.index.Pending()
		if _, err := c.index.Tables.Count(ctx); err != nil {
			worse("the index of the %s memory cannot be read (`yamo-mcp index rebuild`)", c.Visibility)
			v.Logger.Warn("check the memory index", "compartment", c.Visibility, "error", err)
		}
	}
	if h.Pending > 0 {
		worse("%d memories have no vector yet", h.Pending)
	}
	h.Status = Healthy
	if len(h.Problems) > 0 {
		h.Status = Degraded
	}
	if err := v.writable(); err != nil {
		worse("the %s memory cannot be written: %v", v.home(), err)
		h.Status = Unhealthy
	}
	return h, nil
}

// writable tries to open the audience's own ledger for writing, if it exists. Nothing is written: a check may be made
// often.
func (v *View) writable() error {
	f, err := os.OpenFile(v.ledgerOptions(v.home()).Path, os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return withoutPath(err)
	}
	return f.Close()
}

// withoutPath returns the system's error without the path, which the answer must not contain.
func withoutPath(err error) error {
	if p, ok := errors.AsType[*os.PathError](err); ok {
		return p.Err
	}
	return err
}
