// Package integration drives the real yamo-mcp binary the way a host does: as a process, over its pipes.
//
// Its invariant: nothing in here reaches into the program. What is claimed of it is read from its
// stdout, its stderr, its files and its system calls.
package integration

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

var server = flag.String("server", "", "absolute path of a yamo-mcp to test, instead of building one")

// TestMain sets how many tests run at once, and removes what serverBinary has built.
func TestMain(m *testing.M) {
	flag.Parse()
	// The tests wait for other processes and for the disk more than they compute.
	if parallel := flag.Lookup("test.parallel"); parallel.Value.String() == parallel.DefValue {
		if err := flag.Set("test.parallel", fmt.Sprint(2*runtime.GOMAXPROCS(0))); err != nil {
			panic(err)
		}
	}
	code := m.Run()
	if err := os.RemoveAll(built.dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

var built struct {
	once sync.Once
	dir  string // of builtFolder
	err  error
}

// builtFolder makes the folder of what is built for all tests of a run, once; TestMain removes it.
var builtFolder = sync.OnceValues(func() (dir string, err error) {
	built.dir, err = os.MkdirTemp("", "yamo-mcp-")
	return built.dir, err
})

// serverBinary is the path of the program under test, built once for all tests of a run.
func serverBinary(tb testing.TB) string {
	tb.Helper()
	if *server != "" {
		return *server
	}
	built.once.Do(func() {
		var folder string
		if folder, built.err = builtFolder(); built.err != nil {
			return
		}
		build := exec.Command("go", "build", "-o", folder, "github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp")
		if output, err := build.CombinedOutput(); err != nil {
			built.err = errors.Join(err, errors.New(string(output)))
		}
	})
	if built.err != nil {
		tb.Fatalf("build the server: %v", built.err)
	}
	return filepath.Join(built.dir, "yamo-mcp")
}
