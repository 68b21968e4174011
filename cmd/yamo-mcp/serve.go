package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/dream"
	"github.com/yamo-protocol/yamo-mcp/internal/serve"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
)

// serveOptions is what the operator wants served.
type serveOptions struct {
	workspace   string
	connection  string
	group       string
	agentID     string
	model       string
	transcripts string
	toolsets    []string
	ranking     string
	embedder    embedderOptions
	learning    learningOptions
	llm         llmOptions
	dreams      dream.Thresholds
	git         gitOptions
	transport   string
	http        httpOptions
	logLevel    string

	completer mesh.Completer // of llm, nil for none; set when the options are complete

	shared embed.Embedder // what makes vectors, where a process serves several audiences; nil: each session its own
}

// serveSettings are the flags of serve that can be given in other places too.
var serveSettings = slices.Concat(
	[]setting{"connection", "group", "agent-id", "model", "transcripts", "toolsets", "ranking"},
	embedderSettings,
	learningSettings,
	llmSettings,
	dreamSettings,
	gitSettings,
	[]setting{"transport", "log-level"},
	httpSettings,
)

// workspaceSetting is not in the config file, which is in the workspace.
const workspaceSetting setting = "workspace"

const serveHelpFormat = `Serve a workspace to MCP hosts: over stdio to the one that starts this command, until its input ends, or with
--transport http to all that have a token, until it is stopped.

Each setting is taken from its flag, else from its environment variable, else from
<workspace>/.yamo/config.toml, else it has the default. A variable that is set but empty counts as unset.

%s
A session is a direct conversation (DM) only if the connection is exactly "dm" and no group is set in any
of these places; a group set in one and dm in another conflict, and a conflict is a group. To override a
group from a lower place, give an empty flag: --connection dm --group "". Everything else is a group, which
has its own memory and sees none of the DM's. Nothing a client sends changes this.

Over HTTP (/mcp, and /sse for hosts that know nothing newer) each token says whose session it opens:
` + "`yamo-mcp token create`" + ` makes one. There the connection is not used, and the group is the one that clients
without a token and DM tokens with the header X-YAMO-Connection: group speak for.`

func serveHelp() string {
	places := []string{fmt.Sprintf("  --%-22s %s\n", workspaceSetting, workspaceSetting.env())}
	for _, s := range serveSettings {
		places = append(places, fmt.Sprintf("  --%-22s %-26s %s\n", s, s.env(), s.key()))
	}
	return fmt.Sprintf(serveHelpFormat, strings.Join(places, ""))
}

func newServeCommand(getenv func(string) string, stdin io.Reader, stdout, stderr io.Writer) *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve a workspace to MCP hosts",
		Long:  serveHelp(),
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := resolveServe(cmd, &o, getenv); err != nil {
				return err
			}
			logger, err := newLogger(stderr, o.logLevel)
			if err != nil {
				return err
			}
			if o.transport == "http" {
				return serveHTTP(cmd.Context(), o, getenv, logger)
			}
			return serveWorkspace(cmd.Context(), o, getenv, logger, stdin, stdout)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&o.workspace, "workspace", "", "the workspace folder (required)")
	flags.StringVar(&o.connection, "connection", "", "who hears the agent: dm or group (default group)")
	flags.StringVar(&o.group, "group", "", `the group's name (default "default")`)
	flags.StringVar(&o.agentID, "agent-id", "YAMO_AGENT", "the agent's name in what it writes")
	flags.StringVar(&o.model, "model", "", "the language model's name, which who_am_i tells")
	flags.StringVar(&o.transcripts, "transcripts", "", "the folder of the host's session logs; in the file relative to the workspace")
	flags.String("toolsets", strings.Join(defaultToolsets, ","), "which tools are offered, of those the audience may use: "+strings.Join(toolsetNames, ", "))
	flags.StringVar(&o.ranking, "ranking", string(mesh.Context), "how memories are ordered: "+rankingNames)
	o.embedder.addTo(flags)
	o.learning.addTo(flags)
	o.llm.addTo(flags)
	addDreams(flags, &o.dreams)
	o.git.addTo(flags)
	flags.StringVar(&o.transport, "transport", "stdio", "how hosts connect: stdio or http")
	flags.StringVar(&o.logLevel, "log-level", "info", "debug, info or warn")
	o.http.addTo(flags)
	return cmd
}

// take gives those flags that are not on the command line their values: the workspace from the environment, and settings
// from there or the workspace's config file.
func (o *serveOptions) take(flags *pflag.FlagSet, settings []setting, getenv func(string) string) error {
	if err := apply(flags, []setting{workspaceSetting}, getenv, nil); err != nil {
		return err
	}
	o.workspace = expand(o.workspace, getenv)
	if err := checkWorkspace(o.workspace); err != nil {
		return err
	}
	file, err := readConfig(o.workspace)
	if err != nil {
		return err
	}
	return apply(flags, settings, getenv, file)
}

