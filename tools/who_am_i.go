package tools

import (
	"cmp"
	"context"

	"github.com/yamo-protocol/yamo-mcp/internal/brief"
	"github.com/yamo-protocol/yamo-mcp/workspace"
)

// nothing is the arguments of a tool that takes none.
type nothing struct{}

// self is the result of who_am_i, with the names of seed 002, phase 10.8, and the start of a session.
type self struct {
	AgentID      string             `json:"agent_id"`
	Model        string             `json:"model"`
	Connection   string             `json:"connection"`
	Identity     workspace.Identity `json:"identity"`
	SoulExcerpt  string             `json:"soul_excerpt"`
	WorkspaceDir string             `json:"workspace_dir,omitempty"`
	SendsTo      []string           `json:"sends_to,omitempty"`
	Start        string             `json:"start"`
}

func (self) JSONSchemaExtend(s *jsonSchema) {
	describe(s, map[string]string{
		"model":         "The language model, if configured; otherwise unknown.",
		"connection":    "dm or group.",
		"identity":      "Fields of IDENTITY.md.",
		"soul_excerpt":  "Beginning of SOUL.md, up to 2,048 characters.",
		"workspace_dir": "Direct conversations only.",
		"sends_to":      "Addresses that memories and queries are sent to, if any. Direct conversations only.",
		"start":         "What a session starts with: the time, whom you serve, the last session, what is open.",
	})
}

// WhoAmI is the tool who_am_i (seed 002, phase 10.8). It also returns the brief that a session starts with, because a
// model cannot get a prompt or a resource by itself; what the other fields have is not repeated in it. model may be "".
// destinations are where texts leave the machine to; a group is not told.
func WhoAmI(s brief.Sources, agentID, model string, destinations []string) Tool {
	model, v := cmp.Or(model, "unknown"), s.Workspace
	// SECURITY: which services the operator uses is the operator's business, as the folder's path is.
	if !v.Audience().IsDM() {
		destinations = nil
	}
	return Define(Spec{
		Name:  "who_am_i",
		Title: "Who am I",
		Description: "Call first in every session: who you are, today's date, what you remember, where the last " +
			"session left off, and what is open.",
		ReadOnly:   true,
		Idempotent: true,
	}, func(ctx context.Context, _ nothing) (self, error) {
		identity, err := v.Identity()
		if err != nil {
			return self{}, err
		}
		soul, err := v.SoulExcerpt()
		if err != nil {
			return self{}, err
		}
		start, err := s.Build(ctx, brief.Options{SoulExcerpt: soul})
		if err != nil {
			return self{}, err
		}
		return self{
			AgentID: agentID, Model: model, Connection: v.Audience().Connection(),
			Identity: identity, SoulExcerpt: soul, WorkspaceDir: v.Dir(), SendsTo: destinations, Start: start.Text,
		}, nil
	})
}
