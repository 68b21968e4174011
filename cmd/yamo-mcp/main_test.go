package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"gotest.tools/v3/golden"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"yamo-mcp": main, meshName: main})
}

func TestScript(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       golden.FlagUpdate(),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("YAMO_CACHE", env.WorkDir+"/cache")
			env.Setenv("XDG_STATE_HOME", env.WorkDir+"/state")
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": exits, "capture": capture, "foreign": foreignDatabase,
		},
	})
}
