package main

import (
	"context"
	"log/slog"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/dream"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/prompts"
	"github.com/yamo-protocol/yamo-mcp/tools"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
	"github.com/yamo-protocol/yamo-mcp/workspace/transcript"
)

// The named sets of tools. A host's model chooses worse the more tools it is shown, so the operator can leave a set out;
// what a set holds is decided by the audience, never by this setting.
const (
	memoryTools    = "memory"    // remembering, recalling, learning, who_am_i, session_logs
	workspaceTools = "workspace" // the workspace's logs and files, and the rituals' prompts
	learningTools  = "learning"  // single memories, lessons in force, skills, reflections, curation: what not every session needs
)

var (
	toolsetNames    = []string{memoryTools, workspaceTools, learningTools}
	defaultToolsets = []string{memoryTools, workspaceTools}
)

// parseToolsets reads a comma-separated list of toolsets.
func parseToolsets(list string) ([]string, error) {
	var sets []string
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		if name == "" {
			return nil, setting("toolsets").wrong("toolsets %q: name one or more of %s, with commas between them", list, strings.Join(toolsetNames, ", "))
		}
		if !slices.Contains(toolsetNames, name) {
			return nil, setting("toolsets").wrong("unknown toolset %q%s", name, suggestion(name, toolsetNames))
		}
		sets = append(sets, name)
	}
	return sets, nil
}

// workspaceToolset are the tools over the workspace's files that v's audience may use. logs may be nil, and
// editor and dreams are in a group.
func workspaceToolset(v *workspace.View, memory *mesh.View, logs *transcript.View, editor *edit.Editor, dreams *dream.Sweeper, agent string) []tools.Tool {
	list := []tools.Tool{tools.LogAppend(v), tools.MyStats(v, memory, logs)}
	// SECURITY: the rest reads or writes what a group never sees.
	if !v.Audience().IsDM() {
		return list
	}
	list = append(list, tools.WhatDoIKnow(v), tools.Heartbeat(v, memory, dreams, editor), tools.MemoryFile(v), tools.RotateLogs(v), tools.WorkspaceEdit(editor, agent))
	// A workspace that is ready has no use for these, and gets no BOOTSTRAP.md any more (RFC-0009 §2.6).
	if v.State() != workspace.Ready {
		list = append(list, tools.BootstrapWrite(v), tools.BootstrapFinish(v))
	}
	return list
}

// learningToolset are the tools that look after what memory holds. editor is nil in a group.
func learningToolset(v *workspace.View, memory *mesh.View, editor *edit.Editor, agent string) []tools.Tool {
	list := []tools.Tool{
		tools.Lessons(memory),
		tools.MemoryGet(memory),
		tools.MemoryDelete(memory, editor),
		tools.Skills(memory),
		tools.Reflect(memory),
	}
	// SECURITY: MEMORY.md is nothing that a group sees.
	if v.Audience().IsDM() {
		list = append(list, tools.CurateMemory(v, editor, agent))
	}
	return list
}

// constraints is the lessons in force for the start of a session, which does not fail for want of them.
func constraints(memory *mesh.View, logger *slog.Logger) prompts.Section {
	return func(ctx context.Context) (string, error) {
		text, err := memory.Constraints(ctx)
		if err != nil {
			logger.ErrorContext(ctx, "read lessons for the start of a session", "error", err)
			return "## Lessons in force\n\nThey cannot be read at the moment; the server's log says why.\n", nil
		}
		return text, nil
	}
}

// sessionPrompts are the prompts of one audience: the start of a session always, the rituals with the tools that they need.
// logs may be nil, and editor is in a group.
func sessionPrompts(toolsets []string, v *workspace.View, memory *mesh.View, logs *transcript.View, editor *edit.Editor, logger *slog.Logger) []prompts.Prompt {
	sections := []prompts.Section{constraints(memory, logger)}
	// SECURITY: a group has no edits, and hears of none.
	if editor != nil {
		sections = append(sections, proposals(v, editor, logger))
	}
	list := []prompts.Prompt{prompts.Startup(v, sections...)}
	if slices.Contains(toolsets, memoryTools) {
		list = append(list, prompts.Recall(memory), prompts.Remember(memory), prompts.Distill(memory))
	}
	if !slices.Contains(toolsets, workspaceTools) {
		return list
	}
	list = append(list, prompts.SessionSave(v, logs), prompts.MemoryFlush(v))
	// SECURITY: these show what a group never sees.
	if v.Audience().IsDM() {
		list = append(list, prompts.Bootstrap(v), prompts.Heartbeat(v), prompts.Curate(v, memory))
	}
	return list
}
