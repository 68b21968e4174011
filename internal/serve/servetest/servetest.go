// Package servetest has the tool, the log buffer and the messages that the tests of serve and of its transports share.
package servetest

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/yamo-protocol/yamo-mcp/tools"
)

const (
	// Soon is how long a test waits for something that should happen at once. It is enough on a busy machine.
	Soon = 2 * time.Minute
	// Drain is a server's time for calls under way where a test shows that nothing waits for its end.
	Drain = 2 * Soon
)

type (
	sayIn struct {
		Word string `json:"word" jsonschema:"maxLength=8" jsonschema_description:"The word to say."`
	}
	sayOut struct {
		Said string `json:"said"`
	}
)

// Say returns a tool that repeats its word. Some words are commands: "panic" panics with "canary"; "wait" sends to
// started and waits for release or cancellation; "stubborn" is the same but ignores cancellation.
func Say(started chan<- string, release <-chan struct{}) tools.Tool {
	return tools.Define(
		tools.Spec{Name: "say", Title: "Say", Description: "Says a word.", ReadOnly: true, Idempotent: true},
		func(ctx context.Context, in sayIn) (sayOut, error) {
			switch in.Word {
			case "panic":
				panic("canary")
			case "wait":
				started <- in.Word
				select {
				case <-release:
				case <-ctx.Done():
					return sayOut{}, ctx.Err()
				}
			case "stubborn":
				started <- in.Word
				<-release
			}
			return sayOut{Said: in.Word}, nil
		})
}

// CallSay returns the message that calls the tool of Say.
func CallSay(id int, word string) string {
	const message = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"say","arguments":{"word":%q}}}`
	return fmt.Sprintf(message, id, word)
}

// Buffer is a bytes.Buffer that is safe for concurrent use, for logs.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements io.Writer.
func (l *Buffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// String returns what was written so far.
func (l *Buffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
