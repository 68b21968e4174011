package app

import (
	"regexp"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
)

func TestAnnounced(t *testing.T) {
	t.Parallel()
	settings := func(types ...any) map[string]any {
		return map[string]any{Extension: map[string]any{"mimeTypes": types}}
	}
	for _, test := range []struct {
		name string
		can  mcp.ClientCapabilities
		want bool
	}{
		{"nothing", mcp.ClientCapabilities{}, false},
		{"the extension", mcp.ClientCapabilities{Extensions: settings("text/other", MIMEType)}, true},
		{"the extension as experimental", mcp.ClientCapabilities{Experimental: settings(MIMEType)}, true},
		{"another extension", mcp.ClientCapabilities{Extensions: map[string]any{"io.example/ui": settings(MIMEType)}}, false},
		{"other types", mcp.ClientCapabilities{Extensions: settings("text/html")}, false},
		{"no types", mcp.ClientCapabilities{Extensions: settings()}, false},
		{"no settings", mcp.ClientCapabilities{Extensions: map[string]any{Extension: true}}, false},
		{"types of another form", mcp.ClientCapabilities{
			Extensions: map[string]any{Extension: map[string]any{"mimeTypes": MIMEType}},
		}, false},
	} {
		if got := Announced(test.can); got != test.want {
			t.Errorf("%s: %t", test.name, got)
		}
	}
}

// The page names nothing that a browser would load, and its scripts write no markup.
func TestPageIsSelfContained(t *testing.T) {
	t.Parallel()
	if strings.Contains(page, "{{") {
		t.Error("a part of the page is missing")
	}
	for _, pattern := range []string{
		`https?://`, `\bsrc\s*=`, `@import`, `url\(`, `\bimport\b`, `innerHTML`, `outerHTML`, `insertAdjacentHTML`,
		`document\.write`, `\beval\b`, `new Function`, `\bfetch\b`, `XMLHttpRequest`, `WebSocket`, `<link`, ` on\w+=`,
	} {
		if found := regexp.MustCompile(pattern).FindString(page); found != "" {
			t.Errorf("the page has %q", found)
		}
	}
	if got := strings.Count(page, "<script"); got != 1 {
		t.Errorf("the page has %d scripts; the policy has the hash of one", got)
	}
}
