package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestToolsets(t *testing.T) {
	t.Parallel()
	const rest = " is not one of memory, workspace, learning; separate several with commas " +
		"(--toolsets, YAMO_TOOLSETS or toolsets in config.toml)"
	for _, test := range []struct {
		list    string
		offered []string
		fails   string
	}{
		{"memory,workspace", []string{"memory", "workspace"}, ""},
		{"workspace", []string{"workspace"}, ""},
		{" memory , memory", []string{"memory"}, ""},
		{"learning,memory", []string{"memory", "learning"}, ""},
		{"", nil, `toolsets: ""` + rest},
		{"memory,workspce", nil, `toolsets: "workspce"` + rest},
		{"memory,", nil, `toolsets: ""` + rest},
	} {
		c := Default()
		c.Session.Toolsets = test.list
		failed := ""
		if err := check(&c, SessionSettings); err != nil {
			failed = err.Error()
		}
		if failed != test.fails {
			t.Errorf("%q: %s, want %s", test.list, failed, test.fails)
		}
		if failed != "" {
			continue
		}
		var offered []string
		for _, name := range Toolsets {
			if c.Session.Offers(name) {
				offered = append(offered, name)
			}
		}
		if diff := cmp.Diff(test.offered, offered); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.list, diff)
		}
	}
}
