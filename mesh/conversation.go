package mesh

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/mesh/intake"
	"github.com/yamo-protocol/yamo-mcp/mesh/keyword"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub"
	"github.com/yamo-protocol/yamo-mcp/mesh/turns"
)

// This file is RFC-0011 §4.3, the MemoryContextManager: what a conversation loop needs of the memory, as methods of
// the View that it has already, and the project that the conversation is about.

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
		Content: strings.Join(parts, "\n"), Type: record.SessionType, Source: record.Conversation,
		SessionID: q.SessionID, Skill: q.Skill, Tags: q.Tags,
	}, "")
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

// projectKey is the key of a session's project in a context.
type projectKey struct{}

// WithProject returns a context for calls of a session whose project find returns as an identity, "" for none. find is
// called when the project is needed, which may be several times.
func WithProject(ctx context.Context, find func() string) context.Context {
	return context.WithValue(ctx, projectKey{}, find)
}

// Project returns the identity of the project that the session of ctx is about, "" for none.
//
// SECURITY: a group has none: neither does it learn what a DM works on, nor does a folder of the operator's become part
// of its memories.
func (v *View) Project(ctx context.Context) string {
	find, ok := ctx.Value(projectKey{}).(func() string)
	if !ok || !v.Audience.IsDM() {
		return ""
	}
	s := intake.New(v.scrubber)
	identity := s.Field("project", find())
	if s.Err() != nil {
		return ""
	}
	return identity
}

// projectIn returns the project of what a session stores in the compartment to.
//
// SECURITY: what is shared does not tell groups which project it comes from.
func (v *View) projectIn(ctx context.Context, to record.Visibility) string {
	if to != record.Private {
		return ""
	}
	return v.Project(ctx)
}

// markElsewhere names the projects of hits that are not the session's.
func markElsewhere(hits []record.Hit, project string) {
	for i := range hits {
		if p := hits[i].Project; p != "" && p != project {
			hits[i].Elsewhere = record.ProjectName(p)
		}
	}
}

// labelled returns text with those of its labels that query names before it, so that what is judged by its words has
// them.
func labelled(query string, labels []string, text string) string {
	named := keyword.Parse(query).Labelled(text, labels)
	if len(named) == 0 || text == "" {
		return text
	}
	return strings.Join(named, ", ") + ": " + text
}

// Conversations returns an index of the turns of source, the logs in folder, below the audience's own compartment.
// redact removes credentials, project returns the identity of a folder's project; nil: none is known. It reads and
// writes nothing before its first use. The caller closes it before the View.
//
// SECURITY: the folder is chosen by the audience, so that a group's index is never the one that a DM's session made.
func (v *View) Conversations(
	folder string, source turns.Source, redact func(text string) (string, bool), project func(dir string) string,
) *turns.Index {
	dir, lock := v.folder(v.home())
	// Hosts with different folders of logs may share a workspace: neither removes what the other has indexed.
	sum := sha256.Sum256([]byte(folder))
	dir = filepath.Join(dir, "turns", hex.EncodeToString(sum[:8]))
	return turns.New(turns.Options{
		Source: source, Dir: dir, Lock: filepath.Join(v.Dir, "locks", lock+".turns"),
		Embedder: v.Embedder, Redact: redact, Project: project, Visibility: v.home(), Logger: v.Logger,
		Prepare: func() error {
			if err := v.Prepare(); err != nil {
				return err
			}
			return v.checkFolders(dir)
		},
	})
}
