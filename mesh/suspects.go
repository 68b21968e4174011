package mesh

import (
	"context"
	"errors"
	"time"

	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub"
	"github.com/yamo-protocol/yamo-mcp/mesh/suspect"
)

// suspectPatience is how long the check of a text waits for the model, which the first one may have to load.
const suspectPatience = 10 * time.Second

// Suspects returns the secrets of a redacted text that no rule finds and that the local model recognizes by their
// context. Without that model there are none: rules decide.
//
// SECURITY: a provider is never asked, because the text is not redacted yet.
func (v *View) Suspects(text string) []scrub.Finding {
	e, ok := v.Embedder.(embed.Tokenwise)
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), suspectPatience)
	defer cancel()
	found, err := suspect.Find(ctx, e, text)
	if err != nil && !errors.Is(err, embed.ErrNoTokens) && !errors.Is(err, embed.ErrNoAssets) {
		v.Logger.Warn("look for secrets with the model; only rules decide", "error", err)
	}
	return found
}
