// Package stdio runs an MCP server over standard input and output.
//
// Invariant: an acknowledged call is not cut off. The end of the input stops the reading; calls under way finish and
// their responses are written.
package stdio

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/mark3labs/mcp-go/server"
)

const (
	// DefaultMaxLine is the maximum length of a message in bytes, including its line break.
	DefaultMaxLine = 16 << 20
	// DefaultDrain is how long calls under way may continue after the input has ended.
	DefaultDrain = 10 * time.Second
	// abandon is how long a cancelled call may take to stop.
	abandon = 2 * time.Second
	// DefaultStall is how long a message may take to be written once the input has ended or the server is to stop.
	DefaultStall = 3 * time.Second
	// readAhead is how many bytes are read before they are handled, so that the end of the input is seen although mcp-go
	// reads no more while it waits for a client that does not read.
	readAhead = 16 << 20
)

// Options are the settings of Serve.
type Options struct {
	Logger  *slog.Logger
	MaxLine int           // in bytes; 0 is DefaultMaxLine
	Drain   time.Duration // 0 is DefaultDrain
	Stall   time.Duration // 0 is DefaultStall
}

// Serve serves one client: one JSON-RPC message per line on stdin, responses and notifications on stdout,
// and nothing else on either. A process can run only one Serve at a time, because mcp-go's stdio session is
// a global variable.
//
// It returns nil when the input has ended or ctx is done. In both cases it stops reading, lets the calls under way
// finish for up to Drain and writes their responses. Then it cancels the remaining calls, and returns an error if they
// do not stop. A message longer than MaxLine is answered with an error and skipped. A failure to read or write is an
// error, and so is a client that from then on reads nothing for Stall: what it does not read cannot be acknowledged,
// and must not keep the process alive.
func Serve(ctx context.Context, srv *server.MCPServer, stdin io.Reader, stdout io.Writer, settings Options) error {
	settings.MaxLine = cmp.Or(settings.MaxLine, DefaultMaxLine)
	settings.Drain = cmp.Or(settings.Drain, DefaultDrain)
	settings.Stall = cmp.Or(settings.Stall, DefaultStall)
	reading, stop := context.WithCancelCause(ctx)
	defer stop(nil)

	open := newRequests()
	out := &output{w: stdout, open: open, stop: stop}
	in := &input{
		ctx:      reading,
		lines:    make(chan line),
		out:      out,
		open:     open,
		ended:    make(chan struct{}),
		settings: settings,
	}
	ending, end := context.WithCancel(reading)
	defer end()
	go pump(reading, stdin, settings.MaxLine, in.lines, end)

	stdio := server.NewStdioServer(srv)
	stdio.SetErrorLogger(slog.NewLogLogger(settings.Logger.Handler(), slog.LevelWarn))
	done := make(chan error, 1)
	go func() {
		// ctx stops the reading, not the calls.
		done <- stdio.Listen(context.WithoutCancel(ctx), in, out)
	}()

	var err error
	over := make(chan struct{})
	defer close(over)
	stalled := out.stalled(ending, over, settings.Stall)
	errStalled := errors.New("serve stdio: the client does not read what it is sent")
	select {
	case err = <-done:
	case <-stalled:
		return errStalled
	case <-in.ended:
		select {
		case err = <-done:
		case <-stalled:
			return errStalled
		case <-time.After(abandon):
			return fmt.Errorf("serve stdio: %d calls did not stop", open.count())
		}
	}
	if failed, ok := errors.AsType[*writeError](context.Cause(reading)); ok {
		return fmt.Errorf("serve stdio: %w", failed)
	}
	if err != nil {
		return fmt.Errorf("serve stdio: %w", err)
	}
	return nil
}

// input is the reader that mcp-go reads from. It returns whole messages, and io.EOF only after all of them
// are answered, because mcp-go cancels the calls under way at the end of its input
// (TestEndOfInputLetsCallsFinish passes without drain once it does not).
type input struct {
	ctx      context.Context // when it is done, reading stops
	lines    chan line
	out      *output
	open     *requests
	settings Options

	rest         []byte        // of the current message, not yet read by mcp-go
	initializing string        // the key of an initialize request that is not answered yet
	ended        chan struct{} // closed when mcp-go gets the end of the input
}

// Read implements io.Reader. It returns bytes of at most one message.
func (in *input) Read(p []byte) (int, error) {
	for len(in.rest) == 0 {
		if err := in.next(); err != nil {
			in.drain()
			close(in.ended)
			return 0, err
		}
	}
	n := copy(p, in.rest)
	in.rest = in.rest[n:]
	return n, nil
}

// next waits for a message and stores it in rest. rest stays empty if mcp-go need not see the message.
func (in *input) next() error {
	if in.initializing != "" {
		// mcp-go handles requests concurrently, but later messages depend on initialize
		// (TestInitializeIsAnsweredFirst).
		in.open.wait(in.ctx, in.initializing)
		in.initializing = ""
	}
	if in.ctx.Err() != nil {
		return io.EOF // lines that were read ahead are not handled any more
	}
	var l line
	select {
	case <-in.ctx.Done():
		return io.EOF
	case l = <-in.lines:
	}
	switch {
	case l.err != nil:
		return l.err
	case l.tooLong:
		return in.out.tooLong(l, in.settings.MaxLine)
	case len(l.data) == 0:
		return nil
	}
	if key, method := requestKey(l.data); key != "" {
		in.open.add(key)
		if method == "initialize" {
			in.initializing = key
		}
	}
	in.rest = append(l.data, '\n')
	return nil
}

// drain waits until every request is answered, for up to the Drain setting.
func (in *input) drain() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(in.ctx), in.settings.Drain)
	defer cancel()
	in.open.wait(ctx, "")
	if n := in.open.count(); n > 0 {
		in.settings.Logger.Warn("calls under way are cancelled",
			slog.Int("calls", n), slog.Duration("after", in.settings.Drain))
	}
}