// resolveServe completes the options from the environment and the workspace's config file.
func resolveServe(cmd *cobra.Command, o *serveOptions, getenv func(string) string) error {
	flags := cmd.Flags()
	var typed []string // before the other places add theirs
	flags.Visit(func(f *pflag.Flag) { typed = append(typed, f.Name) })
	if err := o.take(flags, serveSettings, getenv); err != nil {
		return err
	}
	o.transcripts = expand(o.transcripts, getenv)
	toolsets, err := flags.GetString("toolsets")
	if err != nil {
		return err
	}
	if o.toolsets, err = parseToolsets(toolsets); err != nil {
		return err
	}
	if err := o.checkMemory(); err != nil {
		return err
	}
	if err := checkDreams(o.dreams); err != nil {
		return err
	}
	if o.completer, err = o.llm.open(getenv); err != nil {
		return err
	}
	if o.transport != "stdio" && o.transport != "http" {
		return setting("transport").wrong("transport %q: it is one of stdio, http", o.transport)
	}
	if !agentID.MatchString(o.agentID) {
		return errAgentID
	}
	return checkTransport(o.transport, typed)
}

// checkTransport refuses flags that the transport makes no use of. It asks about the command line alone: the environment
// and the config file are shared with servers of the other transport.
func checkTransport(transport string, typed []string) error {
	for _, name := range typed {
		switch {
		case transport == "stdio" && slices.Contains(httpSettings, setting(name)):
			return misused("--%s is for --transport http, and this is stdio: add --transport http, or leave it out", name)
		case transport == "http" && name == "connection":
			return misused("--connection is for --transport stdio: over HTTP each token says whose session it opens (yamo-mcp token create)")
		}
	}
	return nil
}

// rankingNames are mesh.Rankings, for people.
const rankingNames = string(mesh.Context) + ", " + string(mesh.RFC0011)

// checkMemory checks what the memory is opened with, but for the embedder.
func (o serveOptions) checkMemory() error {
	if err := checkRanking(o.ranking); err != nil {
		return err
	}
	return o.learning.check()
}

func checkRanking(name string) error {
	if !slices.Contains(mesh.Rankings, mesh.Ranking(name)) {
		return setting("ranking").wrong("ranking %q: it is one of %s", name, rankingNames)
	}
	return nil
}

var errAgentID = setting("agent-id").wrong("agent id: it is 1 to 64 of letters, digits, ., - and _, beginning with a letter or digit")

// agentID is what may stand as a name in YAMO blocks and session logs.
var agentID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// checkWorkspace says in one line what is wrong with the folder.
func checkWorkspace(dir string) error { return checkFolder(dir, "--workspace") }

// folderArgument is the workspace of a command that takes its folder as DIR.
func folderArgument(args []string, getenv func(string) string) (string, error) {
	dir := getenv(workspaceSetting.env())
	if len(args) > 0 {
		dir = args[0]
	}
	return dir, checkFolder(dir, "DIR")
}

// checkFolder is checkWorkspace where the command line names the folder by place.
func checkFolder(dir, place string) error {
	if dir == "" {
		return fmt.Errorf("no workspace: name its folder with %s or YAMO_WORKSPACE; yamo-mcp init DIR makes one", place)
	}
	folder, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("workspace %q: %w (%s or YAMO_WORKSPACE)", dir, withoutPath(err), place)
	}
	defer folder.Close() //nolint:errcheck // it was only looked at
	if info, err := folder.Stat(); err != nil {
		return fmt.Errorf("workspace %q: %w (%s or YAMO_WORKSPACE)", dir, withoutPath(err), place)
	} else if !info.IsDir() {
		return fmt.Errorf("workspace %q: not a folder (%s or YAMO_WORKSPACE)", dir, place)
	}
	return nil
}

// serveWorkspace serves until the input ends or ctx is done.
func serveWorkspace(ctx context.Context, o serveOptions, getenv func(string) string, logger *slog.Logger, stdin io.Reader, stdout io.Writer) (err error) {
	// SECURITY: the audience is decided here, once, from the operator's settings alone.
	who, notice, err := audience.Parse(o.connection, o.group)
	if err != nil {
		return setting("group").wrong("%w", err)
	}
	if notice != "" {
		logger.WarnContext(ctx, "the audience was assumed", slog.String("notice", notice))
	}
	deps, release, err := openSession(o, who, getenv, logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	if err := deps.Ready(ctx); err != nil {
		logger.WarnContext(ctx, "the workspace is not ready", slog.Any("error", err))
	}
	srv, err := serve.Build(deps)
	if err != nil {
		return err
	}
	logger.InfoContext(ctx, "serving", slog.String("audience", who.String()), slog.String("transport", o.transport),
		slog.String("version", deps.Version))
	return serve.Stdio(ctx, srv, stdin, stdout, serve.StdioOptions{Logger: logger})
}
