package edit

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

const childOf = "YAMO_TEST_EDIT_IN"

// TestMain is, in a child process, an agent that edits until it is killed, and reports what was acknowledged.
func TestMain(m *testing.M) {
	dir := os.Getenv(childOf)
	if dir == "" {
		os.Exit(m.Run())
	}
	w, err := workspace.Open(dir)
	if err != nil {
		panic(err)
	}
	e, err := Open(Options{View: w.View(audience.DM()), Dir: filepath.Join(dir, ".yamo")})
	if err != nil {
		panic(err)
	}
	for i := 0; ; i++ {
		text := fmt.Sprintf("entry %s.%d.", os.Args[1], i)
		q := Request{
			File: "MEMORY.md", Actor: os.Args[1],
			Edit: grammar.Edit{Op: grammar.AppendItem, Section: "People", Content: text, Rationale: "r"},
		}
		if _, err := e.Edit(context.Background(), q); err != nil {
			panic(err)
		}
		fmt.Println(text)
	}
}

// Two processes edit one file and are killed again and again: nothing acknowledged is lost, nothing is there
// there twice, and the replay is the file.
func TestKilledProcesses(t *testing.T) {
	d := newFixture(t, map[string]string{"MEMORY.md": memoryText})
	var acknowledged []string
	for round := range 6 {
		var agents []*exec.Cmd
		lines := make(chan string, 10_000)
		done := make(chan struct{})
		begun := make(chan struct{})
		begin := sync.OnceFunc(func() { close(begun) })
		for i := range 2 {
			cmd := exec.Command(os.Args[0], fmt.Sprintf("%d-%d", round, i))
			cmd.Env = append(os.Environ(), childOf+"="+d.dir)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			agents = append(agents, cmd)
			go func() {
				for scan := bufio.NewScanner(out); scan.Scan(); {
					lines <- scan.Text()
					begin()
				}
				begin()
				done <- struct{}{}
			}()
		}
		<-begun
		time.Sleep(time.Duration(37*round) * time.Millisecond)
		for _, cmd := range agents {
			_ = cmd.Process.Kill()
			<-done
		}
		for _, cmd := range agents {
			_ = cmd.Wait()
		}
		close(lines)
		for line := range lines {
			acknowledged = append(acknowledged, line)
		}
	}
	e := d.open()
	mustRecover(d, e)
	text := d.read("MEMORY.md")
	for _, line := range acknowledged {
		if n := strings.Count(text, "- "+line+"\n"); n != 1 {
			t.Errorf("%q was acknowledged and is there %d times", line, n)
		}
	}
	if len(acknowledged) < 6 {
		t.Errorf("only %d edits were acknowledged", len(acknowledged))
	}
	if r := d.replay(e, "MEMORY.md", ""); r.Text != text || r.Drift != nil {
		t.Errorf("replayed: %+v", r.Drift)
	}
	if _, err := e.Verify(t.Context()); err != nil {
		t.Error(err)
	}
}
