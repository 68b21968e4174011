// Package resources provides the files of a workspace as MCP resources, such as yamo://workspace/SOUL.md, and
// notifies clients when they change.
//
// Invariant: a client sees exactly what the audience's workspace.View contains at that moment. New and changed
// files are in the next list without a restart. A file that is denied, deleted or has never existed gets the same
// answer as any unknown URI, byte for byte, and a subscription to it is accepted and never notified, as for any
// unknown URI.
//
// Files are not registered with the server: lists are created from the view when a client requests them, and a
// file is read before its request is dispatched. So no second record of the files can differ from the view, and
// the server, which broadcasts each registration to all clients, has nothing to announce. Notify notifies only the
// clients that asked for it.
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

// pageSize is the maximum number of resources on a page of the list.
const pageSize = 200

// catalog lists and reads the files of one view.
type catalog struct {
	view *workspace.View
}

// loadedURI is the URI of the resource whose handler returns loaded content. It is random, so that clients cannot
// request it themselves.
var loadedURI = "yamo://" + rand.Text()

// Register adds the workspace files that v may see to s, which must be a server for only v's audience. s must have
// been created with server.WithHooks, and must not serve yet. Lists are sorted by name, which is unique, in pages
// of 200.
func Register(s *server.MCPServer, v *workspace.View) error {
	hooks := s.GetHooks()
	if hooks == nil {
		return errors.New("register resources: the server has no hooks")
	}
	c := &catalog{view: v}
	hooks.AddAfterListResources(
		func(_ context.Context, _ any, request *mcp.ListResourcesRequest, page *mcp.ListResourcesResult) {
			c.list(request.Params.Cursor, page)
		})
	hooks.AddBeforeReadResource(func(_ context.Context, _ any, request *mcp.ReadResourceRequest) { c.load(request) })
	listTemplates(hooks, templates(v.Audience())...)
	s.AddResource(mcp.NewResource(resourceuri.Startup, "startup",
		mcp.WithResourceTitle("Startup"),
		mcp.WithResourceDescription(
			"What a session starts with: the workspace files in the order of the startup sequence, cut to size"),
		mcp.WithMIMEType("text/markdown"),
	), c.startup)
	s.AddResource(mcp.NewResource(loadedURI, ""), serve)
	return nil
}

// listTemplates adds templates to the first page of the list without registering them.
func listTemplates(hooks *server.Hooks, templates ...mcp.ResourceTemplate) {
	hooks.AddAfterListResourceTemplates(func(
		_ context.Context, _ any, request *mcp.ListResourceTemplatesRequest, result *mcp.ListResourceTemplatesResult,
	) {
		// Only once: mcp-go calls the hook for every page.
		if request.Params.Cursor == "" {
			result.ResourceTemplates = append(result.ResourceTemplates, templates...)
		}
	})
}

// startup returns the rendered startup sequence, or what to do about a workspace without SOUL.md.
func (c *catalog) startup(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	text := c.view.Refusal()
	if text == "" {
		var err error
		if text, _, err = c.view.Startup(); err != nil {
			return nil, err
		}
	}
	return []mcp.ResourceContents{contents(resourceuri.Startup, "text/markdown", []byte(text))}, nil
}

// list adds the files after cursor, which the server has validated, to a page of the registered resources.
func (c *catalog) list(cursor mcp.Cursor, page *mcp.ListResourcesResult) {
	all := slices.DeleteFunc(page.Resources, func(r mcp.Resource) bool { return r.URI == loadedURI })
	// The cursor is a name and not a position: files that appear or disappear between two pages shift nothing.
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

// resource describes a file as an MCP resource.
func resource(file workspace.File) mcp.Resource {
	return mcp.NewResource(resourceuri.File(file.Name), file.Name,
		mcp.WithResourceTitle(file.Title),
		mcp.WithResourceDescription(file.Description),
		mcp.WithMIMEType(file.MIMEType),
		mcp.WithResourceSize(file.Size),
		mcp.WithLastModified(file.Modified.UTC().Format(time.RFC3339)),
	)
}

// loaded passes a file's content from load to serve. A client's arguments cannot forge it, because JSON does not
// decode to a type of this package.
type loaded struct {
	contents mcp.ResourceContents
	err      error
}

const loadedKey = "yamo.loaded"

// load reads the requested file before the server looks for a handler, and redirects the request to serve. If the
// audience may not see such a file, the request is not changed.
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
	// SECURITY: for denied, refused and missing files the server itself answers, as for any unknown URI.
	if file.Name == "" || errors.Is(err, fs.ErrNotExist) {
		return
	}
	request.Params.URI = loadedURI
	request.Params.Arguments = map[string]any{loadedKey: loaded{contents(uri, file.MIMEType, data), err}}
}

// serve is the handler of every file. It returns what load has read.
func serve(_ context.Context, request mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	file, ok := request.Params.Arguments[loadedKey].(loaded)
	if !ok {
		return nil, errors.New("workspace file was not loaded")
	}
	switch {
	case errors.Is(file.err, workspace.ErrTooLarge):
		return nil, fault.New("the %v, the maximum that is sent and searched; ask the workspace owner to split it",
			workspace.ErrTooLarge)
	case file.err != nil:
		return nil, file.err // the audience may see the file, but it cannot be read
	}
	return []mcp.ResourceContents{file.contents}, nil
}

// contents returns data as text, or as a blob if it is not valid UTF-8, so that no byte is changed.
func contents(uri, mime string, data []byte) mcp.ResourceContents {
	if !utf8.Valid(data) {
		return mcp.BlobResourceContents{URI: uri, MIMEType: mime, Blob: base64.StdEncoding.EncodeToString(data)}
	}
	return mcp.TextResourceContents{URI: uri, MIMEType: mime, Text: string(data)}
}
