// Package resources offers the files of a workspace as MCP resources, yamo://workspace/SOUL.md and so on.
//
// Its invariant: a client learns of a resource exactly what the audience's workspace.View says at that
// moment. Files that appear or change are in the next list without a restart. A file that is denied, gone or
// was never there is answered byte for byte as any unknown URI is: a file is read before the request is
// dispatched, and where there is none for this audience, nothing is registered under its URI.
package resources

import (
	"context"
	"encoding/base64"
	"errors"
	"io/fs"
	"net/url"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/yamo-protocol/yamo-mcp/workspace"
)

// Prefix is how the URI of a workspace file begins; its name relative to the workspace follows, each
// element percent-encoded.
const Prefix = "yamo://workspace/"

// StartupURI is the resource with the rendered startup sequence.
const StartupURI = "yamo://startup"

// URI is the resource URI of the workspace file called name. No two names share one.
func URI(name string) string {
	elements := strings.Split(name, "/")
	for i, element := range elements {
		elements[i] = url.PathEscape(element)
	}
	return Prefix + strings.Join(elements, "/")
}

// name is the workspace file that uri names, and whether it names one in its only valid spelling.
func name(uri string) (string, bool) {
	path, ok := strings.CutPrefix(uri, Prefix)
	if !ok {
		return "", false
	}
	name, err := url.PathUnescape(path)
	// SECURITY: one file, one URI: %2e%2e, %2F and over-encoded letters are aliases.
	if err != nil || URI(name) != uri {
		return "", false
	}
	return name, true
}

// catalog keeps what the server has registered in step with the view.
type catalog struct {
	server *server.MCPServer
	view   *workspace.View

	mu         sync.Mutex
	registered map[string]workspace.File // by URI; every one can be read or could be when last looked at
	listed     map[string]bool           // the URIs of view.Files when last listed
}

// Register offers the workspace files that v may see on s, a server for v's audience alone. s must have
// been made with server.WithHooks, and Register be called before it serves. Lists come sorted by name, which
// is unique.
func Register(s *server.MCPServer, v *workspace.View) error {
	hooks := s.GetHooks()
	if hooks == nil {
		return errors.New("register resources: the server was made without hooks")
	}
	c := &catalog{server: s, view: v, registered: map[string]workspace.File{}}
	hooks.AddBeforeListResources(func(context.Context, any, *mcp.ListResourcesRequest) { c.refresh() })
	hooks.AddAfterListResources(func(_ context.Context, _ any, _ *mcp.ListResourcesRequest, result *mcp.ListResourcesResult) {
		c.hideUnlisted(result)
	})
	hooks.AddBeforeReadResource(func(_ context.Context, _ any, request *mcp.ReadResourceRequest) { c.load(request) })
	hooks.AddAfterListResourceTemplates(func(_ context.Context, _ any, request *mcp.ListResourceTemplatesRequest, result *mcp.ListResourceTemplatesResult) {
		if request.Params.Cursor == "" {
			result.ResourceTemplates = append(result.ResourceTemplates, logTemplate(v.Audience()))
		}
	})
	s.AddResource(mcp.NewResource(StartupURI, "startup",
		mcp.WithResourceTitle("Startup"),
		mcp.WithResourceDescription("What a session starts with: the workspace files in the order of the startup sequence, cut to size"),
		mcp.WithMIMEType("text/markdown"),
	), c.startup)
	c.refresh()
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
	return []mcp.ResourceContents{contents(StartupURI, "text/markdown", []byte(text))}, nil
}

// refresh registers what the view lists and withdraws what cannot be read any more.
func (c *catalog) refresh() {
	files := c.view.Files()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listed = make(map[string]bool, len(files))
	for _, file := range files {
		uri := URI(file.Name)
		c.listed[uri] = true
		c.register(uri, file)
	}
	for uri, file := range c.registered {
		if c.listed[uri] {
			continue
		}
		if _, err := c.view.Stat(file.Name); err != nil {
			c.withdraw(uri)
		}
	}
}

// register puts file under uri unless it stands there as it is. c.mu is held.
func (c *catalog) register(uri string, file workspace.File) {
	if old, ok := c.registered[uri]; ok && old == file {
		return
	}
	c.registered[uri] = file
	c.server.AddResource(mcp.NewResource(uri, file.Name,
		mcp.WithResourceTitle(file.Title),
		mcp.WithResourceDescription(file.Description),
		mcp.WithMIMEType(file.MIMEType),
		mcp.WithResourceSize(file.Size),
		mcp.WithLastModified(file.Modified.UTC().Format(time.RFC3339)),
	), serve)
}

// withdraw removes what stands under uri. c.mu is held.
func (c *catalog) withdraw(uri string) {
	if _, ok := c.registered[uri]; ok {
		delete(c.registered, uri)
		c.server.DeleteResources(uri)
	}
}

// hideUnlisted drops from a page what is registered only because it was read by its exact name.
func (c *catalog) hideUnlisted(page *mcp.ListResourcesResult) {
	c.mu.Lock()
	defer c.mu.Unlock()
	shown := []mcp.Resource{}
	for _, r := range page.Resources {
		if _, ours := c.registered[r.URI]; !ours || c.listed[r.URI] {
			shown = append(shown, r)
		}
	}
	page.Resources = shown
}

// loaded is a file's content on its way from load to serve. Being a Go type of this package, it cannot be
// forged by a client's arguments.
type loaded struct {
	contents mcp.ResourceContents
	err      error
}

const loadedKey = "yamo.loaded"

// load reads the requested file, before the server looks for a handler. It leaves the content in the
// request, or no handler under the URI.
func (c *catalog) load(request *mcp.ReadResourceRequest) {
	uri := request.Params.URI
	name, ok := name(uri)
	if !ok {
		return
	}
	file, err := c.view.Stat(name)
	var data []byte
	if err == nil {
		data, err = c.view.Read(name)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if file.Name == "" || errors.Is(err, fs.ErrNotExist) {
		// SECURITY: denied, refused and missing files are answered as any unknown URI: by the server itself.
		c.withdraw(uri)
		return
	}
	c.register(uri, file)
	request.Params.Arguments = map[string]any{loadedKey: loaded{contents(uri, file.MIMEType, data), err}}
}

// serve is the handler of every file: load has done the work. It is not reached without it.
func serve(_ context.Context, request mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	file, ok := request.Params.Arguments[loadedKey].(loaded)
	if !ok {
		return nil, errors.New("workspace file was not loaded")
	}
	if file.err != nil {
		return nil, file.err // the audience may see the file, but it is too large or the disk fails
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
