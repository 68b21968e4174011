package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// confirm asks a question on out and returns whether the line of in agrees. The line counts also if in ended without
// a newline, with the error of reading it.
func confirm(out io.Writer, in *bufio.Reader, question string) (bool, error) {
	fmt.Fprint(out, question+" [y/N] ")
	answer, err := in.ReadString('\n')
	return agrees(answer), err
}

// agrees reports whether an answer is yes.
func agrees(answer string) bool {
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}
