package hookcmd

import (
	"cmp"
	"context"

	"github.com/yamo-protocol/yamo-mcp/internal/brief"
	"github.com/yamo-protocol/yamo-mcp/internal/session"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// search asks the memory. The model is loaded while the ledger is read; if it is not ready when the ledger is, words
// decide.
func (r *run) search(ctx context.Context, q mesh.SearchRequest) (mesh.Found, error) {
	early, err := r.prefetch(q.Query)
	if err != nil {
		return mesh.Found{}, err
	}
	memory, err := session.OpenMemories(r.options().WithEmbedder(early), r.who)
	if err != nil {
		return mesh.Found{}, err
	}
	found, err := memory.Search(mesh.WithProject(ctx, r.project), q)
	r.zone, r.memory = memory.Location(), memory
	if found.Off || found.Degraded {
		r.report.Search = "words"
	}
	return found, err
}

// lessons returns the active lessons.
func (r *run) lessons(ctx context.Context) ([]lesson, error) {
	embedder, err := r.idle()
	if err != nil {
		return nil, err
	}
	memory, err := session.OpenMemories(r.options().WithEmbedder(embedder), r.who)
	if err != nil {
		return nil, err
	}
	query := mesh.LessonQuery{Limit: maxLessons, OrderBy: mesh.BySeverity}
	found, err := memory.Lessons(mesh.WithProject(ctx, r.project), query)
	if err != nil {
		return nil, err
	}
	list := make([]lesson, 0, len(found.Lessons))
	for _, hit := range found.Lessons {
		// SECURITY: what is shown before a command is followed. In a DM, a group's rule is not shown there: a stranger must
		// not be able to plant it.
		if hit.Visibility != r.home() && hit.Visibility != record.Shared {
			continue
		}
		list = append(list, newLesson(hit, memory.Location()))
	}
	return list, nil
}

// brief returns what a session starts with.
func (r *run) brief(ctx context.Context) (string, error) {
	embedder, err := r.idle()
	if err != nil {
		return "", err
	}
	sources, _, err := session.OpenBrief(r.options().WithEmbedder(embedder), r.who)
	if err != nil {
		return "", err
	}
	built, err := sources.Build(mesh.WithProject(ctx, r.project), brief.Options{
		Tokens: brief.DefaultTokens, Project: cmp.Or(record.ProjectName(r.project()), r.in.project()),
	})
	return built.Text, err
}

// project returns the identity of the project that the host's folder is in, "" for none.
func (r *run) project() string { return session.ProjectFinder(r.Config.Workspace).Identify(r.in.Cwd) }
