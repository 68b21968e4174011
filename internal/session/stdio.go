package session

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/config"
	"github.com/yamo-protocol/yamo-mcp/internal/confine"
	"github.com/yamo-protocol/yamo-mcp/internal/serve"
	"github.com/yamo-protocol/yamo-mcp/internal/serve/stdio"
)

// ServeStdio serves one session until the input ends or ctx is done.
func ServeStdio(ctx context.Context, o Options, stdin io.Reader, stdout io.Writer) (err error) {
	// SECURITY: the audience is decided here, once, from the operator's settings only.
	who, notice, err := audience.Parse(o.Config.Session.Connection, o.Config.Session.Group)
	if err != nil {
		return config.Name("group").Errorf("%w", err)
	}
	if notice != "" {
		o.Logger.WarnContext(ctx, "audience not set; using a group", slog.String("notice", notice))
	}
	// The process is the group's only if its own input is; a test has others to serve afterwards.
	if stdin == os.Stdin && !who.IsDM() {
		confineGroup(ctx, o)
	}
	deps, release, err := Open(o, who)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	// Not an error: a session is how the first boot happens, and tools explain what is missing.
	if err := deps.Ready(ctx); err != nil {
		o.Logger.WarnContext(ctx, "the workspace is not ready", slog.Any("error", err))
	}
	srv, err := serve.Build(deps)
	if err != nil {
		return err
	}
	o.Logger.InfoContext(ctx, "serving", slog.String("audience", who.String()),
		slog.String("transport", config.Stdio), slog.String("version", o.Version))
	return stdio.Serve(ctx, srv, stdin, stdout, stdio.Options{Logger: o.Logger})
}

// Isolate takes other processes of the user, of which one may serve a DM, out of the reach of one that serves a group
// over stdio. It may start the program again in the same process, so it is called before anything is read or written.
func Isolate(ctx context.Context, o Options, stdin io.Reader, stdout io.Writer) {
	who, _, err := audience.Parse(o.Config.Session.Connection, o.Config.Session.Group)
	file, ok := stdout.(*os.File)
	if err != nil || who.IsDM() || !ok || stdin != os.Stdin {
		return
	}
	if err := confine.Isolate(func(start func() error) error { return stdio.WithStdout(file, start) }); err != nil {
		o.Logger.WarnContext(ctx, "the kernel does not keep this process from the memory of others of the same user",
			slog.Any("error", err))
	}
}

// confineGroup takes from a group's process what it has no use for. It starts a program only to commit to git, and
// opens connections only to the providers that the operator named.
//
// SECURITY: before anything of the workspace is read.
func confineGroup(ctx context.Context, o Options) {
	err := confine.Process(confine.Allowed{
		Programs: o.Config.Git.On, Network: len(o.Config.Destinations(o.Getenv)) > 0,
	})
	if err != nil {
		o.Logger.WarnContext(ctx, "the kernel does not confine this process; only the program's own checks protect the DM",
			slog.Any("error", err))
	}
}
