package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/internal/hosts"
	"github.com/yamo-protocol/yamo-mcp/workspace"
)

// guide asks a person at a terminal what `yamo-mcp init` needs to know.
type guide struct {
	cli.Env

	lines *bufio.Reader // of Stdin: what it has read ahead belongs to the next question
}

func newGuide(env cli.Env) *guide { return &guide{Env: env, lines: bufio.NewReader(env.Stdin)} }

// ask returns the answer to a question, or usual if it is empty.
func (g *guide) ask(question, usual string) (string, error) {
	if usual != "" {
		question += " [" + usual + "]"
	}
	fmt.Fprint(g.Stderr, question+": ")
	line, err := readLine(g.lines)
	if line = strings.TrimSpace(line); err != nil && (!errors.Is(err, io.EOF) || line == "") {
		return "", fmt.Errorf("read the answer: %w", err)
	}
	if line == "" {
		return usual, nil
	}
	return line, nil
}

// profile asks who the agent is and whom it serves. Without a name of the person it returns nil: the agent then asks in
// its first session (RFC-0009 §6.1).
func (g *guide) profile(role string) (*workspace.Profile, error) {
	p := workspace.Profile{Role: role}
	var err error
	p.User, err = g.ask("Your name, or nothing to let the agent ask in its first session", "")
	if err != nil || p.User == "" {
		return nil, err
	}
	if p.Name, err = g.ask("Name of the agent", "Kit"); err != nil {
		return nil, err
	}
	for {
		if p.Timezone, err = g.ask("Your time zone", systemZone(g.Getenv)); err != nil {
			return nil, err
		}
		if _, err := time.LoadLocation(p.Timezone); err == nil && p.Timezone != "Local" {
			return &p, nil
		}
		fmt.Fprintf(g.Stderr, "%q is not the name of a time zone, such as Europe/Lisbon.\n", p.Timezone)
	}
}

// hosts offers to add the server to the hosts of this machine.
func (g *guide) hosts(ctx context.Context, dir string) error {
	in := &installer{Env: g.Env, workspace: dir, name: "yamo", auto: true, answers: g.lines}
	if err := in.locate(); err != nil {
		return err
	}
	var found []string
	for _, h := range hosts.All {
		if h.Present(in.place) {
			found = append(found, h.Name)
		}
	}
	if len(found) == 0 {
		return tellHost(g.Stderr, dir)
	}
	answer, err := g.ask("Add it to "+strings.Join(found, ", ")+"? The changes are shown first", "y")
	if err != nil {
		return err
	}
	if !agrees(answer) {
		return tellHost(g.Stderr, dir)
	}
	return in.install(ctx, nil)
}

// history asks whether to import what hosts have kept in places. Nothing is asked if they are empty.
func (g *guide) history(ctx context.Context, c *cli.Command, places []historyPlace) (agreed bool, err error) {
	found, err := importing{Command: c, dryRun: true}.importAll(ctx, places)
	if err != nil {
		fmt.Fprintf(g.Stderr, "Past conversations cannot be imported now: %v\n", err)
		return false, nil
	}
	counts := map[string]int{}
	var names []string
	for _, s := range found.Sources {
		if s.Sessions > 0 && counts[s.Source] == 0 {
			names = append(names, s.Source)
		}
		counts[s.Source] += s.Sessions
	}
	if len(names) == 0 {
		return false, nil
	}
	for i, name := range names {
		shown := name
		if h, err := hosts.Find(name); err == nil {
			shown = h.Name
		}
		names[i] = fmt.Sprintf("%s (%d)", shown, counts[name])
	}
	answer, err := g.ask("Import past conversations of "+strings.Join(names, ", ")+
		", so that the agent finds them? They stay on this machine", "n")
	if err == nil && !agrees(answer) {
		fmt.Fprintln(g.Stderr, "Nothing was imported; yamo-mcp import auto does it later.")
	}
	return agrees(answer), err
}

// systemZone returns the name of the machine's time zone, "" if it has none.
func systemZone(getenv func(string) string) string {
	if zone := strings.TrimPrefix(getenv("TZ"), ":"); zone != "" {
		if _, err := time.LoadLocation(zone); err == nil {
			return zone
		}
	}
	if target, err := filepath.EvalSymlinks("/etc/localtime"); err == nil {
		if _, zone, ok := strings.Cut(target, "/zoneinfo/"); ok {
			if _, err := time.LoadLocation(zone); err == nil {
				return zone
			}
		}
	}
	if data, err := os.ReadFile("/etc/timezone"); err == nil {
		if zone := strings.TrimSpace(string(data)); zone != "" {
			if _, err := time.LoadLocation(zone); err == nil {
				return zone
			}
		}
	}
	return ""
}
