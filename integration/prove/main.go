// Command prove runs the tests that docs/assurance.md names, row by row, and prints each promise with the result.
// It runs in the repository's root and fails if a row fails.
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strings"
	"time"
)

const document = "docs/assurance.md"

// row is a promise and the tests that show it.
type row struct {
	promise, pkg string
	tests        []string // names, with a subtest after "/"; none means all of the package
	shown        []string // the tests of the package that another row has, if tests is empty
}

var cells = regexp.MustCompile("(?m)^\\| (.+) \\| `(\\./[^`]+)` \\| (.+) \\|$")

// rows returns the rows of the document's tables.
func rows(text string) (list []row) {
	for _, m := range cells.FindAllStringSubmatch(text, -1) {
		r := row{promise: m[1], pkg: m[2]}
		if m[3] != "all" {
			for name := range strings.SplitSeq(m[3], ", ") {
				r.tests = append(r.tests, strings.Trim(name, "`"))
			}
		}
		list = append(list, r)
	}
	for i, r := range list {
		for _, other := range list {
			if len(r.tests) == 0 && other.pkg == r.pkg {
				list[i].shown = append(list[i].shown, other.tests...)
			}
		}
	}
	return list
}

// pattern returns the tests as an argument of -run, "" for all.
func (r row) pattern() string {
	if len(r.tests) == 1 && strings.Contains(r.tests[0], "/") {
		name, sub, _ := strings.Cut(r.tests[0], "/")
		return "^" + name + "$/^" + sub + "$"
	}
	if len(r.tests) == 0 {
		return ""
	}
	return "^(" + strings.Join(r.tests, "|") + ")$"
}

// prove runs the row's tests and returns their output if they fail or none of them ran.
func (r row) prove(ctx context.Context) (output string, ok bool) {
	args := []string{"test", "-count=1", "-v", "-timeout", "30m", "-run", r.pattern()}
	if len(r.shown) > 0 {
		args = append(args, "-skip", "^("+strings.Join(r.shown, "|")+")$")
	}
	cmd := exec.CommandContext(ctx, "go", append(args, r.pkg)...)
	cmd.Env = append(os.Environ(), "YAMO_PROVE=1") // tests that try some cases of many try all of them
	out, err := cmd.CombinedOutput()
	return string(out), err == nil && strings.Contains(string(out), "--- PASS")
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	text, err := os.ReadFile(document)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	failed := false
	for _, r := range rows(string(text)) {
		start := time.Now()
		output, ok := r.prove(ctx)
		verdict := "shown"
		if !ok {
			verdict, failed = "FAILED", true
			fmt.Print(output)
		}
		fmt.Printf("%-7s %6.1fs  %s (%s)\n", verdict, time.Since(start).Seconds(), r.promise, r.pkg)
	}
	if failed {
		os.Exit(1)
	}
}
