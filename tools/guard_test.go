package tools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"syscall"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/workspace"
)

func TestWhatTheClientAndTheLogHearOfErrors(t *testing.T) {
	t.Parallel()
	const secret = "canary-7f3a"
	tests := []struct {
		name      string
		handle    func(context.Context, sampleIn) (sampleOut, error)
		ready     func(context.Context) error
		want      string
		wantInLog string
	}{
		{
			name: "fault",
			handle: func(context.Context, sampleIn) (sampleOut, error) {
				return sampleOut{}, fault.New("no memory %q", "m1")
			},
			want: `no memory "m1"`,
		},
		{
			name: "wrapped fault keeps only its own text",
			handle: func(context.Context, sampleIn) (sampleOut, error) {
				return sampleOut{}, fmt.Errorf("open /home/%s: %w", secret, fault.New("try later"))
			},
			want: "try later",
		},
		{
			name:      "internal",
			handle:    func(context.Context, sampleIn) (sampleOut, error) { return sampleOut{}, errors.New("disk on fire") },
			want:      "internal error",
			wantInLog: "disk on fire",
		},
		{
			name: "the folders of a file error stay out of the log",
			handle: func(context.Context, sampleIn) (sampleOut, error) {
				return sampleOut{}, fmt.Errorf("read: %w",
					&fs.PathError{Op: "open", Path: "/home/" + secret + "/ledger.ndjson", Err: fs.ErrPermission})
			},
			want:      "internal error",
			wantInLog: "read: open ledger.ndjson: permission denied",
		},
		{
			name: "a read-only disk",
			handle: func(context.Context, sampleIn) (sampleOut, error) {
				return sampleOut{}, &fs.PathError{Op: "write", Path: "workspace", Err: syscall.EROFS}
			},
			want: "the workspace is read-only, so that this was not done, or not all of it. " +
				"Ask its owner to change that; reading still works",
			wantInLog: "read-only file system",
		},
		{
			name: "a failing disk",
			handle: func(context.Context, sampleIn) (sampleOut, error) {
				return sampleOut{}, &fs.PathError{Op: "sync", Path: "workspace", Err: syscall.EIO}
			},
			want: "the disk reports an error, so that this was not done or may not last. " +
				"Ask the workspace owner to check the disk, then try again",
			wantInLog: "input/output error",
		},
		{
			name: "a file that is a link",
			handle: func(context.Context, sampleIn) (sampleOut, error) {
				return sampleOut{}, fmt.Errorf("append: %w", &workspace.RefusedError{
					Name: "memory/2026-02-14.md", Reason: "the folder memory is a symbolic link",
				})
			},
			want: "memory/2026-02-14.md is not used: the folder memory is a symbolic link. " +
				"Ask the workspace owner to put a plain file or folder there",
			wantInLog: "the folder memory is a symbolic link",
		},
		{
			name: "a folder of the memory that is a link",
			handle: func(context.Context, sampleIn) (sampleOut, error) {
				return sampleOut{}, fmt.Errorf("open: %w", &fault.UnusableError{
					Path: "/home/" + secret + "/.yamo/groups/alpha", Reason: "it is a symbolic link", Want: "a plain folder",
				})
			},
			want: ".yamo/groups/alpha cannot be used: it is a symbolic link. " +
				"Ask the workspace owner to put a plain folder in its place",
			wantInLog: "open: .yamo/groups/alpha cannot be used: it is a symbolic link",
		},
		{
			name: "a file outside of the memory",
			handle: func(context.Context, sampleIn) (sampleOut, error) {
				return sampleOut{}, &fs.PathError{Op: "open", Path: "/home/" + secret + "/agent", Err: syscall.ELOOP}
			},
			want: "a file or folder of the workspace is a link, or is not the file or folder that it must be. " +
				"Ask the workspace owner to put a plain file or folder there; the server's log has the details",
			wantInLog: "open agent: too many levels of symbolic links",
		},
		{
			name: "a file of the memory that the program may not open",
			handle: func(context.Context, sampleIn) (sampleOut, error) {
				return sampleOut{}, &fs.PathError{Op: "open", Path: "/home/" + secret + "/.yamo/key", Err: syscall.EACCES}
			},
			want: "the system denies access to .yamo/key. Ask the workspace owner to correct its owner or mode; " +
				"the server's log has the details",
			wantInLog: "open .yamo/key: permission denied",
		},
		{
			name: "a file system without locks",
			handle: func(context.Context, sampleIn) (sampleOut, error) {
				return sampleOut{}, fmt.Errorf("lock: %w", syscall.ENOLCK)
			},
			want: "the workspace's file system lacks what is needed, such as locks. " +
				"Ask the workspace owner to move it to a local disk",
			wantInLog: "no locks available",
		},
		{
			name: "no descriptors left",
			handle: func(context.Context, sampleIn) (sampleOut, error) {
				return sampleOut{}, &fs.PathError{Op: "open", Path: "x", Err: syscall.EMFILE}
			},
			want: "too many files are open, so that this was not done. " +
				"Try again later; the workspace owner can raise the limit (ulimit -n)",
			wantInLog: "too many open files",
		},
		{
			name: "a file that is too large",
			handle: func(context.Context, sampleIn) (sampleOut, error) {
				return sampleOut{}, &fs.PathError{Op: "read", Path: "MEMORY.md", Err: workspace.ErrTooLarge}
			},
			want: "the file is larger than 4 MiB, the maximum that is read as a whole; ask the workspace owner to split it. " +
				"Its beginning is searched",
			wantInLog: "larger than 4 MiB",
		},
		{
			name: "a full disk",
			handle: func(context.Context, sampleIn) (sampleOut, error) {
				return sampleOut{}, fmt.Errorf("append: %w", syscall.ENOSPC)
			},
			want: "the disk is full or over quota, so that this was not done, or not all of it. " +
				"Ask the workspace owner to free space, then try again",
			wantInLog: "append: no space left on device",
		},
		{
			name: "a file that the program may not open",
			handle: func(context.Context, sampleIn) (sampleOut, error) {
				return sampleOut{}, fmt.Errorf("open: %w", syscall.EACCES)
			},
			want: "the system denies access to a file or folder of the workspace. " +
				"Ask the workspace owner to correct its owner or mode; " +
				"the server's log has the details",
			wantInLog: "open: permission denied",
		},
		{
			name:      "panic with content",
			handle:    func(context.Context, sampleIn) (sampleOut, error) { panic(secret) },
			want:      "internal error",
			wantInLog: "panic with a string",
		},
		{
			name: "runtime panic",
			handle: func(_ context.Context, in sampleIn) (sampleOut, error) {
				return sampleOut{Notes: in.Tags[3:]}, nil
			},
			want:      "internal error",
			wantInLog: "slice bounds out of range",
		},
		{
			name: "result that breaks its schema",
			handle: func(context.Context, sampleIn) (sampleOut, error) {
				return sampleOut{Notes: nil, In: sampleIn{Query: secret, Metadata: map[string]any{secret: 1}}}, nil
			},
			want:      "internal error",
			wantInLog: "/properties/notes/type",
		},
		{
			name:   "not ready comes before the arguments",
			handle: echo,
			ready:  func(context.Context) error { return fault.New("run bootstrap first") },
			want:   "run bootstrap first",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var log bytes.Buffer
			env := Env{
				Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
				Ready:  test.ready,
			}
			arguments := `{"query":"` + secret + `"}`
			if test.ready != nil {
				arguments = `{"nonsense":1}`
			}
			result := call(t, sample(test.handle), env, arguments)
			if !result.IsError {
				t.Error("isError is not set")
			}
			if got := resultText(t, result); got != test.want {
				t.Errorf("the client hears %q, want %q", got, test.want)
			}
			if !strings.Contains(log.String(), test.wantInLog) || (test.wantInLog == "") != (log.Len() == 0) {
				t.Errorf("the log is %q, want %q in it", log.String(), test.wantInLog)
			}
			if strings.Contains(log.String(), secret) {
				t.Errorf("content reached the log: %s", log.String())
			}
		})
	}
}

func TestCancelledCallIsNotAnInternalError(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	tool := sample(func(ctx context.Context, _ sampleIn) (sampleOut, error) {
		cancel()
		return sampleOut{}, fmt.Errorf("search: %w", ctx.Err())
	})
	var request mcp.CallToolRequest
	request.Params.Arguments = map[string]any{"query": "a"}
	result, err := tool.Server(Env{Logger: slog.New(slog.NewTextHandler(&log, nil))}).Handler(ctx, request)
	if err != nil {
		t.Fatal(err)
	}
	if got := resultText(t, result); got != "the call was cancelled" || log.Len() != 0 {
		t.Errorf("got %q, log %q", got, log.String())
	}
}
