package session

import (
	"slices"

	"github.com/mark3labs/mcp-go/server"

	"github.com/yamo-protocol/yamo-mcp/internal/config"
	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/heartbeat"
	"github.com/yamo-protocol/yamo-mcp/prompts"
	"github.com/yamo-protocol/yamo-mcp/resources"
	"github.com/yamo-protocol/yamo-mcp/tools"
	"github.com/yamo-protocol/yamo-mcp/workspace"
)

// entry registers a tool or a prompt: the set it belongs to, the condition for it, and its constructor.
type entry[T any] struct {
	set  string
	when func(*parts) bool
	make func(*parts) T
}

// The conditions of entries.
func always(*parts) bool    { return true }
func dm(p *parts) bool      { return p.view.Audience().IsDM() }
func group(p *parts) bool   { return !p.view.Audience().IsDM() }
func hasLogs(p *parts) bool { return p.logs != nil }

// withoutLearning is the condition of tools that the page needs and that the learning tools include.
func withoutLearning(p *parts) bool { return !p.settings.Offers(config.LearningTools) }

// A workspace that is ready has no use for the tools of the first boot, and never gets a BOOTSTRAP.md again
// (RFC-0009 §2.6).
func firstBoot(p *parts) bool { return dm(p) && p.view.State() != workspace.Ready }

// toolEntries registers the tools, one per line.
//
// SECURITY: a tool with the condition dm reads or writes what a group never sees. It is not registered for a group.
var toolEntries = []entry[tools.Tool]{
	{config.MemoryTools, always, func(p *parts) tools.Tool { return tools.MemoryStore(p.memory) }},
	{config.MemoryTools, always, func(p *parts) tools.Tool { return tools.MemorySearch(p.memory, p.dreams) }},
	{config.MemoryTools, always, func(p *parts) tools.Tool { return tools.DistillLesson(p.memory) }},
	{config.MemoryTools, dm, func(p *parts) tools.Tool { return tools.MemoryDelete(p.memory, p.view, p.editor) }},
	{config.MemoryTools, always, func(p *parts) tools.Tool {
		return tools.WhoAmI(p.brief(), p.agent(), p.settings.Model, p.destinations)
	}},
	{config.MemoryTools, hasLogs, func(p *parts) tools.Tool { return tools.SessionLogs(p.logs, p.memory.Project) }},

	{config.WorkspaceTools, always, func(p *parts) tools.Tool { return tools.LogAppend(p.view, p.editor) }},
	{config.WorkspaceTools, always, func(p *parts) tools.Tool { return tools.MyStats(p.view, p.memory, p.transcripts()) }},
	{config.WorkspaceTools, dm, func(p *parts) tools.Tool { return tools.WhatDoIKnow(p.view) }},
	{config.WorkspaceTools, dm, func(p *parts) tools.Tool {
		return tools.Heartbeat(heartbeat.Heartbeat{Workspace: p.view, Memory: p.memory, Dreams: p.dreams, Editor: p.editor})
	}},
	{config.WorkspaceTools, dm, func(p *parts) tools.Tool { return tools.MemoryFile(p.view, p.editor) }},
	{config.WorkspaceTools, dm, func(p *parts) tools.Tool { return tools.WorkspaceEdit(p.editor, p.agent()) }},
	{config.WorkspaceTools, firstBoot, func(p *parts) tools.Tool { return tools.BootstrapWrite(p.view) }},
	{config.WorkspaceTools, firstBoot, func(p *parts) tools.Tool { return tools.BootstrapFinish(p.view) }},

	{config.LearningTools, always, func(p *parts) tools.Tool { return tools.Lessons(p.memory) }},
	{config.LearningTools, always, func(p *parts) tools.Tool { return tools.MemoryGet(p.memory, p.dreams) }},
	{config.LearningTools, group, func(p *parts) tools.Tool { return tools.MemoryDelete(p.memory, nil, nil) }},
	{config.LearningTools, always, func(p *parts) tools.Tool { return tools.Skills(p.memory) }},
	{config.LearningTools, always, func(p *parts) tools.Tool { return tools.Reflect(p.memory) }},
	{config.LearningTools, dm, func(p *parts) tools.Tool { return tools.CurateMemory(p.view, p.editor, p.agent()) }},
	{config.LearningTools, dm, func(p *parts) tools.Tool { return tools.RotateLogs(p.view) }},
}

