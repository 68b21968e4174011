package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh"
)

// maintenance is a command that the operator runs over the whole memory of a workspace, whoever was heard in it.
type maintenance struct {
	getenv         func(string) string
	stdout, stderr io.Writer
	options        serveOptions
	json           bool
}

// command completes cmd, which takes no arguments.
func (m *maintenance) command(cmd *cobra.Command, perform func(context.Context, *mesh.View) error) *cobra.Command {
	cmd.Args = noArguments
	cmd.RunE = func(cmd *cobra.Command, _ []string) (err error) {
		if err := m.options.take(cmd.Flags(), embedderSettings, m.getenv); err != nil {
			return err
		}
		logger, err := newLogger(m.stderr, "warn")
		if err != nil {
			return err
		}
		// SECURITY: the operator owns the workspace: all compartments. No client reaches this.
		memory, release, err := openMemory(m.options, audience.DM(), m.getenv, logger)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, release()) }()
		return perform(cmd.Context(), memory)
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&m.options.workspace, "workspace", "", "the workspace folder (required; or YAMO_WORKSPACE)")
	m.options.embedder.addTo(flags)
	flags.BoolVar(&m.json, "json", false, "answer with one JSON object")
	return cmd
}

// answer writes the answer: value with --json, else text.
func (m *maintenance) answer(value any, text string) error {
	return writeAnswer(m.stdout, m.json, value, text)
}

// writeAnswer writes value as one line of JSON, or text.
func writeAnswer(w io.Writer, asJSON bool, value any, text string) error {
	if !asJSON {
		_, err := io.WriteString(w, text)
		return err
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}
