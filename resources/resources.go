// Package resources offers the files of a workspace as MCP resources, yamo://workspace/SOUL.md and so on,
// and tells clients when they change.
//
// Its invariant: a client learns of a resource exactly what the audience's workspace.View says at that
// moment. Files that appear or change are in the next list without a restart. A file that is denied, gone or
// was never there is answered byte for byte as any unknown URI is, and a subscription to it is accepted and
// stays silent as one to any unknown URI does.
//
// No file is registered with the server: lists are made from the view when they are asked for, and a file is
// read before its request is dispatched. So there is no second record of what exists that could
// differ from the view, and the server, which broadcasts to every client for each registration, has nothing
// to announce: Notify does that, to those who asked.
package resources

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"io/fs"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/resourceuri"
	"github.com/yamo-protocol/yamo-mcp/workspace"
)

// pageSize is how many resources a page of the list has at most.
const pageSize = 200

// catalog answers for the files of one view.
type catalog struct {
	view *workspace.View
}

// door is the URI under which serve is registered: of this process, and guessed by nobody.
var door = "yamo://" + rand.Text()

// Register offers the workspace files that v may see on s, a server for v's audience alone. s must have
// been made with server.WithHooks, and Register be called before it serves. Lists come sorted by name,
// which is unique, in pages of 200.
func Register(s *server.MCPServer, v *workspace.View) error {
	hooks := s.GetHooks()
	if hooks == nil {
		return errors.New("register resources: the server was made without hooks")
	}
	c := &catalog{view: v}
	hooks.AddAfterListResources(func(_ context.Context, _ any, request *mcp.ListResourcesRequest, page *mcp.ListResourcesResult) {
		c.list(request.Params.Cursor, page)
	})
	hooks.AddBeforeReadResource(func(_ context.Context, _ any, request *mcp.ReadResourceRequest) { c.load(request) })
	hooks.AddAfterListResourceTemplates(func(_ context.Context, _ any, request *mcp.ListResourceTemplatesRequest, result *mcp.ListResourceTemplatesResult) {
		if request.Params.Cursor == "" {
			result.ResourceTemplates = append(result.ResourceTemplates, templates(v.Audience())...)
		}
	})
	s.AddResource(mcp.NewResource(resourceuri.Startup, "startup",
		mcp.WithResourceTitle("Startup"),
		mcp.WithResourceDescription("What a session starts with: the workspace files in the order of the startup sequence, cut to size"),
		mcp.WithMIMEType("text/markdown"),
	), c.startup)
	s.AddResource(mcp.NewResource(door, ""), serve)
	return nil
}

// startup is the rendered startup sequence, or what to do about a workspace without a soul.
func (c *catalog) startup(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	text := c.view.Refusal()
	if text == "" {
		var err error
		if text, err = c.view.Startup(); err != nil {
			return nil, err
		}
	}
	return []mcp.ResourceContents{contents(resourceuri.Startup, "text/markdown", []byte(text))}, nil
}

// list puts the files after cursor, which the server has checked, into a page of what is registered.
func (c *catalog) list(cursor mcp.Cursor, page *mcp.ListResourcesResult) {
	all := slices.DeleteFunc(page.Resources, func(r mcp.Resource) bool { return r.URI == door })
	after, err := base64.StdEncoding.DecodeString(string(cursor))
	if err != nil {
		return
	}
	for _, file := range c.view.Files() {
		if file.Name > string(after) {
			all = append(all, resource(file))
		}
	}
	slices.SortFunc(all, func(a, b mcp.Resource) int { return cmp.Compare(a.Name, b.Name) })
	page.Resources, page.NextCursor = all, ""
	if len(all) > pageSize {
		page.Resources = all[:pageSize]
		page.NextCursor = mcp.Cursor(base64.StdEncoding.EncodeToString([]byte(all[pageSize-1].Name)))
	}
}

func resource(file workspace.File) mcp.Resource {
	return mcp.NewResource(resourceuri.File(file.Name), file.Name,
		mcp.WithResourceTitle(file.Title),
		mcp.WithResourceDescription(file.Description),
		mcp.WithMIMEType(file.MIMEType),
		mcp.WithResourceSize(file.Size),
		mcp.WithLastModified(file.Modified.UTC().Format(time.RFC3339)),
	)
}

// loaded is a file's content on its way from load to serve. Being a Go type of this package, it cannot be
// forged by a client's arguments.
type loaded struct {
	contents mcp.ResourceContents
	err      error
}

const loadedKey = "yamo.loaded"

// load reads the requested file, before the server looks for a handler, and points the request to serve.
// Where there is no file for this audience, the request stays as it is.
func (c *catalog) load(request *mcp.ReadResourceRequest) {
	uri := request.Params.URI
	name, ok := resourceuri.ParseFile(uri)
	if !ok {
		return
	}
	file, err := c.view.Stat(name)
	var data []byte
	if err == nil {
		data, err = c.view.Read(name)
	}
	// SECURITY: denied, refused and missing files are answered as any unknown URI: by the server itself.
	if file.Name == "" || errors.Is(err, fs.ErrNotExist) {
		return
	}
	request.Params.URI = door
	request.Params.Arguments = map[string]any{loadedKey: loaded{contents(uri, file.MIMEType, data), err}}
}

// serve is the handler of every file: load has done the work. It is not reached without it.
func serve(_ context.Context, request mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	file, ok := request.Params.Arguments[loadedKey].(loaded)
	if !ok {
		return nil, errors.New("workspace file was not loaded")
	}
	switch {
	case errors.Is(file.err, workspace.ErrTooLarge):
		return nil, fault.New("the %v, which is the most that is sent, and of which more is not searched; ask your human to split it", workspace.ErrTooLarge)
	case file.err != nil:
		return nil, file.err // the audience may see the file, but the disk fails
	}
	return []mcp.ResourceContents{file.contents}, nil
}

// contents is data as text, or as a blob when it is not valid UTF-8, so that no byte is changed.
func contents(uri, mime string, data []byte) mcp.ResourceContents {
	if !utf8.Valid(data) {
		return mcp.BlobResourceContents{URI: uri, MIMEType: mime, Blob: base64.StdEncoding.EncodeToString(data)}
	}
	return mcp.TextResourceContents{URI: uri, MIMEType: mime, Text: string(data)}
}
