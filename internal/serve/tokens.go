package serve

import (
	"context"
	"errors"

	"github.com/yamo-protocol/yamo-mcp/internal/token"
)

// Tokens authenticates with the operator's own tokens. What a token opens is in its record.
func Tokens(store *token.Store) func(context.Context, string) (Client, error) {
	return func(_ context.Context, text string) (Client, error) {
		record, err := store.Verify(text)
		if errors.Is(err, token.ErrInvalid) {
			return Client{}, ErrUnauthorized
		}
		if err != nil {
			return Client{}, err
		}
		who, err := record.Audience()
		if err != nil {
			return Client{}, err
		}
		c := Client{
			Key:    "token:" + record.ID,
			Tenant: Tenant{Workspace: record.Workspace, AgentID: record.AgentID, Audience: who},
			Valid:  func() error { return store.InForce(record.ID) },
		}
		if record.Expires != nil {
			c.Expires = *record.Expires
		}
		return c, nil
	}
}
