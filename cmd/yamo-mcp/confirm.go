package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
)

// confirm asks a question on out and returns whether the line of in agrees. The line counts also if in ended without
// a newline, with the error of reading it.
func confirm(out io.Writer, in *bufio.Reader, question string) (bool, error) {
	fmt.Fprint(out, question+" [y/N] ")
	answer, err := readLine(in)
	return agrees(answer), err
}

// agrees reports whether an answer is yes.
func agrees(answer string) bool {
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}

// errInterrupted is the error of a question that a person has ended with Ctrl-C.
var errInterrupted = errors.New("interrupted")

// readLine returns the next line of in. The program's first signal only asks it to stop, which nothing that waits for a
// terminal would see, so an interrupt ends the question here. What is read afterwards is lost.
func readLine(in *bufio.Reader) (string, error) {
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt)
	defer signal.Stop(interrupted)
	type result struct {
		line string
		err  error
	}
	read := make(chan result, 1)
	go func() {
		line, err := in.ReadString('\n')
		read <- result{line, err}
	}()
	select {
	case r := <-read:
		return r.line, r.err
	case <-interrupted:
		return "", errInterrupted
	}
}
