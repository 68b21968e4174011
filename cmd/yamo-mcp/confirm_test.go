package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"
)

// Ctrl-C ends a question that waits for an answer.
//
//nolint:paralleltest // the signal is the whole process's
func TestInterruptedQuestion(t *testing.T) {
	survives := make(chan os.Signal, 1)
	signal.Notify(survives, os.Interrupt)
	defer signal.Stop(survives)
	in, out := io.Pipe()
	defer func() {
		if err := out.Close(); err != nil {
			t.Error(err)
		}
	}()
	asked := make(chan error, 1)
	go func() {
		_, err := confirm(io.Discard, bufio.NewReader(in), "Go on?")
		asked <- err
	}()
	for deadline := time.After(30 * time.Second); ; {
		if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-asked:
			if !errors.Is(err, errInterrupted) {
				t.Errorf("the question ends with %v", err)
			}
			return
		case <-deadline:
			t.Fatal("the question does not end")
		case <-time.After(20 * time.Millisecond):
		}
	}
}
