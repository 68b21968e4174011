package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/mark3labs/mcp-go/server"
)

const (
	// DefaultMaxLine is the length of a message that is still read, in bytes with its line break.
	DefaultMaxLine = 16 << 20
	// DefaultDrain is how long calls under way may go on after the input has ended.
	DefaultDrain = 10 * time.Second
	// abandon is how long a cancelled call may take to notice.
	abandon = 2 * time.Second
)

// StdioOptions are the settings of Stdio.
type StdioOptions struct {
	Logger  *slog.Logger
	MaxLine int           // 0: DefaultMaxLine
	Drain   time.Duration // 0: DefaultDrain
}

// Stdio serves one client: a JSON-RPC message a line from stdin, answers and notifications on
// stdout, nothing else on either. One process serves at most one client this way at a time, because
// mcp-go's stdio session is a global.
//
// It returns nil when the input has ended or ctx is done. Both times it reads no more, lets the calls
// under way finish for up to Drain and writes their answers; what then still runs is cancelled, and
// an error is returned if it does not stop. (mcp-go itself cancels at the end of input.) A message
// longer than MaxLine is answered with an error and skipped. A failure to read or write is an error.
func Stdio(ctx context.Context, srv *server.MCPServer, stdin io.Reader, stdout io.Writer, settings StdioOptions) error {
	if settings.MaxLine == 0 {
		settings.MaxLine = DefaultMaxLine
	}
	if settings.Drain == 0 {
		settings.Drain = DefaultDrain
	}
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
	go pump(reading, stdin, settings.MaxLine, in.lines)

	stdio := server.NewStdioServer(srv)
	stdio.SetErrorLogger(slog.NewLogLogger(settings.Logger.Handler(), slog.LevelWarn))
	done := make(chan error, 1)
	go func() {
		// ctx ends the reading, not the calls.
		done <- stdio.Listen(context.WithoutCancel(ctx), in, out)
	}()

	var err error
	select {
	case err = <-done:
	case <-in.ended:
		select {
		case err = <-done:
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

// input is the reader that mcp-go reads from: whole messages from the client, and the end only when
// all of them are answered.
type input struct {
	ctx      context.Context // done: read no more
	lines    chan line
	out      *output
	open     *requests
	settings StdioOptions

	rest  []byte        // what mcp-go has not taken of the present message
	first string        // the key of an initialize request that is not answered yet
	ended chan struct{} // closed when mcp-go was told that the input has ended
}

// Read hands out at most one message at a time.
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

// next waits for a message and puts it into rest; rest stays empty if the message was dealt with here.
func (in *input) next() error {
	if in.first != "" {
		// mcp-go handles requests concurrently; what follows initialize relies on it.
		in.open.wait(in.ctx, in.first)
		in.first = ""
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
			in.first = key
		}
	}
	in.rest = append(l.data, '\n')
	return nil
}

// drain waits until every request is answered or the time for it is over.
func (in *input) drain() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(in.ctx), in.settings.Drain)
	defer cancel()
	in.open.wait(ctx, "")
	if n := in.open.count(); n > 0 {
		in.settings.Logger.Warn("calls under way are cancelled", slog.Int("calls", n), slog.Duration("after", in.settings.Drain))
	}
}
