package main

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// leading is a file that leads to a link.
var leading = template.Must(template.New("").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>yamo-mcp view</title>
<meta http-equiv="refresh" content="0;url={{.}}"></head>
<body><p><a href="{{.}}">Continue</a></p></body></html>
`))

// openBrowser opens a link in the person's browser. remove removes what was made for that; it is never nil.
//
// SECURITY: the browser gets the name of a file that only the person can read. The link itself would be in the list of
// processes, where every user of the machine sees it before it is used.
func openBrowser(ctx context.Context, link string, getenv func(string) string) (remove func(), err error) {
	remove = func() {}
	program := opener(getenv)
	if program == nil {
		return remove, errors.New("no graphical session")
	}
	dir, err := os.MkdirTemp("", "yamo-view-") // of mode 0700
	if err != nil {
		return remove, err
	}
	remove = func() { _ = os.RemoveAll(dir) } // a file without a valid link, if it stays
	var page strings.Builder
	if err := leading.Execute(&page, link); err != nil {
		return remove, err
	}
	name := filepath.Join(dir, "open.html")
	if err := os.WriteFile(name, []byte(page.String()), 0o600); err != nil {
		return remove, err
	}
	program = append(program, name)
	//nolint:gosec // the program is $BROWSER or the system's
	cmd := exec.CommandContext(context.WithoutCancel(ctx), program[0], program[1:]...)
	if err := cmd.Start(); err != nil {
		return remove, fmt.Errorf("%s: %w", program[0], err)
	}
	go func() { _ = cmd.Wait() }() // the browser may run as long as the person likes
	return remove, nil
}

// opener returns the program that opens files in the browser, nil for none.
func opener(getenv func(string) string) []string {
	switch {
	case getenv("BROWSER") != "":
		return []string{getenv("BROWSER")}
	case runtime.GOOS == "darwin":
		return []string{"open"}
	case getenv("DISPLAY") != "" || getenv("WAYLAND_DISPLAY") != "":
		return []string{"xdg-open"}
	}
	return nil
}
