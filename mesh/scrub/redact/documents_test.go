package redact

import (
	"flag"
	"slices"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/redacttest"
)

var documents = flag.String("documents", "", "folder of .md, .txt and .rst files")

// TestDocuments lists what is redacted in -documents.
func TestDocuments(t *testing.T) {
	if *documents == "" {
		t.Skip("only with -documents")
	}
	r := New(nil)
	paragraphs, size := 0, 0
	redacttest.EachParagraph(t, *documents, func(text string) {
		size += len(text)
		paragraphs++
		for _, f := range r.find(text) {
			if slices.Contains([]Kind{Password, APIKey, Token, PrivateKey}, f.Kind) {
				t.Logf("%s %q in %q", f.Kind, text[f.Start:f.End], text[max(0, f.Start-100):min(len(text), f.End+50)])
			}
		}
	})
	t.Logf("%d paragraphs, %.1f MB", paragraphs, float64(size)/1e6)
}
