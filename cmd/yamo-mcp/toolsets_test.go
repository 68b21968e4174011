package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseToolsets(t *testing.T) {
	for list, want := range map[string][]string{
		"memory,workspace": {"memory", "workspace"},
		"workspace":        {"workspace"},
		" memory , memory": {"memory", "memory"},
		"learning,memory":  {"learning", "memory"},
	} {
		got, err := parseToolsets(list)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: %v\n%s", list, err, diff)
		}
	}
	for list, want := range map[string]string{
		"":                `toolsets "": name one or more of memory, workspace, learning, with commas between them (--toolsets, YAMO_TOOLSETS or toolsets in .yamo/config.toml)`,
		"memory,workspce": `unknown toolset "workspce": did you mean workspace? (--toolsets, YAMO_TOOLSETS or toolsets in .yamo/config.toml)`,
		"memory,":         `toolsets "memory,": name one or more of memory, workspace, learning, with commas between them (--toolsets, YAMO_TOOLSETS or toolsets in .yamo/config.toml)`,
	} {
		if _, err := parseToolsets(list); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", list, err, want)
		}
	}
}
