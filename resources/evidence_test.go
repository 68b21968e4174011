package resources_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/resourceuri"
	"github.com/yamo-protocol/yamo-mcp/resources"
)

// An evidence token that leads nowhere, however it is spelled, gets the answer of an unknown URI.
func TestEvidence(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir(), audience.DM())
	if err := resources.RegisterEvidence(s.server, func(_ context.Context, token string) (any, error) {
		switch token {
		case "ev:there":
			return map[string]string{"token": token}, nil
		case "ev:broken":
			return nil, errors.New("the disk fails")
		}
		return nil, fault.New("token: it leads nowhere")
	}); err != nil {
		t.Fatal(err)
	}
	for _, uri := range []string{"ev:there", "ev%3Athere"} {
		if got, err := text(s.read(resourceuri.EvidencePrefix + uri)); err != nil || got != `{"token":"ev:there"}` {
			t.Errorf("%s: %s, %v", uri, got, err)
		}
	}
	for _, uri := range []string{"ev:nowhere", "ev%3Anowhere", "x%2F..%2Fy", "%zz", "", "a/b", "?x=1"} {
		uri = resourceuri.EvidencePrefix + uri
		want := strings.ReplaceAll(s.read("yamo://nobody"), "yamo://nobody", uri)
		if got := s.read(uri); got != want {
			t.Errorf("%s is answered %s, not %s", uri, got, want)
		}
	}
	if got := s.read(resourceuri.EvidencePrefix + "ev:broken"); strings.Contains(got, `"result"`) {
		t.Errorf("a failure is answered %s", got)
	}
	for _, r := range s.list() {
		if r.Name == "" {
			t.Errorf("%s is listed", r.URI)
		}
	}
	if got := s.request("resources/templates/list", nil); !strings.Contains(
		got,
		`"uriTemplate":"yamo://evidence/{token}"`,
	) {
		t.Errorf("templates: %s", got)
	}
}
