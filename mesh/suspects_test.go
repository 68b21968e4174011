package mesh

import (
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/assets"
	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/index"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// A secret that only its context tells is redacted by the local model, in every compartment, and counted; without that
// model the text stays as the rules leave it.
func TestSuspectsAreRedacted(t *testing.T) {
	t.Parallel()
	const secret = "parolaparola3"
	const told = "Please keep: my Duolingo, same e-mail as always, " + secret + ". I've a 412 day streak and would cry."
	group, err := audience.Group("hiking")
	if err != nil {
		t.Fatal(err)
	}
	for _, who := range []audience.Audience{audience.DM(), group} {
		v := open(t, t.TempDir(), who, model(t))
		kept := keep(t, v, record.Memory{Content: told})
		hit, err := v.Get(t.Context(), kept.ID)
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Replace(told, secret, "[REDACTED:password]", 1)
		if hit.Content != want || len(kept.Redactions) != 1 || kept.Redactions[0].Count != 1 {
			t.Errorf("%s: %q with %v", who, hit.Content, kept.Redactions)
		}
	}
	missing := func() (assets.Paths, error) { return assets.Paths{}, assets.ErrMissing }
	for name, e := range map[string]index.Embedder{
		"another embedder": new(words), "no assets": embed.NewLocal(embed.Options{Locate: missing}),
	} {
		v := open(t, t.TempDir(), audience.DM(), e)
		kept := keep(t, v, record.Memory{Content: told})
		if hit, err := v.Get(t.Context(), kept.ID); err != nil || hit.Content != told {
			t.Errorf("%s: %q, %v", name, hit.Content, err)
		}
	}
}
