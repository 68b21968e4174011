package tools

import (
	"context"

	"github.com/yamo-protocol/yamo-mcp/workspace"
)

// knowledgeQuery is the arguments of what_do_i_know.
type knowledgeQuery struct {
	Filter string `json:"filter,omitempty" jsonschema:"maxLength=200"`
}

func (knowledgeQuery) JSONSchemaExtend(s *jsonSchema) {
	describe(s, map[string]string{
		"filter": "Only headings that contain this.",
	})
}

// WhatDoIKnow is the tool what_do_i_know (seed 002, phase 10.8). It is for DMs only.
func WhatDoIKnow(v *workspace.View) Tool {
	return Define(Spec{
		Name:  "what_do_i_know",
		Title: "What do I know",
		Description: "Your MEMORY.md by section, up to 6 KiB; filter to see more of one. " +
			"For other memories use memory_search.",
		ReadOnly:   true,
		Idempotent: true,
	}, func(_ context.Context, in knowledgeQuery) (knowledge, error) {
		known, err := v.Knowledge(in.Filter)
		return knowledge{known}, err
	})
}
