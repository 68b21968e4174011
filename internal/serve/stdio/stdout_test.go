//go:build linux || darwin

package stdio

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
)

// asChild tells the test binary to be the program of TestKeepStdout.
const asChild = "YAMO_TEST_KEEP_STDOUT"

func TestMain(m *testing.M) {
	if os.Getenv(asChild) == "" {
		os.Exit(m.Run())
	}
	kept, err := KeepStdout()
	if err != nil {
		panic(err)
	}
	fmt.Println("a stray print from Go")
	// What a C library's printf ends in.
	if _, err := unix.Write(1, []byte("a stray print from C\n")); err != nil {
		panic(err)
	}
	if _, err := kept.WriteString("protocol\n"); err != nil {
		panic(err)
	}
}

func TestKeepStdout(t *testing.T) {
	program := exec.Command(os.Args[0])
	program.Env = append(os.Environ(), asChild+"=1")
	var stdout, stderr bytes.Buffer
	program.Stdout, program.Stderr = &stdout, &stderr
	if err := program.Run(); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	if stdout.String() != "protocol\n" {
		t.Errorf("stdout is %q", stdout.String())
	}
	for _, stray := range []string{"a stray print from Go\n", "a stray print from C\n"} {
		if !bytes.Contains(stderr.Bytes(), []byte(stray)) {
			t.Errorf("stderr has no %q: %q", stray, stderr.String())
		}
	}
}
