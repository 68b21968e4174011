package session

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/config"
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
