package main

import (
	"fmt"
	"os/exec"
	"strings"
)

// edit changes a section of MEMORY.md and shows the event, the history and a refusal.
func (w *walk) edit() error {
	w.title("An edit, and its record")
	const item = "2026-02-14: The greenhouse door sticks when it rains."
	var done struct {
		EventID  string `json:"event_id"`
		Token    string `json:"evidence_token"`
		Before   string `json:"before_hash"`
		After    string `json:"after_hash"`
		Snapshot string `json:"snapshot"`
	}
	w.ask("workspace_edit: MEMORY.md, section Lessons, append_item %q, rationale \"seen twice this week\"", item)
	if err := w.dm.call(w.ctx, "workspace_edit", map[string]any{
		"file":            "MEMORY.md",
		"section":         "Lessons",
		"op":              "append_item",
		"items":           []string{item},
		"rationale":       "seen twice this week",
		"idempotency_key": "demo",
	}, &done); err != nil {
		return err
	}
	w.reply("event %s, the section's hash %.12s… is now %.12s…", done.EventID, done.Before, done.After)
	text, err := w.dm.file(w.ctx, "MEMORY.md")
	if err != nil {
		return err
	}
	if err := w.check(strings.Contains(text, "- "+item+"\n"), "the item is in MEMORY.md"); err != nil {
		return err
	}
	history, err := w.command("history", "MEMORY.md", "--section", "Lessons")
	if err != nil {
		return err
	}
	if err := w.check(
		strings.Contains(history, done.EventID) && strings.Contains(history, "seen twice this week"),
		"yamo-mcp history shows who added it, when and why",
	); err != nil {
		return err
	}
	if _, err := w.command("pin", "MEMORY.md#Lessons"); err != nil {
		return err
	}
	for _, refused := range []struct {
		claim, why string
		args       map[string]any
	}{
		{
			"a session cannot edit SOUL.md", "cannot be edited",
			map[string]any{"file": "SOUL.md", "op": "append_section", "content": "x"},
		},
		{
			"a section that the user pinned is not replaced", "is pinned",
			map[string]any{"file": "MEMORY.md", "section": "Lessons", "op": "replace_section", "content": "x"},
		},
		{"an edit based on an outdated section is refused", done.After, map[string]any{
			"file": "MEMORY.md", "section": "Lessons", "op": "append_item", "items": []string{"x"}, "expected_hash": done.Before,
		}},
		{"a misspelt heading creates no new section", `no section "Lesons"`, map[string]any{
			"file": "MEMORY.md", "section": "Lesons", "op": "append_item", "items": []string{"x"},
		}},
	} {
		refused.args["rationale"] = "for the demo"
		var nothing struct{}
		err := w.dm.call(w.ctx, "workspace_edit", refused.args, &nothing)
		if err := w.check(err != nil && strings.Contains(err.Error(), refused.why), "%s", refused.claim); err != nil {
			return err
		}
	}
	replayed, err := w.command("replay", "MEMORY.md")
	if err != nil {
		return err
	}
	err = w.check(replayed == text, "yamo-mcp replay reconstructs MEMORY.md from its events, byte for byte")
	if err != nil {
		return err
	}
	return w.propose()
}

// propose leaves an edit for the person to decide about, which the pages of the kept workspace show.
func (w *walk) propose() error {
	const item = "2026-02-14: Ask before ordering spare parts."
	w.ask("workspace_edit: the same with %q, as a proposal", item)
	var proposed struct{}
	if err := w.dm.call(w.ctx, "workspace_edit", map[string]any{
		"file": "MEMORY.md", "section": "Lessons", "op": "append_item", "items": []string{item},
		"rationale": "two orders were sent back", "propose": true,
	}, &proposed); err != nil {
		return err
	}
	waiting, err := w.command("proposals")
	if err != nil {
		return err
	}
	text, err := w.dm.file(w.ctx, "MEMORY.md")
	if err != nil {
		return err
	}
	return w.check(strings.Contains(waiting, item) && !strings.Contains(text, item),
		"a proposal waits for the person and changes nothing before")
}

// command runs the program in the workspace and returns its output.
func (w *walk) command(args ...string) (string, error) {
	out, err := exec.CommandContext(w.ctx, w.server, append(args, "--workspace", w.workspace)...).Output()
	if err != nil {
		return "", fmt.Errorf("yamo-mcp %s: %w", strings.Join(args, " "), err)
	}
	return string(out), nil
}