// everySet is the set of prompts that no choice of tools leaves out.
const everySet = ""

// promptEntries registers the prompts, one per line. A ritual is offered with the set of tools that it uses.
//
// SECURITY: a prompt with the condition dm shows what a group never sees. It is not registered for a group.
var promptEntries = []entry[prompts.Prompt]{
	{everySet, always, func(p *parts) prompts.Prompt { return prompts.Startup(p.brief()) }},

	{config.MemoryTools, always, func(p *parts) prompts.Prompt { return prompts.Recall(p.memory) }},
	{config.MemoryTools, always, func(p *parts) prompts.Prompt { return prompts.Remember(p.memory) }},
	{config.MemoryTools, always, func(p *parts) prompts.Prompt { return prompts.Distill(p.memory) }},

	{config.WorkspaceTools, always, func(p *parts) prompts.Prompt { return prompts.SessionSave(p.view, p.transcripts()) }},
	{config.WorkspaceTools, always, func(p *parts) prompts.Prompt { return prompts.MemoryFlush(p.view) }},
	{config.WorkspaceTools, dm, func(p *parts) prompts.Prompt { return prompts.Bootstrap(p.view) }},
	{config.WorkspaceTools, dm, func(p *parts) prompts.Prompt { return prompts.Heartbeat(p.view) }},
	{config.WorkspaceTools, dm, func(p *parts) prompts.Prompt { return prompts.Curate(p.view, p.memory) }},
}

// resourceEntries registers the resources, one per line. The choice of tools does not leave out any of them.
//
// SECURITY: a resource with the condition dm shows what a group never sees. It is not registered for a group. Which
// files an audience may read is decided by its view.
var resourceEntries = []struct {
	when     func(*parts) bool
	register func(*parts, *server.MCPServer) error
}{
	{always, func(p *parts, s *server.MCPServer) error { return resources.RegisterLessons(s, p.memory.Constraints) }},
	{always, func(p *parts, s *server.MCPServer) error { return resources.RegisterBrief(s, p.brief()) }},
	{dm, func(p *parts, s *server.MCPServer) error { return resources.RegisterEvidence(s, p.evidence) }},
	{always, func(p *parts, s *server.MCPServer) error { return resources.Register(s, p.view) }},
	{dm, func(p *parts, s *server.MCPServer) error { return p.noteReadings(s) }},
}

// appEntries registers the tools of the page that hosts with MCP Apps show (package app), one per line, unless the
// model has them anyway.
//
// SECURITY: a tool with the condition dm shows what a group never sees. It is not registered for a group.
var appEntries = []entry[tools.Tool]{
	{everySet, dm, func(p *parts) tools.Tool { return tools.Proposals(p.editor, Operator) }},
	{everySet, withoutLearning, func(p *parts) tools.Tool { return tools.MemoryGet(p.memory, p.dreams) }},
}

// tools makes the tools that the audience may use, of the sets that the operator offers.
func (p *parts) tools() []tools.Tool { return p.born(made(p, toolEntries)) }

// appTools makes the tools that only the page of a host calls.
func (p *parts) appTools() []tools.Tool { return p.born(made(p, appEntries)) }

// born returns the tools as they are in a workspace that may have no SOUL.md yet.
func (p *parts) born(list []tools.Tool) []tools.Tool {
	for i, tool := range list {
		if !slices.Contains(bootTools, tool.Name()) {
			list[i] = tool.After(func() error {
				if text := p.view.Unborn(); text != "" {
					return fault.New("%s", text)
				}
				return nil
			})
		}
	}
	return list
}

// bootTools are the tools that work before there is a SOUL.md.
var bootTools = []string{"who_am_i", "bootstrap_write", "bootstrap_finish"}

// prompts makes the prompts that the audience may use, of the sets that the operator offers.
func (p *parts) prompts() []prompts.Prompt { return made(p, promptEntries) }

// made constructs what the settings offer and the session has the parts for, in the order of entries.
func made[T any](p *parts, entries []entry[T]) []T {
	var list []T
	for _, e := range entries {
		if (e.set == everySet || p.settings.Offers(e.set)) && e.when(p) {
			list = append(list, e.make(p))
		}
	}
	return list
}
