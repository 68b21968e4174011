package mesh

import (
	"context"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/mesh/intake"
	"github.com/yamo-protocol/yamo-mcp/mesh/keyword"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

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

// labelled returns text with the hit's labels that query names before it, so that what is judged by its words has them.
func labelled(query string, hit record.Hit, text string) string {
	named := keyword.Parse(query).Labelled(text, hit.Labels())
	if len(named) == 0 || text == "" {
		return text
	}
	return strings.Join(named, ", ") + ": " + text
}
